"""fuse: two nested loops become one, which `split` would make these two of.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> blocks = parse_kernel('''
... kernel @blocks(x: f32[8], out: f32[8]) {
...   for io in 0..2 { for ii in 0..4 { out[ii + 4*io] = x[ii + 4*io] } }
... }''')
>>> fuse(blocks, "io", "ii", "i")
kernel @blocks(x: f32[8], out: f32[8]) {
  for i in 0..8 {
    out[i] = x[i]
  }
}
<BLANKLINE>

The order of the iterations stays, so that no dependence forbids it. But an index is a sum of
variables and has no quotient and no remainder: it is illegal where the two loops do not move each
index as one would.

>>> fuse(parse_kernel('''
... kernel @rows(x: f32[4,5], out: f32[4,5]) {
...   for i in 0..4 { for j in 0..5 { out[i, j] = x[i, j] } }
... }'''), "i", "j", "ij")
Traceback (most recent call last):
ValueError: fuse i, j: the index i is not a multiple of 5*i + j

Next room: `fission.py`.
"""

from __future__ import annotations

from course_lib.arguments import takes
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.walk import loops, names_of, on_writes, substitute
from course_lib.schedule.primitives.at import at_loop, demand_numbers, find_loop


@takes
def fuse(kernel: Kernel, outer: str, inner: str, name: str) -> Kernel:
    """One loop over `name` for `outer` and `inner`, all that the body of `outer` has.

    With n iterations of `inner`, every index and bound inside must be made of n * outer + inner.
    The new loop has the kind of the two, and is a `for` loop if their kinds differ.
    """
    what, inside = f"fuse {outer}, {inner}", find_loop(kernel, inner)
    if name in set(names_of(kernel)) - {outer, inner}:
        raise ValueError(f"{what}: the kernel has a {name} already")

    def fused(loop: Loop) -> tuple[Stmt, ...]:
        if loop.body != (inside,):
            raise ValueError(f"{what}: {inner} must be all that the body of {outer} has")
        count, size = demand_numbers(loop, what), demand_numbers(inside, what)
        _demand_one_variable(inside.body, outer, inner, size, what)
        first = size * loop.start.const + inside.start.const
        body = substitute(inside.body, {outer: Affine(), inner: Affine.var(name)})
        kind = loop.kind if loop.kind == inside.kind else "for"
        stop = first + max(count, 0) * max(size, 0)
        return (Loop(name, Affine((), first), Affine((), stop), body, kind),)

    return at_loop(kernel, outer, fused)


def _demand_one_variable(
    body: tuple[Stmt, ...], outer: str, inner: str, size: int, what: str
) -> None:
    """Refuse an index or a bound in which the variables are not size * outer + inner."""

    def check(index: Affine) -> Affine:
        if index.coefficient(outer) != size * index.coefficient(inner):
            together = Affine.var(outer) * size + Affine.var(inner)
            raise ValueError(f"{what}: the index {index} is not a multiple of {together}")
        return index

    on_writes(body, check)
    for loop in loops(body):
        for bound in (*loop.starts, *loop.stops):
            check(bound)
