"""ONNX files in and out, and surgery on them; `rules/` translate each op type.

    Relu(%x)   ->   relu(%x)   ->   Relu(%x)

Next room: `file.py`.
"""

from course_lib.packages import need

need("onnx")  # all files of this room import it
