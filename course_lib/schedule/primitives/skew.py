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

Nothing has moved: the same iterations run in the same order under other numbers, so that every loop
may be skewed. But a dependence from (t, i) to (t + 1, i - 1) now leads to (t + 1, i): in no loop
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

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.walk import bounded, nest_of, substitute
from course_lib.schedule.primitives.at import at_loop, find_loop


def skew(kernel: Kernel, outer: str, inner: str, factor: int) -> Kernel:
    """Iteration j of the loop over `inner`, which stands in that over `outer`, becomes iteration
    j + factor * outer. Always legal."""
    find_loop(kernel, inner)
    if all(loop.var != outer for loop in nest_of(kernel.body, inner)[:-1]):
        raise ValueError(f"skew {outer}, {inner}: {inner} does not stand in a loop over {outer}")
    further = Affine.var(outer) * factor

    def skewed(loop: Loop) -> tuple[Stmt, ...]:
        body = substitute(loop.body, {inner: Affine.var(inner) - further})
        ends = ([bound + further for bound in side] for side in (loop.starts, loop.stops))
        return (bounded(replace(loop, body=body), *ends),)

    return at_loop(kernel, inner, skewed)
