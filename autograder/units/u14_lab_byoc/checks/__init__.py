"""Visible checks of the lab beside unit 14. Next room: division.py."""
