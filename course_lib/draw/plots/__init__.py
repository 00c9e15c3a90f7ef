"""Pictures of numbers: time lines, rooflines, tables, grids of cells."""
