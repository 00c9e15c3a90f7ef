"""What the notebook of unit 11 shows (an NPU dialect): programs, tables, pictures, recordings."""
