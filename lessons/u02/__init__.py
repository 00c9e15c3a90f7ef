"""What the notebook of unit 2 shows (rewrites): programs, tables, pictures, recordings."""
