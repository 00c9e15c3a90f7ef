"""What the notebook of unit 8 shows (dependence): programs, tables, pictures, recordings."""
