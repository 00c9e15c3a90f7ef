"""What a tile costs, so that the cheapest of all candidates can be taken.

    price(of, Tile(("oc", 16), ("ow", 6)), machine)    vector instructions for each multiply-add

    a tile of `rows` x `vectors` sums              its multiply-adds and loads (`cost/tile.py`)
    what is left over of the unrolled loop         more loads for each sum; or a second tile
    both operands in vectors (depthwise)           windows that share what they read

Next room: `product.py`.
"""

from __future__ import annotations

import math

from course_lib.cost.machine import Machine
from course_lib.cost.tile import WRITTEN_OUT, filled, instructions, waiting
from course_lib.ir.expr import Load
from course_lib.schedule.candidates import Tile
from course_lib.schedule.reduction import Reduction, stride, uses

# A last piece that is shorter is a second copy of the loops: more code, few results for each load.
# Measured: products of 128 rows take as long in tiles of 14, with a rest of 2, as in tiles of 8.
REST = 1.1
SECOND = 1.03  # ... the same where the last piece is a tile, too
FETCHED = 2  # vector instructions in the time that the first cache needs to get one vector


def price(of: Reduction, tile: Tile, machine: Machine) -> float:
    """Vector instructions for each multiply-add, as `cost/tile.py` counts them."""
    (var, width), (along, count) = tile.lane, tile.unroll or ("", 1)
    lanes, vectors = filled(of.extent(var), width, machine.lanes(of.dtype))
    if along == var:  # vectors side by side
        vectors, along, count = vectors * count, "", 1
    elif len(of.reads) > 1 and all(uses(read, var) for read in of.reads):
        rest = of.extent(along) % count / of.extent(along)  # what is left over is not unrolled
        whole, alone = price_of_windows(of, tile, along, count), price_of_windows(of, tile, "", 1)
        return ((1 - rest) * whole + rest * alone) / lanes
    loads = max((_apart(read, tile) for read in of.reads if uses(read, var)), default=1)
    if tile.rest:
        whole, last = (instructions(lanes, vectors, n, loads) for n in (count, tile.rest))
        last = max(last, waiting(tile.rest * vectors) / lanes)
        alone = machine.threads > 1 and along == of.around[0].var  # one thread's, while others wait
        part = tile.rest / of.extent(along)
        return (REST if alone else SECOND) * (whole + part * (last - whole))
    rows, _ = filled(of.extent(along), count, count)
    rest = REST if of.extent(along) % count else 1
    return rest * instructions(lanes, vectors, rows, loads)


def price_of_windows(of: Reduction, tile: Tile, along: str, count: int) -> float:
    """The same where no operand is one number for all lanes, as in a depthwise convolution, for
    full vectors, with `count` results along a loop at a time.

    Then each multiply-add takes a vector of the image. But the windows of neighbours overlap: along
    the unrolled loop they share vectors, if the tile is small enough for LLVM to write it out. And
    if that is the outermost loop, the first cache gets what they share only once.
    """
    written_out = count * of.taps <= WRITTEN_OUT
    cost = 1.0
    for read in of.reads:
        moves = [o.var for o in of.around if o.var != tile.lane[0] and uses(read, o.var)]
        if not moves or along not in ("", *moves):
            cost += _apart(read, tile) / count
            continue
        windows = {var: of.window(read, var) for var in moves}
        step, span = windows.get(along, (1, 1))
        new = step + (span - step) / count  # elements along the loop, for each result
        outer, *others = moves
        fetched = new if outer == along else windows[outer][1]
        fetched *= math.prod(windows[var][0] for var in others)
        cost += _apart(read, tile) * (new / span if written_out else 1)
        cost += FETCHED * fetched / of.taps
    return cost


def _apart(read: Load, tile: Tile) -> int:
    """How many elements apart neighbouring lanes read: so many vectors are loaded."""
    packed = tile.pack is not None and read.buffer == tile.pack[0]
    return 1 if packed else stride(read, tile.lane[0]) or 1
