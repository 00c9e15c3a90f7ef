"""What the notebook of unit 5 shows (LLVM IR): programs, tables, pictures, recordings."""
