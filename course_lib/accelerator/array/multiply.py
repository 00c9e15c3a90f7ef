"""One product on the array, at the level of detail that is asked for.

    multiply(a, b, SystolicArray(32, 32, dataflow="ws"), level=2).cycles   ->   the same at 0 and 1

Next room: `access.py`, what is read and written.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.array.closed import closed
from course_lib.accelerator.array.registers import simulate
from course_lib.accelerator.array.wavefront import wavefront
from course_lib.accelerator.systolic import Run, SystolicArray

LEVELS = (simulate, wavefront, closed)


def multiply(a: np.ndarray, b: np.ndarray, array: SystolicArray, level: int = 2) -> Run:
    """`a` [m, k] times `b` [k, n]: int8 -> int32, or floats in their own type.

    level   0 every register at every clock, 1 all folds of a wavefront at once, 2 a formula and a
            matrix product. All three give the same values (floats: the same at 0 and 1) and cycles.

    ValueError if the shapes do not multiply, or there is no such level.
    """
    if level not in range(len(LEVELS)):
        raise ValueError(f"there are the levels 0, 1 and 2, got {level!r}")
    return LEVELS[level](a, b, array)
