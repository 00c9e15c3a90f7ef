"""Which primitives to apply to which kernel: the cheapest of all tiles, without any search.

    conv:    for oc, oh, ow { acc = 0; for ic, kh, kw { acc += x * w }; out = acc }
    ==>      parallel oc/32 { for oh { for ow/14 {
                 14 x 32 accumulators in registers
                 for ic, kh, kw { 14 times: one x, 32 lanes of w } } } }

Three steps: `candidates.py` lists the tiles that are possible, `price.py` says what each costs, the
cheapest one becomes a schedule; a large matrix product is cut into blocks instead, where that is
cheaper still (`product.py`). What has no tile keeps its loops, and LLVM vectorizes the innermost
one. The outermost loop may run on several threads. Next room: `schedule.py`.
"""

from __future__ import annotations

import math
from contextlib import suppress

from course_lib.cost.blocks import Blocks, blocks, price_of_blocks, price_of_misses
from course_lib.cost.machine import Machine
from course_lib.ir.expr import Affine
from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Accumulate, Kernel, Loop, Stmt, Store
from course_lib.ir.loops.walk import accesses, accumulators, loops, nest_of, original
from course_lib.schedule.candidates import Tile, candidates
from course_lib.schedule.price import price
from course_lib.schedule.product import Product, product, run_in_blocks
from course_lib.schedule.reduction import Reduction, nests, reduction
from course_lib.schedule.script import Schedule, Script
from course_lib.schedule.steps import (
    Fission,
    Interchange,
    Pack,
    Parallelize,
    Prefetch,
    Serial,
    Split,
    Stage,
    Unroll,
    Vectorize,
)

COLUMNS = 1024  # running sums that a kernel has at a time: a few kilobytes, in the first cache


def choose(kernel: Kernel, machine: Machine, constants: frozenset[str] = frozenset()) -> Kernel:
    """The kernel as it should run. The parameters in `constants` may be rearranged beforehand, each
    for one nest."""
    return _script(kernel, machine, constants).kernel


def schedule_for(
    kernel: Kernel, machine: Machine, constants: frozenset[str] = frozenset()
) -> Schedule:
    """What `choose` does to the kernel, as a schedule."""
    return _script(kernel, machine, constants).schedule


def _script(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Script:
    script = Script(kernel)
    every_nest = nests(kernel)
    of = product(kernel) if every_nest == [kernel.body] else None
    for nest in every_nest:
        columns = loop_over_running_sums(nest)
        if columns is not None:
            go_row_by_row(script, columns)
            continue
        elsewhere = {a.buffer for other in every_nest if other is not nest for a in accesses(other)}
        sums = reduction(kernel, nest)
        tile = cheapest(sums, machine, constants - elsewhere)
        by = blocks_if_cheaper(of, sums, tile, machine)
        if of is not None and by is not None:
            run_in_blocks(script, of, by)
        elif tile is not None and sums is not None:
            run_in_tiles(script, tile)
            fetch_ahead(script, sums, tile, machine)
    parallel_outside(script)
    return script


def cheapest(of: Reduction | None, machine: Machine, constants: frozenset[str]) -> Tile | None:
    """The tile with the smallest price, of equal ones the first; None if none is possible."""
    if of is None:
        return None
    tiles = candidates(of, machine, constants)
    return min(tiles, key=lambda tile: price(of, tile, machine), default=None)


def blocks_if_cheaper(
    of: Product | None, sums: Reduction | None, tile: Tile | None, machine: Machine
) -> Blocks | None:
    """The blocks of a product for which packing its operands pays; None where the tile is cheaper.

    Operands that fit the first cache need no blocks; nor does one that is packed beforehand, which
    is read from end to end.
    """
    if of is None or sums is None or tile is None or tile.pack is not None:
        return None
    m, n, depth = of.sizes
    if (m + n) * depth * of.dtype.size <= machine.cache1:
        return None
    rows = tile.unroll[1] if tile.unroll else 1
    misses = price_of_misses(depth, tile.lane[1], rows, of.dtype, machine)
    by = blocks(of.sizes, of.dtype, machine)
    cost = price_of_blocks(of.sizes, by, machine.lanes(of.dtype))
    return by if cost < price(sums, tile, machine) + misses else None


def run_in_tiles(script: Script, tile: Tile) -> None:
    """Split both loops, then fission: the reduction holds a tile of accumulators.

    The inner one is split first, so that what is left over of the outer one has blocks of it too.
    What is left over of the unrolled loop is a tile of its own, if the tile says so.
    """
    (lane, width), block = tile.lane, tile.lane[1]
    lanes = f"{lane}i"
    unrolled = [f"{tile.unroll[0]}i"] if tile.unroll else []
    if tile.unroll and tile.unroll[0] == lane:  # vectors side by side
        block *= tile.unroll[1]
        script.do(Split(lane, block))
        lane, lanes, unrolled = f"{lane}i", f"{lane}ii", [f"{lane}io"]
        script.do(Split(lane, width), Vectorize(lanes), Unroll(f"{lane}o"))
    for loop in reversed(loops(script.kernel.body)):
        if loop.var == lane:
            script.do(Split(lane, width), Vectorize(lanes))
        elif tile.unroll and loop.var == tile.unroll[0]:
            script.do(Split(*tile.unroll), Unroll(f"{loop.var}i"))
            if tile.rest:
                script.do(Split(f"{loop.var}t", tile.rest), Unroll(f"{loop.var}ti"))
                unrolled.append(f"{loop.var}ti")
    for name in (*unrolled, lanes):
        script.do(*map(Fission, _copies(script.kernel, name)))
    for name in unrolled:
        store_along_the_result(script, name, lanes)
    if tile.pack is not None:
        script.do(Pack(*tile.pack, block))


def fetch_ahead(script: Script, of: Reduction, tile: Tile, machine: Machine) -> None:
    """Prefetch a packed operand that is too large for the second cache, if one block of it fits and
    several tiles read that block: the next one is fetched meanwhile, at least into the third cache.
    Of many tiles only one waits, and a step would have less than an element of its own to ask for.

    Threads besides the first take their pieces from the end: for them it is the next block only
    inside of a piece.
    """
    if tile.pack is None or not of.inside:
        return
    operand, blocks = script.kernel.buffers[tile.pack[0]].type, f"{tile.lane[0]}o"
    within, _ = of.inside[-1]
    nest = nest_of(script.kernel.body, within)
    inside = nest[[loop.var for loop in nest].index(blocks) + 1 :]
    tiles = math.prod(loop.extent or 1 for loop in inside) // of.taps
    block = operand.nbytes // operand.dims[0]
    if 1 < tiles <= tile.lane[1] and block <= machine.cache2 < operand.nbytes:
        with suppress(ValueError):  # refused where a block is no run of its own
            script.do(Prefetch(tile.pack[0], blocks, within))


def _copies(kernel: Kernel, var: str) -> list[str]:
    """The loop over `var`, and those that a split of a loop around it has made of it."""
    return [loop.var for loop in loops(kernel.body) if original(loop.var) == var]


def store_along_the_result(script: Script, unrolled: str, lanes: str) -> None:
    """Store the tile in the order of memory, where that is the order of the unrolled loop.

    unroll r { vector l { out[l, r] = f(acc[r, l]) } }
    ==>
    unroll r_2 { vector l_2 { stage[r_2, l_2] = acc[r_2, l_2] } }
    for l { vector r { out[l, r] = f(stage[r, l]) } }

    Where the same loops still compute `acc` (nothing is reduced), the kernel stays as it is.
    """
    kernel = script.kernel
    for outer in loops(kernel.body):
        inner = outer.body[0]
        if not isinstance(inner, Loop):
            continue
        stores = [s for s in inner.body if isinstance(s, Store) and s.buffer == kernel.out.name]
        touched = {way: {a.buffer for a in accesses(inner.body) if a.way == way}
                   for way in ("read", "write")}  # fmt: skip
        sums = accumulators(kernel.body) & touched["read"] - touched["write"]
        here = (original(outer.var), original(inner.var)) == (unrolled, lanes)
        if here and len(sums) == 1 and any(_along(s, outer) for s in stores):
            script.do(Stage(outer.var, *sums), Interchange(outer.var, inner.var))
            script.do(Serial(inner.var), Vectorize(outer.var))


def _along(store: Store, loop: Loop) -> bool:
    """Do neighbouring iterations store neighbouring elements?"""
    last = store.indices[-1] if store.indices else None
    return isinstance(last, Affine) and last.coefficient(loop.var) == 1


def loop_over_running_sums(nest: tuple[Stmt, ...]) -> Loop | None:
    """The loop each of whose iterations goes down a column, and stores a sum at each row."""
    for loop in loops(nest):
        for inner in loop.body:
            body = inner.body if isinstance(inner, Loop) else ()
            sums = any(isinstance(s, Accumulate) for s in body)
            if sums and any(isinstance(s, Store) and _along(s, loop) for s in body):
                return loop
    return None


def go_row_by_row(script: Script, columns: Loop) -> None:
    """Running sums read and write as much as they compute: in the order of memory, then.

    for i { acc = 0;  for r { acc += x[r, i];  out[r, i] = acc } }
    ==>
    for i { acc[i] = 0 };  for r { for i_2 { acc[i_2] += x[r, i_2];  out[r, i_2] = acc[i_2] } }
    """
    if (columns.extent or 0) <= COLUMNS:
        script.do(Fission(columns.var))
        return
    script.do(Split(columns.var, COLUMNS))
    script.do(*map(Fission, [f"{columns.var}i", *_copies(script.kernel, f"{columns.var}t")]))


def parallel_outside(script: Script) -> None:
    """The loops of `shared` may run on several threads."""
    script.do(*(Parallelize(loop.var) for loop in shared(script.kernel)))


def shared(kernel: Kernel) -> list[Loop]:
    """The outermost loops, if they are all there is at the top, but for those that carry something,
    such as the updates of a scatter.

    A nest that is small beside another one, such as the border of an image, is not worth it.
    """
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    if len(outermost) < len(kernel.body):
        return []
    most = max((_iterations(loop) for loop in outermost), default=0)
    large = [loop for loop in outermost if 10 * _iterations(loop) >= most]
    return [loop for loop in large if loop.kind != "parallel" and not carried(loop)]


def _iterations(loop: Loop) -> int:
    """How often the innermost bodies run, roughly: a ragged loop counts once."""
    inside = sum(_iterations(stmt) for stmt in loop.body if isinstance(stmt, Loop))
    return (loop.extent or 1) * max(inside, 1)
