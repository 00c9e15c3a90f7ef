"""unroll: the body of a loop is written out once for each iteration.

    for u in 0..3 { acc[u] += x[u] }
    ==>  unroll(kernel, "u")
    unroll u in 0..3 { acc[u] += x[u] }      acc[0] += x[0]; acc[1] += x[1]; acc[2] += x[2]

Nothing but numbers index `acc` then, so that its elements can stay in registers. Next room:
`serial.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.at import at_loop, demand_numbers, find_loop


def unroll(kernel: Kernel, var: str) -> Kernel:
    """Always legal, as the order stays, if the bounds of the loop are numbers."""
    demand_numbers(find_loop(kernel, var), f"unroll {var}")
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="unroll"),))
