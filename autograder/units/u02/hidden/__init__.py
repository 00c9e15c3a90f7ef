"""Hidden checks of unit 2: other seeds, larger programs. Next room: cleaning.py."""
