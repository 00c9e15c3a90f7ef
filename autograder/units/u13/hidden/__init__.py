"""Hidden checks of unit 13: other seeds, larger programs."""
