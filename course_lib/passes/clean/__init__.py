"""Passes that make a program smaller or cheaper and leave its structure alone."""
