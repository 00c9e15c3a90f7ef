"""What the notebook of unit 10 shows (MLIR): programs, tables, pictures, recordings."""
