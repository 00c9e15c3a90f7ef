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
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Kernel, Loop, Store
from course_lib.ir.loops.walk import accesses, accumulators, loops, original
from course_lib.schedule.candidates import Reduction, Tile, candidates, reduction, stride, uses
from course_lib.schedule.primitives.fission import fission
from course_lib.schedule.primitives.interchange import interchange
from course_lib.schedule.primitives.pack import pack
from course_lib.schedule.primitives.serial import serial
from course_lib.schedule.primitives.split import split
from course_lib.schedule.primitives.stage import stage
from course_lib.schedule.primitives.unroll import unroll
from course_lib.schedule.primitives.vectorize import vectorize

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
    (var, width), (along, count) = tile.lane, tile.unroll or ("", 1)
    lanes, vectors = filled(of.extent(var), width, machine.lanes(of.dtype))
    rows, _ = filled(of.extent(along), count, count)
    packed = tile.pack[0] if tile.pack else None
    steps = [stride(read, var) or 1 for read in of.reads
             if uses(read, var) and read.buffer != packed]  # fmt: skip
    rest = REST if of.extent(along) % count else 1
    return rest * instructions(lanes, vectors, rows, vector_loads=max(steps, default=1))


def apply_tile(kernel: Kernel, tile: Tile) -> Kernel:
    """Split both loops, then fission: the reduction holds a tile of accumulators.

    The inner one is split first, so that what is left over of the outer one has blocks of it too.
    """
    lane, width = tile.lane
    lanes = f"{lane}i"
    unrolled = f"{tile.unroll[0]}i" if tile.unroll else ""
    for loop in reversed(loops(kernel.body)):
        if loop.var == lane:
            kernel = vectorize(split(kernel, lane, width), lanes)
        elif tile.unroll and loop.var == tile.unroll[0]:
            kernel = unroll(split(kernel, *tile.unroll), unrolled)
    for name in (unrolled, lanes):
        for loop in _copies(kernel, name):
            kernel = fission(kernel, loop)
    kernel = along_the_result(kernel, unrolled, lanes)
    if tile.pack is not None:
        kernel = pack(kernel, *tile.pack, width)
    return kernel


def _copies(kernel: Kernel, var: str) -> list[str]:
    """The loop over `var`, and those that a split of a loop around it has made of it."""
    return [loop.var for loop in loops(kernel.body) if original(loop.var) == var]


def along_the_result(kernel: Kernel, unrolled: str, lanes: str) -> Kernel:
    """Store the tile in the order of memory, where that is the order of the unrolled loop.

    unroll r { vector l { out[l, r] = f(acc[r, l]) } }
    ==>
    unroll r_2 { vector l_2 { stage[r_2, l_2] = acc[r_2, l_2] } }
    for l { vector r { out[l, r] = f(stage[r, l]) } }

    Where the same loops still compute `acc` (nothing is reduced), the kernel stays as it is.
    """
    for outer in loops(kernel.body):
        inner = outer.body[0]
        if not isinstance(inner, Loop):
            continue
        stores = [s for s in inner.body if isinstance(s, Store) and s.buffer == kernel.out.name]
        touched = {way: {a.buffer for a in accesses(inner.body) if a.way == way}
                   for way in ("read", "write")}  # fmt: skip
        sums = accumulators(kernel) & touched["read"] - touched["write"]
        here = (original(outer.var), original(inner.var)) == (unrolled, lanes)
        if here and len(sums) == 1 and any(_along(s, outer) for s in stores):
            kernel = interchange(stage(kernel, outer.var, *sums), outer.var, inner.var)
            kernel = vectorize(serial(kernel, inner.var), outer.var)
    return kernel


def _along(store: Store, loop: Loop) -> bool:
    """Do neighbouring iterations store neighbouring elements?"""
    last = store.indices[-1]
    return isinstance(last, Affine) and last.coefficient(loop.var) == 1


def parallel_outside(kernel: Kernel) -> Kernel:
    """The outermost loops, if they are all there is at the top, may run on several threads.

    A nest that is small beside another one, such as the border of an image, is not worth it.
    """
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    if len(outermost) < len(kernel.body) or any(carried(loop) for loop in outermost):
        return kernel
    most = max((_iterations(loop) for loop in outermost), default=0)
    kinds = ["parallel" if 10 * _iterations(loop) >= most else loop.kind for loop in outermost]
    body = (replace(loop, kind=kind) for loop, kind in zip(outermost, kinds, strict=True))
    return replace(kernel, body=tuple(body))


def _iterations(loop: Loop) -> int:
    """How often the innermost bodies run, roughly: a ragged loop counts once."""
    inside = sum(_iterations(stmt) for stmt in loop.body if isinstance(stmt, Loop))
    return (loop.extent or 1) * max(inside, 1)
