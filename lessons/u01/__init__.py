"""What the notebook of unit 1 shows (graphs as IR): programs, tables, pictures, recordings."""
