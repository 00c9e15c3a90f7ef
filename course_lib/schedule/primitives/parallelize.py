"""parallelize: the iterations may run at the same time. Outermost, threads share them.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> rows = parse_kernel('''
... kernel @rows(x: f32[8,3], out: f32[8]) {
...   for i in 0..8 { for k in 0..3 { out[i] += x[i, k] } }
... }''')
>>> parallelize(rows, "i")
kernel @rows(x: f32[8,3], out: f32[8]) {
  parallel i in 0..8 {
    for k in 0..3 {
      out[i] += x[i, k]
    }
  }
}
<BLANKLINE>

It is illegal if the loop carries a dependence: what one iteration needs of another one would not
have to be there.

>>> parallelize(rows, "k")
Traceback (most recent call last):
ValueError: parallelize k: the loop carries an anti dependence through out: iteration (i=0, k=1) \
writes out[0], which (i=0, k=0) has to read first

Next room: `unroll.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.walk import nest_of
from course_lib.schedule.primitives.at import at_loop, demand_independent, find_loop


@takes
def parallelize(kernel: Kernel, var: str) -> Kernel:
    """Legal if the loop carries no dependence.

    Threads share the iterations only where the kernel has nothing but loops at the top and this is
    one of them (`dealt_out`). Elsewhere it is known of the loop, and one thread runs it.
    """
    loop = find_loop(kernel, var)
    demand_independent(loop, f"parallelize {var}", nest_of(kernel.body, var)[:-1])
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="parallel"),))
