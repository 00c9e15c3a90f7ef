"""The hidden checks, one file for each unit: other seeds, larger programs. They never ship."""
