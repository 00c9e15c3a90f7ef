"""torch.export programs in. `export.py` walks the program, `rules/` translate each ATen op."""
