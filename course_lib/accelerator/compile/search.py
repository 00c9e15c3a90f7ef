"""The tiles of a layer: the estimate proposes, the simulator decides.

    choose_tile(layer, npu)   ->   Tile(8x56 pixels, 32 channels, ...)
    clocks(layer, tile, npu)  ->   116,034

A few hundred tiles are legal; `estimate` orders them, and the best few are written out and timed
(their values do not matter, so nothing is computed). Next room: `vector.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product as pairs

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import Order, Places, Program, emit
from course_lib.accelerator.compile.estimate import bound, estimate, folds
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import (
    OS,
    PIXELS_FIRST,
    WEIGHTS_FIRST,
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

FEW = 3  # tiles that are timed
EQUAL = 1.02  # estimates no further apart say nothing: the shorter program comes first
EMITTERS = ("chip.products", "chip.slots")  # what a program depends on, beside the tile
GOOD = 1.03  # so near the roofline that no other is timed
ORDERS = (WEIGHTS_FIRST, PIXELS_FIRST)


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
    """A tile of this layer for this chip: legal, and with few clocks.

    The tile must be one for which `fits(product, tile, chip)` is True: `footprint` raises no
    ValueError. Every layer for which `smallest(product, chip)` finds a tile must get one. Your
    points depend on `clocks(product, tile, chip)`, with your `products` and your `slots`, divided
    by the roofline `bound(product, chip)`. If the mean over six layers is 1.10 or less, you earn
    all points, and each hundredth above that costs 2 %, down to a quarter.
    `estimate(product, tile, chip)` is a quick guess. `clocks` writes the whole program and counts,
    so time only a few tiles of a layer.
    """
    candidates = list(_candidates(product, chip)) or [smallest(product, chip)]
    guesses = {tile: estimate(product, tile, chip) for tile in candidates}
    least = EQUAL * min(guesses.values())

    def merit(tile: Tile) -> tuple[float, int]:
        length = Cut.of(product, tile, chip).blocks * folds(product, tile, chip)[0]
        return max(least, guesses[tile]), length

    few = heapq.nsmallest(FEW, candidates, key=merit)
    near = (t for t in few if clocks(product, t, chip) <= GOOD * bound(product, chip))
    return next(near, None) or min(few, key=lambda t: clocks(product, t, chip))


def _candidates(product: Product, chip: Chip) -> Iterator[Tile]:
    """Legal tiles worth a look; one that finds no room for two slots is tried with one."""
    flow, wide = choose_dataflow(product, chip), -(-product.outputs // chip.cols)
    for (h, w), channels, blocks, outer in pairs(
        _areas(product, chip), _channels(product, chip), parts(wide, wide), ORDERS
    ):
        tile = Tile(h, w, channels, blocks, outer, flow)
        cut = Cut.of(product, tile, chip)
        if outer == PIXELS_FIRST and 1 in (cut.groups, cut.blocks):
            continue  # the same program
        for one in (tile, replace(tile, double=False)):
            if fits(product, one, chip):
                yield one
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
    return: the fewest clocks divided by yours, on average. From 0.97 on you earn all points, and
    each hundredth below that costs 20 %, down to nothing.
    """
    # on the layers of ResNet-18 and MobileNetV2 without shadow weights: 1 % above the best choices
    long = product.depth >= 4 * chip.rows
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
