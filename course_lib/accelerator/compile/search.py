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
from course_lib.accelerator.compile.emit import Order, Places, Program, emit
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
from course_lib.exercises import exercise, slot

NEVER = 1 << 62
FEW = 3  # tiles that are timed
EQUAL = 1.02  # estimates no further apart say nothing
EMITTERS = ("chip.products", "chip.slots")  # what a program depends on, beside the tile
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
    least, chosen = NEVER, None
    for tile in _proposed(product, chip):
        found = clocks(product, tile, chip)
        if found < least:
            least, chosen = found, tile
        if found <= GOOD * bound(product, chip):
            break
    assert chosen is not None
    return chosen


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


def weights_stay(product: Product, chip: Chip) -> str:
    """Always weight-stationary."""
    return WS


@exercise("chip.dataflow", unit=13, points=2, kind="budget", baseline=weights_stay, further=True)
def choose_dataflow(product: Product, chip: Chip) -> str:
    """What stays in the cells during a layer: "ws" for its weights, "os" for its sums.

    With shadow weights, the next weights move in while pixels stream. Without them, every change
    of weights costs a load and a fill, and sums that stay change less often if they are long. Your
    points depend on the clocks of a list of layers, each with a good tile for the dataflow that you
    return: the sum of the fewest clocks divided by the sum of yours. From 0.97 on you earn all
    points, and each hundredth below that costs 10 %, down to nothing.
    """
    # on the layers of ResNet-18 and MobileNetV2 without shadow weights: 1 % above the best choices
    long = not product.depthwise and product.depth >= 4 * chip.rows
    few = product.pixels <= 5 * chip.rows
    return OS if long and few and not chip.shadow else WS


def clocks(product: Product, tile: Tile, chip: Chip) -> int:
    """What a layer takes alone on the chip, in these tiles."""
    return _clocks(product, tile, chip, tuple(slot(name).run for name in EMITTERS))


@cache
def _clocks(product: Product, tile: Tile, chip: Chip, emitters: tuple[Callable, ...]) -> int:
    """Remembered for as long as the same functions emit the program."""
    return times(alone(product, tile, chip), chip).total


def alone(product: Product, tile: Tile, chip: Chip, order: Order | None = None) -> Program:
    """The program of a layer by itself, its operands and results in different places."""
    image = product.images * product.size[0] * product.size[1] * product.channels
    places = Places(x=0, weights=_Anywhere(), params=0, y=image)
    params = 8 * chip.cols * -(-product.outputs // chip.cols)
    size = max(image + product.pixels * product.outputs, params, chip.weights)
    return [*synchronize(emit(product, tile, chip, places, order), chip, size), Halt()]
