"""The order in which tiles come.

    for step in walk(layer, tile, chip): ...      block of pixels, group of outputs, chunk of sums

Next room: `slots.py`, what is still on the chip from before.

Reading path of the chip, 7 of 12; next: `accelerator/compile/emit.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
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
