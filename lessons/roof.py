"""How fast one core of this machine can be at most, measured: the two lines of a roofline.

    roof()  ->  (1.1e11, 2.2e10)        # FLOP/s, bytes/s

The units 1, 3 and 7 draw it. Next room: notebooks/u01_graphs.md.
"""

from __future__ import annotations

from functools import partial
from time import process_time

import numpy as np

from course_lib.ir.types import f32
from course_lib.llvm.host import host_machine
from course_lib.llvm.inspect.price import nanoseconds
from course_lib.measure.turns import in_turns, least

CHAINS = 12  # sums under way at once: enough to keep the units for multiply-adds busy


def roof() -> tuple[float, float]:
    """FLOP/s of multiply-adds in registers, and bytes/s of a copy of 128 MiB, on one core. A copy
    reads and writes each byte once; what the processor may fetch before it writes is not counted.
    """
    lanes = host_machine().lanes(f32)
    vector = f"<{lanes} x float>"
    fused = f"call {vector} @llvm.fma.v{lanes}f32({{x}}, {vector} %y, {vector} %y)"
    source, target = np.ones(32 << 20, np.float32), np.zeros(32 << 20, np.float32)
    copies = in_turns([partial(np.copyto, target, source)], 5, clock=process_time)
    peak = 2 * lanes / nanoseconds(fused, lanes=lanes, chains=CHAINS) * 1e9
    return peak, 2 * source.nbytes / least(copies)[0]
