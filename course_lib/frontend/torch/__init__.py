"""torch.export programs in: `export.py` walks the program, `rules/` translate each ATen op.

    aten.relu.default(%x)   ->   relu(%x)

Next room: `export.py`.
"""

from course_lib.packages import need

need("torch")  # all files of this room import it
