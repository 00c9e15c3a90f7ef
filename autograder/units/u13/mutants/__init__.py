"""Answers to unit 13: plausible mistakes that every check must catch, right ones that pass."""
