"""The rows of the op table, one file for each kind of op. `ir/registry.py` says what a row is.

Each file registers its rows when it is imported; importing `course_lib.ir` imports them all.
"""

from course_lib.ir.ops import (
    composite,
    contraction,
    conv_transpose,
    elementwise,
    fourier,
    gather,
    in_layout,
    layout,
    movement,
    pooling,
    quantize,
    reduction,
    sampling,
    scan,
    scatter,
    sorting,
    source,
    winograd,
)

__all__ = [
    "composite",
    "contraction",
    "conv_transpose",
    "elementwise",
    "fourier",
    "gather",
    "in_layout",
    "layout",
    "movement",
    "pooling",
    "quantize",
    "reduction",
    "sampling",
    "scan",
    "scatter",
    "sorting",
    "source",
    "winograd",
]
