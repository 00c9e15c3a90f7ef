"""What the notebook of unit 14 shows (real compilers): programs, tables, pictures, recordings."""
