"""serial: one iteration after another, as a loop runs that nobody promised anything about.

    vector i in 0..8 { out[i] = x[i] }
    ==>  serial(kernel, "i")
    for i in 0..8 { out[i] = x[i] }

Next room: `stage.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.at import at_loop


def serial(kernel: Kernel, var: str) -> Kernel:
    """Take back that a loop is a vector, unrolled or parallel one. Always legal."""
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="for"),))
