"""Visible checks of unit 13, A custom backend. Next room: words.py."""
