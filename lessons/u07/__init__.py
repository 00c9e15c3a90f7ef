"""What the notebook of unit 7 shows (tiling): programs, tables, pictures, recordings."""
