"""split: a loop over blocks, and one inside a block. Two of them and an interchange make a tile.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> split(parse_kernel('''
... kernel @copy(x: f32[10], out: f32[10]) { for i in 0..10 { out[i] = x[i] } }'''), "i", 4)
kernel @copy(x: f32[10], out: f32[10]) {
  for io in 0..2 {
    for ii in 0..4 {
      out[ii + 4*io] = x[ii + 4*io]
    }
  }
  for it in 8..10 {
    out[it] = x[it]
  }
}
<BLANKLINE>

Where the bounds move with the loops around, there are blocks for all that they ever reach, and the
loop inside is clipped.

>>> split(parse_kernel('''
... kernel @slanted(x: f32[3,6], out: f32[3,6]) {
...   for t in 0..3 { for i in t..t + 6 { out[t, i - t] = x[t, i - t] } }
... }'''), "i", 4)
kernel @slanted(x: f32[3,6], out: f32[3,6]) {
  for t in 0..3 {
    for io in 0..2 {
      for ii in max(0, -4*io + t)..min(4, -4*io + t + 6) {
        out[t, ii + 4*io - t] = x[t, ii + 4*io - t]
      }
    }
  }
}
<BLANKLINE>

It is always legal: the same iterations run in the same order.

Next room: `reorder.py`.

Reading path, 10 of 12; next: `llvm/emit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.arguments import takes
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.walk import bounded, extreme, names_of, nest_of, substitute
from course_lib.schedule.primitives.at import at_loop


@takes
def split(kernel: Kernel, var: str, factor: int) -> Kernel:
    """Iterate over blocks of `factor`, then inside a block; what does not fill a block comes after.

    The new loops are called `<var>o`, `<var>i` and (only if something is left over and the loop
    inside is not clipped) `<var>t`. The order of the iterations stays: every loop may be split.
    """
    if factor < 1:
        raise ValueError(f"split needs a factor of at least 1, got {factor}")
    outer, inner, tail = f"{var}o", f"{var}i", f"{var}t"
    for name in (outer, inner, tail):
        if name in names_of(kernel):
            raise ValueError(f"split {var}: the kernel has a {name} already")

    def blocks(loop: Loop) -> tuple[Stmt, ...]:
        if loop.extent is None or loop.start.terms:
            return (_clipped(loop, nest_of(kernel.body, var)[:-1], factor),)
        extent = loop.extent
        whole, start = max(extent, 0) // factor, loop.start.const
        point = Affine.var(outer) * factor + Affine.var(inner) + start
        inside = Loop(inner, Affine(), Affine((), factor), substitute(loop.body, {var: point}))
        result: list[Stmt] = []
        if whole:
            result.append(Loop(outer, Affine(), Affine((), whole), (inside,), loop.kind))
        if extent % factor or not extent:
            rest = substitute(loop.body, {var: Affine.var(tail)})
            result.append(Loop(tail, Affine((), start + whole * factor), loop.stop, rest))
        return tuple(result)

    return at_loop(kernel, var, blocks)


def _clipped(loop: Loop, around: Sequence[Loop], factor: int) -> Loop:
    """A loop over blocks, as many as it ever needs, and one inside a block, within the bounds."""
    low = max(extreme(start, around, -1).const for start in loop.starts)
    high = min(extreme(stop, around, +1).const for stop in loop.stops)
    outer, inner = f"{loop.var}o", f"{loop.var}i"
    begin = Affine.var(outer) * factor + low
    body = substitute(loop.body, {loop.var: begin + Affine.var(inner)})
    inside = bounded(
        Loop(inner, Affine(), Affine((), factor), body),
        [Affine(), *(start - begin for start in loop.starts)],
        [Affine((), factor), *(stop - begin for stop in loop.stops)],
    )
    return Loop(outer, Affine(), Affine((), -((low - high) // factor)), (inside,), loop.kind)
