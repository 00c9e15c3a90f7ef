"""What other passes need first: numbers for symbolic sizes, composites spelled out."""
