"""Answers to unit 1: plausible mistakes that some check must catch, other right ones that pass."""
