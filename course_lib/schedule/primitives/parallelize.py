"""parallelize: the iterations may run at the same time. Outermost, threads share them.

    for i in 0..8 { out[i] = x[i] }
    ==>  parallelize(kernel, "i")
    parallel i in 0..8 { out[i] = x[i] }

Next room: `unroll.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.walk import nest_of
from course_lib.schedule.primitives.at import at_loop, demand_independent, find_loop


def parallelize(kernel: Kernel, var: str) -> Kernel:
    """Legal if the loop carries no dependence.

    Threads share the iterations only where the kernel has nothing but loops at the top and this is
    one of them (`dealt_out`). Elsewhere it is known of the loop, and one thread runs it.
    """
    loop = find_loop(kernel, var)
    demand_independent(loop, f"parallelize {var}", nest_of(kernel.body, var)[:-1])
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="parallel"),))
