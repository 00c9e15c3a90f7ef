"""What the notebook of unit 13 shows (a custom backend): programs, tables, pictures, recordings."""
