"""skew: the iterations of a loop are numbered from later on, the further the loop around it is.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> seidel = parse_kernel('''
... kernel @seidel(out: f32[9]) {
...   for t in 0..4 { for i in 1..8 { out[i] = out[i - 1] + out[i + 1] } }
... }''')
>>> skew(seidel, "t", "i", 1)
kernel @seidel(out: f32[9]) {
  for t in 0..4 {
    for i in t + 1..t + 8 {
      out[i - t] = out[i - t - 1] + out[i - t + 1]
    }
  }
}
<BLANKLINE>

It is always legal, for nothing has moved: the same iterations run in the same order under other
numbers. But a dependence from (t, i) to (t + 1, i - 1) now leads to (t + 1, i): in no loop
backwards. Then the two loops may change places, and blocks of both may run one after another
(Wolfe, 1986; Wolf and Lam, 1991).

>>> from course_lib.schedule.legality import may_tile
>>> print(may_tile(seidel, {"t": 2, "i": 4}))
no: iteration (t=1, i=4) writes out[4], which (t=0, i=5) has to read first
>>> print(may_tile(skew(seidel, "t", "i", 1), {"t": 2, "i": 4}))
yes

Next room: `fuse.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.arguments import takes
from course_lib.exercises import exercise
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop
from course_lib.ir.loops.walk import bounded, nest_of, substitute
from course_lib.schedule.primitives.at import at_loop, find_loop


@takes
def skew(kernel: Kernel, outer: str, inner: str, factor: int) -> Kernel:
    """Iteration j of the loop over `inner`, which stands in that over `outer`, becomes iteration
    j + factor * outer. Always legal."""
    find_loop(kernel, inner)
    if all(loop.var != outer for loop in nest_of(kernel.body, inner)[:-1]):
        raise ValueError(f"skew {outer}, {inner}: {inner} does not stand in a loop over {outer}")
    return at_loop(kernel, inner, lambda loop: (skewed(loop, outer, factor),))


@exercise("schedule.skewed", unit=8, points=3)
def skewed(loop: Loop, outer: str, factor: int) -> Loop:
    """The same loop with other numbers: iteration j is now iteration j + factor * outer.

    loop     a loop over any variable, `loop.var`; it has one or more `starts`, of which the largest
             counts, and one or more `stops`, of which the smallest counts
    outer    the variable of a loop around it
    factor   a whole number, which may be negative
    returns  a loop over the same variable and of the same kind. It runs the same statements in the
             same order and touches the same elements: only the numbers have changed

    The loop's bounds may contain the variables of all loops around it, and loops in the body may
    have bounds that depend on this loop. For example, skewed(loop, "t", 2) turns the first loop
    into the second one:

        for i in 1..9 { out[i] = x[i] }
        for i in 2*t + 1..2*t + 9 { out[i - 2*t] = x[i - 2*t] }
    """
    further = Affine.var(outer) * factor
    body = substitute(loop.body, {loop.var: Affine.var(loop.var) - further})
    starts = [start + further for start in loop.starts]
    stops = [stop + further for stop in loop.stops]
    return bounded(replace(loop, body=body), starts, stops)
