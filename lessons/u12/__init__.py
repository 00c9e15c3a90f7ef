"""What the notebook of unit 12 shows (systolic arrays): programs, tables, pictures, recordings."""
