"""The rows of the op table, one file for each kind of op. `ir/registry.py` says what a row is.

Each file registers its rows when it is imported; importing `course_lib.ir` imports them all.
"""

from course_lib.ir.ops import (
    composite,
    contraction,
    elementwise,
    gather,
    in_layout,
    indexing,
    layout,
    movement,
    pooling,
    reduction,
    source,
)

__all__ = [
    "composite",
    "contraction",
    "elementwise",
    "gather",
    "in_layout",
    "indexing",
    "layout",
    "movement",
    "pooling",
    "reduction",
    "source",
]
