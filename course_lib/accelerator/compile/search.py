"""The tiles of a layer: the estimate proposes, the simulator decides.

    choose_tile(layer, npu)   ->   Tile(4x56 pixels, 64 channels, ...)
    clocks(layer, tile, npu)  ->   118,200

A few hundred tiles are legal; `estimate` orders them, and the best few are written out and timed
(their values do not matter, so nothing is computed). Next room: `vector.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import Places, Program, emit
from course_lib.accelerator.compile.estimate import bound, estimate, folds
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import (
    OS,
    PIXELS_FIRST,
    WS,
    Cut,
    Tile,
    fits,
    parts,
    smallest,
)
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.core.simulate import times
from course_lib.accelerator.isa.instructions import Halt
from course_lib.exercises import exercise, plugs_now

NEVER = 1 << 62
FEW = 3  # tiles that are timed
EQUAL = 1.02  # estimates no further apart say nothing
GOOD = 1.03  # so near the roofline that no other is timed


class _Anywhere(dict):
    """Addresses for a program that is only timed."""

    def __missing__(self, key: object) -> int:
        return 0


@exercise(
    "chip.tile",
    unit=13,
    points=5,
    kind="budget",
    baseline=smallest,
    uses=("chip.products", "chip.slots"),
)
def choose_tile(product: Product, chip: Chip) -> Tile:
    """TEXT"""
    return _searched(product, chip, tuple(plugs_now().items()))


@cache
def _searched(product: Product, chip: Chip, plugs: tuple[tuple[str, Callable], ...]) -> Tile:
    """The tile with the fewest clocks among those that the estimate likes best. Programs, and so
    their clocks, depend on what is plugged in."""
    chosen: tuple[int, int, Tile] | None = None
    for number, tile in enumerate(_proposed(product, chip)):
        found = clocks(product, tile, chip)
        if chosen is None or found < chosen[0]:
            chosen = found, number, tile
        if found <= GOOD * bound(product, chip):
            break
    assert chosen is not None
    return chosen[2]


def _proposed(product: Product, chip: Chip, count: int = FEW) -> list[Tile]:
    """The `count` tiles with the lowest estimates. Estimates within 2 % are equal: then the shorter
    program comes first."""
    flow = choose_dataflow(product, chip)
    found = [tile for tile in _candidates(product, chip) if tile.dataflow == flow]
    found = found or [smallest(product, chip)]
    guesses = [estimate(product, tile, chip) for tile in found]
    least = EQUAL * min(guesses)

    def merit(number: int) -> tuple[float, int]:
        tile = found[number]
        length = Cut.of(product, tile, chip).blocks * folds(product, tile, chip)[0]
        return max(least, guesses[number]), length

    return [found[n] for n in heapq.nsmallest(count, range(len(found)), key=merit)]


def _candidates(product: Product, chip: Chip) -> Iterator[Tile]:
    """Legal tiles worth a look, without those that differ in nothing but a ragged end."""
    wide = -(-product.outputs // chip.cols)
    for h, w in _areas(product, chip):
        flows = (WS, OS) if h * w <= chip.rows else (WS,)
        for channels in _channels(product, chip):
            for blocks in parts(wide, wide):
                tile = Tile(h, w, channels, blocks)
                for double in (True, False):
                    found = [replace(tile, double=double, dataflow=flow) for flow in flows]
                    found = [t for t in found if fits(product, t, chip)]
                    yield from found
                    cut = Cut.of(product, tile, chip)
                    if cut.groups > 1 and cut.blocks > 1:
                        yield from (replace(t, outer=PIXELS_FIRST) for t in found)
                    if found:
                        break


def _areas(product: Product, chip: Chip) -> Iterator[tuple[int, int]]:
    """Whole rows of pixels, as many as there are sums for; or parts of a row."""
    height, width = product.out
    if width <= chip.accs:
        for h in parts(height, chip.accs // width):
            yield h, width
    if height == 1 or width > chip.rows:
        for w in parts(width, min(width - 1, chip.accs)):
            if w >= min(chip.rows, 16):
                yield 1, w


def _channels(product: Product, chip: Chip) -> list[int]:
    """All of them; or as many as fill the rows of the array once, twice, three times, ..."""
    if product.depthwise:
        return [product.channels]
    steps = [chip.rows * f for f in (1, 2, 3, 4, 6, 8, 12, 16)]
    return [product.channels, *(s for s in steps if s < product.channels)]


def choose_dataflow(product: Product, chip: Chip) -> str:
    """What stays in the cells during a layer: the dataflow of the tile with the lowest estimate.
    Weights, where both are equal. With shadow weights they mostly win: nothing interrupts the
    array. Without, each fold costs its fill, and sums that stay have fewer folds."""
    least: dict[str, int] = {WS: NEVER}
    for tile in _candidates(product, chip):
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
