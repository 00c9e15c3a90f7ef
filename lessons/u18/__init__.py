"""What the notebook of unit 18 shows (the benchmark): machines, tables, recordings."""
