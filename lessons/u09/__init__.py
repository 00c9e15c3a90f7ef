"""What the notebook of unit 9 shows (BEAM): programs, tables, pictures, recordings."""
