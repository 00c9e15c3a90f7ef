"""What the notebook of unit 17 shows (tinygrad): programs, tables, pictures, recordings."""
