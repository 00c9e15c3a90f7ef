"""Answers to unit 13: plausible mistakes that every check must catch, other right ones that pass."""
