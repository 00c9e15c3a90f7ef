"""torch.export programs in: `export.py` walks the program, `rules/` translate each ATen op.

    aten.relu.default(%x)   ->   relu(%x)

Next room: `export.py`.
"""
