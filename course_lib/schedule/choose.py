"""Which primitives to apply to which kernel: the cheapest of all tiles, without any search.

    conv:    for oc, oh, ow { acc = 0; for ic, kh, kw { acc += x * w }; out = acc }
    ==>      parallel oc/32 { for oh { for ow/14 {
                 14 x 32 accumulators in registers
                 for ic, kh, kw { 14 times: one x, 32 lanes of w } } } }

Three steps: `candidates.py` lists the tiles that are possible, `price` says what each costs, the
cheapest one is applied. What has no tile keeps its loops, and LLVM vectorizes the innermost one.
The outermost loop may run on several threads. Next room: `schedule.py`.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.cost.machine import Machine
from course_lib.cost.tile import filled, instructions
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Store, statements
from course_lib.schedule.candidates import Reduction, Tile, candidates, reduction, stride, uses
from course_lib.schedule.primitives import annotate, conflict, pack, sink, split, store_rows

# A last piece that is shorter is a second copy of the loops: more code, few results for each load.
# Measured: products of 128 rows take as long in tiles of 14, with a rest of 2, as in tiles of 8.
REST = 1.1


def choose(kernel: Kernel, machine: Machine, constants: frozenset[str] = frozenset()) -> Kernel:
    """A schedule for one kernel. The parameters in `constants` may be rearranged beforehand."""
    tile = cheapest(kernel, machine, constants)
    if tile is not None:
        kernel = apply_tile(kernel, tile)
    return parallel_outside(kernel)


def cheapest(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Tile | None:
    """The tile with the smallest price, of equal ones the first; None if none is possible."""
    of = reduction(kernel)
    if of is None:
        return None
    tiles = candidates(of, machine, constants)
    return min(tiles, key=lambda tile: price(of, tile, machine), default=None)


def price(of: Reduction, tile: Tile, machine: Machine) -> float:
    """Vector instructions for each multiply-add, as `cost/tile.py` counts them."""
    (var, width), (row, count) = tile.lane, tile.row or ("", 1)
    lanes, vectors = filled(of.extent(var), width, machine.lanes(of.dtype))
    rows, _ = filled(of.extent(row), count, count)
    packed = tile.pack[0] if tile.pack else None
    steps = [stride(read, var) or 1 for read in of.reads
             if uses(read, var) and read.buffer != packed]  # fmt: skip
    rest = REST if of.extent(row) % count else 1
    return rest * instructions(lanes, vectors, rows, vector_loads=max(steps, default=1))


def apply_tile(kernel: Kernel, tile: Tile) -> Kernel:
    """Split, sink and annotate; afterwards the reduction holds a tile of accumulators."""
    lane, width = tile.lane
    if tile.row is not None:
        row, count = tile.row
        kernel = sink(split(kernel, row, count), f"{row}i")
    kernel = sink(split(kernel, lane, width), f"{lane}i")
    kernel = annotate(kernel, f"{lane}i", "vector")
    if tile.row is not None:
        kernel = annotate(kernel, f"{tile.row[0]}i", "unroll")
    if tile.row is not None and _steps(kernel, f"{tile.row[0]}i") == 1:
        kernel = store_rows(kernel, f"{lane}i", f"{tile.row[0]}i")
    if tile.pack is not None:
        kernel = pack(kernel, *tile.pack, width)
    return kernel


def _steps(kernel: Kernel, var: str) -> int:
    """How many elements apart the results of neighbouring iterations lie."""
    last = [s.indices[-1] for s in statements(kernel.body[-1:])
            if isinstance(s, Store) and s.buffer == kernel.out.name and s.indices]  # fmt: skip
    return last[0].coefficient(var) if last and isinstance(last[0], Affine) else 0


def parallel_outside(kernel: Kernel) -> Kernel:
    """The outermost loops, if they are all there is at the top, may run on several threads.

    A nest that is small beside another one, such as the border of an image, is not worth it.
    """
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    if len(outermost) < len(kernel.body) or any(conflict(loop) for loop in outermost):
        return kernel
    most = max((_iterations(loop) for loop in outermost), default=0)
    kinds = ["parallel" if 10 * _iterations(loop) >= most else loop.kind for loop in outermost]
    body = (replace(loop, kind=kind) for loop, kind in zip(outermost, kinds, strict=True))
    return replace(kernel, body=tuple(body))


def _iterations(loop: Loop) -> int:
    """How often the innermost bodies run, roughly: a ragged loop counts once."""
    inside = sum(_iterations(stmt) for stmt in loop.body if isinstance(stmt, Loop))
    return (loop.extent or 1) * max(inside, 1)
