"""One small function for each ONNX op type, in one file for each kind.

    Relu(%x)   ->   relu(%x)

Each file puts its rules into the table when it is imported; `RULES` is the whole table.

Next room: `elementwise.py`.
"""

from course_lib.frontend.onnx.rules import (
    contrib,
    elementwise,
    movement,
    nn,
    quantized,
    recurrent,
    signal,
)
from course_lib.frontend.onnx.table import RULES

__all__ = ["RULES", "contrib", "elementwise", "movement", "nn", "quantized", "recurrent", "signal"]
