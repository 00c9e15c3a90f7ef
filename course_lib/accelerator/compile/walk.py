"""The order in which tiles come, and what is still on the chip from before.

    for step in walk(layer, tile, chip): ...      block of pixels, group of outputs, chunk of sums

    ring = Ring(2, base=0, size=8192)
    ring.take("a")  ->  (0, True)        ring.take("b")  ->  (8192, True)
    ring.take("a")  ->  (0, False)

An SRAM is a ring of slots: what is wanted again and still there is not loaded again; what was not
wanted for the longest time makes room. What the step before used is therefore never overwritten
if there are two slots: so the next step may be loaded during this one. Next room: `emit.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product as pairs
from typing import NamedTuple

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Block, Product
from course_lib.accelerator.compile.tiles import WEIGHTS_FIRST, Cut, Tile


class Step(NamedTuple):
    """One group of output channels for one block of pixels, and of its sums the part that one chunk
    of input channels gives. Channels are (first, end)."""

    block: Block
    outputs: tuple[int, int]
    inputs: tuple[int, int]
    first: bool  # these sums begin here
    last: bool  # and are complete behind it


def walk(product: Product, tile: Tile, chip: Chip) -> Iterator[Step]:
    """All steps of a layer; the chunks of a sum come one after another."""
    cut = Cut.of(product, tile, chip)
    groups = spans(product.outputs, tile.blocks * chip.cols)
    chunks = spans(product.channels, tile.channels)
    if tile.outer == WEIGHTS_FIRST:
        order = ((b, g) for g in groups for b in blocks(product, tile))
    else:
        order = ((b, g) for b in blocks(product, tile) for g in groups)
    for block, group in order:
        for chunk in [group] if product.depthwise else chunks:
            first, last = chunk[0] == 0, chunk[1] == product.channels
            yield Step(block, group, chunk, first or cut.chunks == 1, last or cut.chunks == 1)


def blocks(product: Product, tile: Tile) -> Iterator[Block]:
    """The blocks of pixels of all images."""
    tall, wide = spans(product.out[0], tile.h), spans(product.out[1], tile.w)
    for image, (y, y_end), (x, x_end) in pairs(range(product.images), tall, wide):
        yield Block(image, y, y_end - y, x, x_end - x)


def spans(whole: int, part: int) -> list[tuple[int, int]]:
    """(first, end) of each part: spans(10, 4) -> (0, 4), (4, 8), (8, 10)."""
    return [(at, min(at + part, whole)) for at in range(0, whole, part)]


@dataclass(eq=False)
class Ring:
    """Slots of equal size in one memory; the one that was not used for the longest time is next."""

    slots: int
    base: int
    size: int

    def __post_init__(self) -> None:
        self.held: OrderedDict[Hashable, int] = OrderedDict()

    def take(self, key: Hashable) -> tuple[int, bool]:
        """Where `key` is from now on, and whether it must be loaded."""
        if key in self.held:
            self.held.move_to_end(key)
            return self.held[key], False
        full = len(self.held) == self.slots
        at = self.held.popitem(last=False)[1] if full else self.base + len(self.held) * self.size
        self.held[key] = at
        return at, True
