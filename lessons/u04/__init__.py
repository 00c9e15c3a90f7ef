"""What the notebook of unit 4 shows (memory and layout): programs, tables, pictures, recordings."""
