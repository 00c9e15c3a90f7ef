"""Hostile and broken submissions, with the verdict that each one must get."""
