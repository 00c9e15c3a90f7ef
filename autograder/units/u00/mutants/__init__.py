"""Answers to unit 0: plausible mistakes that some check must catch, other right ones that pass."""
