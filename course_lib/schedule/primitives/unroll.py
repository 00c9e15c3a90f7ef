"""unroll: the body of a loop is written out once for each iteration.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> unroll(parse_kernel('''
... kernel @sums(x: f32[9,3], out: f32[3]) {
...   for k in 0..9 { for u in 0..3 { out[u] += x[k, u] } }
... }'''), "u")
kernel @sums(x: f32[9,3], out: f32[3]) {
  for k in 0..9 {
    unroll u in 0..3 {
      out[u] += x[k, u]
    }
  }
}
<BLANKLINE>

In the code that is `out[0] += x[k, 0]; out[1] += x[k, 1]; out[2] += x[k, 2]`. Nothing but numbers
index `out` then, so that its elements can stay in registers.

The order stays, and so it is illegal only if how often the body runs is no number.

>>> unroll(parse_kernel('''
... kernel @triangle(out: f32[4,4]) { for i in 0..4 { for j in 0..i { out[i, j] = 0.0 } } }
... '''), "j")
Traceback (most recent call last):
ValueError: unroll j: its bounds must be numbers, not 0..i

Next room: `serial.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.primitives.at import at_loop, demand_numbers, find_loop


@takes
def unroll(kernel: Kernel, var: str) -> Kernel:
    """Always legal, as the order stays, if the bounds of the loop are numbers."""
    demand_numbers(find_loop(kernel, var), f"unroll {var}")
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="unroll"),))
