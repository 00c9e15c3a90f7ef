"""What the notebook of unit 3 shows (fusion): programs, tables, pictures, recordings."""
