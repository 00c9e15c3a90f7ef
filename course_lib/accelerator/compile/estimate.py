"""How long a tiled layer takes, estimated without making it; and how fast it could be at best.

    estimate(layer, tile, npu)  ->  115,204 clocks          bound(layer, npu)  ->  112,896

Three things run side by side: the array, the port to DRAM, the output pipeline. A layer takes about
as long as the slowest, and as it takes until the array has something to do. Next room: `search.py`.
"""

from __future__ import annotations

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import OS, PIXELS_FIRST, Cut, Tile, footprint


def bound(product: Product, chip: Chip) -> int:
    """The machine's roofline, clocks: no program for this layer alone that multiplies all pairs is
    faster. Every cell busy, or the port busy with image, weights and result once each, whatever
    takes longer."""
    return max(-(-product.macs // chip.macs), -(-product.moved // chip.dma_bytes))


def estimate(product: Product, tile: Tile, chip: Chip) -> int:
    """Clocks of a layer in these tiles, about."""
    cut = Cut.of(product, tile, chip)
    array = _array(product, tile, chip, cut)
    patch, weights = port(product, tile, chip)
    wide = -(-product.outputs // chip.cols)
    results = -(-product.pixels * product.outputs // chip.dma_bytes)
    pipeline = product.pixels * wide + results
    dma = sum(count * clocks for count, clocks in (patch, weights)) + results
    if footprint(product, tile, chip).sum_slots == 1:  # the array waits for the output pipeline
        array += product.pixels * wide
    begin = patch[1] + weights[1] // tile.blocks + chip.dma_latency
    if not tile.double:
        return begin + array + dma + pipeline
    return begin + max(array, dma, pipeline) + chip.rows + chip.cols + tile.h * tile.w


def port(product: Product, tile: Tile, chip: Chip) -> tuple[tuple[int, int], tuple[int, int]]:
    """(how many loads, clocks of one) of pieces of image, and of weights."""
    cut, room = Cut.of(product, tile, chip), footprint(product, tile, chip)
    patches, weights = cut.patches, cut.groups * cut.chunks
    again = cut.groups, cut.blocks
    if product.depthwise:
        again = 1, cut.blocks
    if tile.outer == PIXELS_FIRST:
        kept = room.patches >= cut.chunks, room.weight_slots >= weights
    else:
        kept = room.patches >= patches, room.weight_slots >= cut.chunks
    counts = [
        once if keep else once * times
        for once, keep, times in zip((patches, weights), kept, again, strict=True)
    ]
    height = min(product.reach(0, tile.h), product.size[0])
    width = min(product.reach(1, tile.w), product.size[1])
    burst = cut.widest if cut.widest < product.channels else width * cut.widest
    image = height * width * cut.widest // burst * -(-burst // chip.dma_bytes)
    matrix = cut.rows * min(tile.blocks * chip.cols, product.outputs) // chip.dma_bytes
    return (counts[0], image), (counts[1], matrix)


def folds(product: Product, tile: Tile, chip: Chip) -> tuple[int, int]:
    """How often the weights in the array change for one block of pixels, and the products in one
    sum between two changes (output-stationary: how often sums leave it)."""
    cut = Cut.of(product, tile, chip)
    wide = -(-product.outputs // chip.cols)
    kh, kw = product.kernel
    run, runs = kw * cut.widest, kh * cut.chunks
    if product.depthwise or product.dilations[1] > 1:
        run, runs = (chip.cols if product.depthwise else cut.widest), kh * kw * cut.chunks
    steps = 1 if tile.dataflow == OS else -(-run // chip.rows)
    return wide * runs * steps, run // steps


def _array(product: Product, tile: Tile, chip: Chip, cut: Cut) -> int:
    """Clocks in which the array streams: its folds, each with its closed form."""
    count, depth = folds(product, tile, chip)
    if tile.dataflow == OS:
        return cut.blocks * count * (depth + chip.rows * (1 + chip.drain) + chip.cols - 2)
    if not chip.shadow:
        return count * (product.pixels + cut.blocks * (2 * chip.rows + chip.cols - 2))
    return count * max(product.pixels, cut.blocks * chip.rows)
