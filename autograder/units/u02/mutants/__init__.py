"""Answers to unit 2: plausible mistakes that some check must catch, other right ones that pass."""
