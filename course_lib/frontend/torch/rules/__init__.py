"""One small function for each ATen op, in one file for each kind.

    aten.relu.default(%x)   ->   relu(%x)

Each file puts its rules into the table when it is imported; `RULES` is the whole table.

Next room: `elementwise.py`.
"""

from course_lib.frontend.torch.rules import (
    elementwise,
    indexing,
    movement,
    nn,
    recurrent,
    reductions,
)
from course_lib.frontend.torch.table import RULES, find_rule

__all__ = [
    "RULES",
    "elementwise",
    "find_rule",
    "indexing",
    "movement",
    "nn",
    "recurrent",
    "reductions",
]
