"""What the notebook of unit 6 shows (code generation): programs, tables, pictures, recordings."""
