"""The tiles of a layer: the estimate proposes, the simulator decides.

    choose_tile(layer, npu)   ->   (Tile(4x56 pixels, 64 channels, ...), 118,200 clocks)

A few hundred tiles are legal; `estimate` orders them, and the best few are written out and timed
(their values do not matter, so nothing is computed). Next room: `vector.py`.
"""

from __future__ import annotations

import heapq
from functools import cache

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import Places, Program, emit
from course_lib.accelerator.compile.estimate import bound, estimate, folds
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import WS, Cut, Tile, candidates, smallest
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.core.simulate import times
from course_lib.accelerator.isa.instructions import Halt

NEVER = 1 << 62
FEW = 3  # tiles that are timed
EQUAL = 1.02  # estimates no further apart say nothing
GOOD = 1.03  # so near the roofline that no other is timed


class _Anywhere(dict):
    """Addresses for a program that is only timed."""

    def __missing__(self, key: object) -> int:
        return 0


@cache
def choose_tile(product: Product, chip: Chip) -> tuple[Tile, int]:
    """The tile with the fewest clocks among those that the estimate likes best, and its clocks when
    the layer runs alone. ValueError if not even the smallest fits."""
    chosen: tuple[int, int, Tile] | None = None
    for number, tile in enumerate(proposed(product, chip)):
        found = clocks(product, tile, chip)
        if chosen is None or found < chosen[0]:
            chosen = found, number, tile
        if found <= GOOD * bound(product, chip):
            break
    assert chosen is not None
    return chosen[2], chosen[0]


def proposed(product: Product, chip: Chip, count: int = FEW) -> list[Tile]:
    """The `count` tiles with the lowest estimates. Estimates within 2 % are equal: then the shorter
    program comes first."""
    flow = choose_dataflow(product, chip)
    found = [tile for tile in candidates(product, chip) if tile.dataflow == flow]
    found = found or [smallest(product, chip)]
    guesses = [estimate(product, tile, chip) for tile in found]
    least = EQUAL * min(guesses)

    def merit(number: int) -> tuple[float, int]:
        tile = found[number]
        length = Cut.of(product, tile, chip).blocks * folds(product, tile, chip)[0]
        return max(least, guesses[number]), length

    return [found[n] for n in heapq.nsmallest(count, range(len(found)), key=merit)]


def choose_dataflow(product: Product, chip: Chip) -> str:
    """What stays in the cells during a layer: the dataflow of the tile with the lowest estimate.
    Weights, where both are equal. With shadow weights they mostly win: nothing interrupts the
    array. Without, each fold costs its fill, and sums that stay have fewer folds."""
    least: dict[str, int] = {WS: NEVER}
    for tile in candidates(product, chip):
        least[tile.dataflow] = min(least.get(tile.dataflow, NEVER), estimate(product, tile, chip))
    return min(least, key=lambda flow: least[flow])


def clocks(product: Product, tile: Tile, chip: Chip) -> int:
    """What a layer takes alone on the chip, in these tiles."""
    return times(_somewhere(product, tile, chip), chip).total


def _somewhere(product: Product, tile: Tile, chip: Chip) -> Program:
    """The program of a layer, its operands and results in different places."""
    image = product.images * product.size[0] * product.size[1] * product.channels
    places = Places(x=0, weights=_Anywhere(), params=0, y=image)
    params = 8 * chip.cols * -(-product.outputs // chip.cols)
    size = max(image + product.pixels * product.outputs, params, chip.weights)
    return [*synchronize(emit(product, tile, chip, places), chip, size), Halt()]
