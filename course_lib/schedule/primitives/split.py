"""split: a loop over blocks, and one inside a block. Two of them and an interchange make a tile.

    for i in 0..10 { out[i] = x[i] }
    ==>  split(kernel, "i", 4)
    for io in 0..2 { for ii in 0..4 { out[ii + 4*io] = x[ii + 4*io] } }
    for it in 8..10 { out[it] = x[it] }

Next room: `reorder.py`.
"""

from __future__ import annotations

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Stmt
from course_lib.ir.loops.walk import names_of, substitute
from course_lib.schedule.primitives.at import at_loop, demand_numbers


def split(kernel: Kernel, var: str, factor: int) -> Kernel:
    """Iterate over blocks of `factor`, then inside a block; what does not fill a block comes after.

    The new loops are called `<var>o`, `<var>i` and (only if something is left over) `<var>t`. The
    order of the iterations stays, so every loop may be split.
    """
    if factor < 1:
        raise ValueError(f"split needs a factor of at least 1, got {factor}")
    outer, inner, tail = f"{var}o", f"{var}i", f"{var}t"
    for name in (outer, inner, tail):
        if name in names_of(kernel):
            raise ValueError(f"split {var}: the kernel has a {name} already")

    def blocks(loop: Loop) -> tuple[Stmt, ...]:
        extent = demand_numbers(loop, f"split {var}")
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
