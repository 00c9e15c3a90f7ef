"""A large matrix product: blocks for the caches, packed operands, a tile of sums in registers.

    for m { for n { acc = 0; for k { acc += x[m, k] * w[k, n] }; out[m, n] = f(acc) } }
    ==>
    for n / columns {
      for m { for n { out[m, n] = 0 } }
      for k / depth {
        a panel of w is copied, in blocks of as many columns as a tile has
        for m / rows {
          a strip of x is copied, if its rows would push each other out of the first cache
          for n / lanes { a tile of sums; for k { rows x lanes multiply-adds }; out += sums } } }
      for m { for n { out[m, n] = f(out[m, n]) } } }

A thread that has some columns of the result is the only one that touches them. Where a size is not
a multiple, a copy of the loops does what is left over, in the same way. How large the parts are
says `cost/blocks.py`; here are the steps. Next room: `choose.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from course_lib.cost.blocks import Blocks, crowded
from course_lib.ir.expr import Affine, Load
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop, Store
from course_lib.ir.loops.walk import accesses, original, statements
from course_lib.ir.types import DType
from course_lib.schedule.primitives.at import find_loop, perfect_nest
from course_lib.schedule.reduction import reduction
from course_lib.schedule.script import Script
from course_lib.schedule.steps import (
    Cache,
    Demote,
    Fission,
    Pad,
    Promote,
    Reorder,
    Split,
    Step,
    Unroll,
    Vectorize,
)


@dataclass(frozen=True)
class Product:
    """Loops m, n and k around acc += x[.., m, k] * w[.., k, n], with further loops outside."""

    m: Loop
    n: Loop
    k: Loop
    x: Load
    w: Load
    acc: str
    dtype: DType

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.m.extent or 0, self.n.extent or 0, self.k.extent or 0


def product(kernel: Kernel) -> Product | None:
    """The product that a kernel computes; None for another one, or if it reads its result too."""
    of = reduction(kernel)
    if of is None or len(kernel.body) != 1 or len(of.around) < 2 or len(of.reads) != 2:
        return None
    match of.around[-1].body:
        case (
            Local(acc),
            Store(),
            Loop(body=(Accumulate(op="add"),)) as k,
            Store(buffer=result) as store,
        ):
            pass
        case _:
            return None
    touched = [a.buffer for a in accesses(kernel.body)]
    if (
        result != kernel.out.name
        or touched.count(result) > 1
        or of.reads[0].buffer == of.reads[1].buffer
    ):
        return None
    m, n = of.around[-2:]
    for x, w in (of.reads, of.reads[::-1]):
        if _moved_by(x, m, n, k) == {m.var, k.var} and _moved_by(w, m, n, k) == {n.var, k.var}:
            along = store.indices[-1] == Affine.var(n.var) and Affine.var(m.var) in store.indices
            return Product(m, n, k, x, w, acc.name, of.dtype) if along else None
    return None


def _moved_by(load: Load, *candidates: Loop) -> set[str]:
    """Which of these loops move along an axis of their own, as they are."""
    names = set()
    for loop in candidates:
        moving = [i for i in load.indices if isinstance(i, Affine) and i.coefficient(loop.var)]
        names |= {loop.var} if moving == [Affine.var(loop.var)] else {""} if moving else set()
    return names


def run_in_blocks(script: Script, of: Product, by: Blocks) -> None:
    """The schedule of a product: loop after loop is split, and its inner part goes inside."""
    script.do(Demote(of.acc), Reorder((of.n.var, of.m.var)))
    levels = _Levels(script, of, by)
    for outer, inner in levels.pieces(of.n.var, by.columns):
        _, m = perfect_nest(find_loop(script.kernel, inner))
        script.do(Fission(m.var), Fission(inner))
        inside = find_loop(script.kernel, outer).body
        k = next(s for s in inside if isinstance(s, Loop) and original(s.var) == of.k.var)
        nest = [loop.var for loop in perfect_nest(k)]
        levels.split(nest, [by.depth, by.rows, by.lanes])


@dataclass(frozen=True)
class _Levels:
    """The levels of blocks, from the outside: panels of w, their depth, strips of x, tiles."""

    script: Script
    of: Product
    by: Blocks
    pads: list[Step] = field(default_factory=list)  # what to do once the panel of w is packed

    def split(self, nest: Sequence[str], factors: Sequence[int]) -> None:
        """Split the outermost loop of a nest, and put its inner part innermost; then the next."""
        if not factors:
            return self.tile(*nest)
        for outer, inner in self.pieces(nest[0], factors[0]):
            around = [loop.var for loop in perfect_nest(find_loop(self.script.kernel, inner))]
            inside = [*around[1:], inner]
            self.script.do(Reorder(tuple(inside)))
            self.split(inside, factors[1:])
            if len(factors) == 3:
                self.pack(outer)
                self.script.do(*self.pads)
                self.pads.clear()
            if len(factors) == 2 and self.strips_are_copied():
                self.script.do(Cache(self.of.x.buffer, outer))

    def strips_are_copied(self) -> bool:
        """A strip of x whose rows have room in the first cache is read where it lies."""
        x, type = self.of.x, self.script.kernel.buffers[self.of.x.buffer].type
        if x.indices[-1] != Affine.var(self.of.k.var):
            return True
        axis = x.indices.index(Affine.var(self.of.m.var))
        return crowded(self.by.rows, type.dtype.size * math.prod(type.dims[axis + 1 :]))

    def pieces(self, var: str, factor: int) -> list[tuple[str, str]]:
        """The blocks of a loop, and what is left over as a block of its own: (outer, inner)."""
        extent = find_loop(self.script.kernel, var).extent or 0
        factor = min(factor, extent)
        self.script.do(Split(var, factor))
        if extent % factor == 0:
            return [(f"{var}o", f"{var}i")]
        self.script.do(Split(f"{var}t", extent % factor))
        return [(f"{var}o", f"{var}i"), (f"{var}to", f"{var}ti")]

    def pack(self, var: str) -> None:
        """A copy of the panel of w, in blocks of the lanes of a tile."""
        w, n = self.of.w, Affine.var(self.of.n.var)
        axis = w.indices.index(n)
        self.script.do(Cache(w.buffer, var, axis, self.by.lanes))
        copies = [s for s in find_loop(self.script.kernel, var).body if isinstance(s, Loop)]
        for copy in copies:
            lanes = perfect_nest(copy)[-1]
            if axis == len(w.indices) - 1 and isinstance(lanes.body[0], Store):
                self.script.do(Vectorize(lanes.var))

    def tile(self, k: str, m: str, n: str) -> None:
        """A tile of sums in registers, while k runs."""
        result = self.script.kernel.out.name
        self.script.do(Unroll(m), Vectorize(n), Promote(result, k))
        sums = {s.buffer for s in statements(find_loop(self.script.kernel, k).body)
                if isinstance(s, Accumulate)}  # fmt: skip
        width = find_loop(self.script.kernel, n).extent or 1
        if self.by.filled(width) != width:
            self.pads.extend(Pad(acc, 1, self.by.filled(width)) for acc in sums)
