"""How many bytes a loop touches, and how many of them a cache has to fetch. By formula: no run.

    for i in 0..64 { for j in 0..64 { out[i] += x[i, j] * v[j] } }

    footprint of one run of j        one row of x, all of v, one line of out      576 bytes
    footprint of the whole nest      x, v and out                              16,896 bytes
    a cache of 1,024 bytes           fetches v once: a row of x and v fit together
    a cache of 256 bytes             fetches v again for each of the 64 rows

Whether a buffer stays in a cache from one iteration of a loop to the next is decided by what the
iteration touches altogether: if that fits, the loop fetches what it touches once; if not, each
iteration starts anew. The simulator (`cache.py`) gives the exact count for programs that are small
enough to be run; this formula takes as long for a large one as for a small one. Source: Wolf and
Lam, "A data locality optimizing algorithm", PLDI 1991. Next room: `nest.py`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Buffer, Kernel, Loop, Stmt
from course_lib.ir.loops.walk import Access, accesses, loops, span

LINE = 64  # bytes that come into a cache together


@dataclass(frozen=True)
class Reach:
    """Sizes of the loops of a kernel, and which of its buffers are in memory."""

    extents: Mapping[str, int]
    buffers: Mapping[str, Buffer]

    @staticmethod
    def of(kernel: Kernel, registers: Collection[str] = ()) -> Reach:
        """`registers`: locals that touch no memory."""
        there = {name: b for name, b in kernel.buffers.items() if name not in registers}
        return Reach(extents(kernel.body), there)

    def footprint(self, body: Sequence[Stmt], moving: Collection[str] = ()) -> dict[str, int]:
        """Bytes, in whole lines, that one run of `body` touches of each buffer; of all its runs
        while the loops in `moving` run."""
        inside = {*moving, *(loop.var for loop in loops(tuple(body)))}
        accesses_of: dict[str, list[Access]] = {}
        for access in accesses(tuple(body)):
            if access.buffer in self.buffers:
                accesses_of.setdefault(access.buffer, []).append(access)
        return {name: self._bytes(name, of, inside) for name, of in accesses_of.items()}

    def _bytes(self, name: str, touched: Sequence[Access], inside: set[str]) -> int:
        """A box around all that these accesses can touch, unless so many never happen."""
        type = self.buffers[name].type
        box, points = [], 0
        for axis, size in enumerate(type.dims):
            spans = [self._span(a.indices[axis], inside, size) for a in touched]
            box.append(min(size, max(h for _, h in spans) - min(low for low, _ in spans) + 1))
        for access in {a.indices: a for a in touched}.values():
            vars = {
                v for i in access.indices for v in (i.vars if isinstance(i, Affine) else inside)
            }
            points += math.prod(self.extents.get(v, 1) for v in vars & inside)
        return _in_lines(type.dims, box, points, type.dtype.size)

    def _span(self, index, inside: set[str], size: int) -> tuple[int, int]:
        """The smallest and the largest value of an index, what does not move left out."""
        if not isinstance(index, Affine):
            return 0, size - 1  # data decides
        last = {var: self.extents.get(var, 1) - 1 for var in index.vars if var in inside}
        return span(index, dict.fromkeys(last, 0), last)

    def traffic(self, body: Sequence[Stmt], cache: int) -> int:
        """Bytes that a cache of `cache` bytes fetches while `body` runs once from the start."""
        return sum(self._fetched(body, cache).values())

    def _fetched(self, body: Sequence[Stmt], cache: int) -> dict[str, int]:
        total: dict[str, int] = {}
        for stmt in body:
            for name, count in self._of(stmt, cache).items():
                total[name] = total.get(name, 0) + count
        whole = self.footprint(body)
        if sum(whole.values()) <= cache:  # what one statement fetched, the next one finds
            return {name: min(count, whole[name]) for name, count in total.items()}
        return total

    def _of(self, stmt: Stmt, cache: int) -> dict[str, int]:
        if not isinstance(stmt, Loop):
            return self.footprint((stmt,))
        once = self.footprint(stmt.body)
        if sum(once.values()) <= cache:
            return self.footprint(stmt.body, (stmt.var,))
        times = self.extents.get(stmt.var, 1)
        return {name: times * count for name, count in self._fetched(stmt.body, cache).items()}


def _in_lines(dims: Sequence[int], box: Sequence[int], points: int, size: int) -> int:
    """Bytes of the lines that a box of elements lies in; at most a line for each point."""
    run, rest = size, 1  # bytes side by side, and how many such runs there are
    for extent, whole in zip(reversed(box), reversed(dims), strict=True):
        if rest == 1:
            run *= extent
            rest = 1 if extent == whole else -1
        else:
            rest = extent if rest == -1 else rest * extent
    return min(max(rest, 1) * -(-run // LINE), max(points, 1)) * LINE


def extents(body: Sequence[Stmt], around: Mapping[str, Affine] | None = None) -> dict[str, int]:
    """Iterations of each loop; where the loops around decide, of an iteration in their middle."""
    iterations: dict[str, int] = {}
    middle = dict(around or {})
    for stmt in body:
        if isinstance(stmt, Loop):
            start = max(bound.substitute(middle).const for bound in stmt.starts)
            stop = min(bound.substitute(middle).const for bound in stmt.stops)
            iterations[stmt.var] = max(stop - start, 0)
            at = Affine((), start + max(stop - start - 1, 0) // 2)
            iterations.update(extents(stmt.body, {**middle, stmt.var: at}))
    return iterations
