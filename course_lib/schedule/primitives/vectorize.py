"""vectorize: the iterations become the lanes of vector instructions.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> vectorize(parse_kernel('''
... kernel @copy(x: f32[8], out: f32[8]) { for i in 0..8 { out[i] = x[i] } }'''), "i")
kernel @copy(x: f32[8], out: f32[8]) {
  vector i in 0..8 {
    out[i] = x[i]
  }
}
<BLANKLINE>

It is illegal if the loop carries a dependence, for all lanes read before any of them writes, or if
the number of lanes is no number.

>>> vectorize(parse_kernel('''
... kernel @shift(out: f32[9]) { for i in 0..8 { out[i + 1] = out[i] } }'''), "i")
Traceback (most recent call last):
ValueError: vectorize i: the loop carries a flow dependence through out: iteration (i=1) reads \
out[1], which (i=0) has to write first

Next room: `parallelize.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.walk import nest_of
from course_lib.schedule.primitives.at import at_loop, demand_independent, demand_numbers, find_loop


@takes
def vectorize(kernel: Kernel, var: str) -> Kernel:
    """Legal if the loop carries no dependence, and its bounds are numbers.

    The code has lanes for all that the body holds. It has one iteration after another instead where
    an index is data, where a loop inside is longer in one lane than in another, and where a loop
    inside is a vector itself.
    """
    loop = find_loop(kernel, var)
    demand_numbers(loop, f"vectorize {var}")
    demand_independent(loop, f"vectorize {var}", nest_of(kernel.body, var)[:-1])
    return at_loop(kernel, var, lambda loop: (replace(loop, kind="vector"),))
