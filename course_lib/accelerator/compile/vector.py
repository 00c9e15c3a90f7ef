"""What needs no window of weights: sums of two tensors, ReLU, the largest of a window, the mean.

    add_quantized(x, y)   ->   lda x; lda y; vadd; st      piece by piece, two pieces in turns
    max_pool              ->   lda with a border of -128; vmax; st
    mean of an image      ->   a product: ones [1, pixels] x image [pixels, channels]

The output pipeline does the first three, on the engine that also stores. Next room: `layer.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as pairs

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.emit import (
    Places,
    Program,
    Work,
    ahead,
    load_patch,
    store_block,
)
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import Tile
from course_lib.accelerator.compile.walk import blocks, spans
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St, Vadd, Vmax

PIECE = 1 << 15  # bytes; an instruction can count to twice that
LOWEST = -128


def emit_add(
    size: int, chip: Chip, places: Places, y: int | None, scales: tuple[float, float]
) -> Program:
    """The sum of `size` bytes at places.x and at `y`, each times its scale; of one tensor alone if
    `y` is None. The result replaces the first operand on the chip."""
    operands = [places.x] if y is None else [places.x, y]
    quarter = chip.acts // 4
    origin = places.origin

    def step(number: int, first: int, end: int) -> Work:
        at = number % 2 * 2 * quarter
        many = end - first
        flat = {"h": 1, "w": 1, "bytes": many, "step": many, "line": many, "origin": origin}
        loads = [Lda(dram=x + first, acts=at + k * quarter, **flat) for k, x in enumerate(operands)]
        summed = Vadd(
            a=at, b=at + (len(operands) - 1) * quarter, acts=at, size=many, sa=scales[0],
            sb=scales[1], low=places.low, high=places.high, origin=origin,
        )  # fmt: skip
        return Work([*loads], [summed, St(acts=at, dram=places.y + first, **flat)])

    pieces = spans(size, min(quarter, PIECE))
    return ahead(step(number, *piece) for number, piece in enumerate(pieces))


def pool_tile(product: Product, chip: Chip) -> Tile:
    """As much of the image as leaves room for two pieces and a result. ValueError if nothing
    does."""
    height, width = product.out
    areas = [(h, width) for h in range(height, 0, -1)]
    areas += [(1, w) for w in range(width - 1, 0, -1)]
    for channels in (product.channels, *range(256, 31, -32), *range(31, 0, -1)):
        for h, w in areas if channels <= product.channels else ():
            patch = product.reach(0, h) * product.reach(1, w) * channels
            if 2 * patch + h * w * channels <= chip.acts:
                return Tile(h, w, channels)
    raise ValueError("acts: two windows of one channel do not fit")


def emit_pool(product: Product, chip: Chip, places: Places) -> Program:
    """The largest of each window; numbers of the border never win."""
    tile = pool_tile(product, chip)
    patch = product.reach(0, tile.h) * product.reach(1, tile.w) * tile.channels

    def steps() -> Iterator[Work]:
        number = 0
        for span in spans(product.channels, tile.channels):
            for block in blocks(product, tile):
                at, c = number % 2 * patch, span[1] - span[0]
                number += 1
                width = product.patch(block)[1]
                pooled = Vmax(
                    src=at, acts=2 * patch, h=block.h, w=block.w, bytes=c,
                    step=product.strides[1] * c, line=product.strides[0] * width * c,
                    kh=product.kernel[0], kw=product.kernel[1], kline=width * c,
                    origin=places.origin,
                )  # fmt: skip
                load = load_patch(product, block, span, places.x, at, places.origin, LOWEST)
                yield Work([load], [pooled, store_block(product, block, span, 2 * patch, places)])

    return ahead(steps())


def emit_mean(product: Product, chip: Chip, places: Places, ones: int) -> Program:
    """For each image and channel the sum of all pixels, rescaled: the image takes the place of the
    weights, `pixels` ones at `ones` in DRAM that of an image."""
    pixels = product.size[0] * product.size[1]
    row = Lda(
        dram=ones, acts=0, h=1, w=1, bytes=pixels, step=pixels, line=pixels, origin=places.origin
    )
    jobs = pairs(range(product.images), spans(product.channels, chip.cols))
    steps = (
        _mean_of_channels(product, chip, places, number % 2, *job)
        for number, job in enumerate(jobs)
    )
    return [row, *ahead(steps)]


def _mean_of_channels(
    product: Product,
    chip: Chip,
    places: Places,
    half: int,
    image: int,
    channels: tuple[int, int],
) -> Work:
    """One block of channels of one image, in one half of the weights and of the accumulators."""
    pixels, (first, end), origin = product.size[0] * product.size[1], channels, places.origin
    n, base, sums = end - first, half * (chip.weights // 2), half * (chip.accs // 2)
    scale = places.params + first // chip.cols * 8 * chip.cols
    loads: Program = [
        Ldw(dram=places.x + image * pixels * product.channels + first, weights=base, rows=pixels,
            bytes=n, pitch=product.channels, origin=origin),
        Ldb(dram=scale, params=half, count=1, origin=origin),
    ]  # fmt: skip
    work: Program = []
    for low, high in spans(pixels, chip.rows):
        k = high - low
        work += [
            Preload(weights=base + low * n, k=k, n=n, pitch=n, origin=origin),
            Matmul(acts=low, h=1, w=1, step=0, line=0, k=k, n=n, accs=sums, add=int(low > 0),
                   origin=origin),
        ]  # fmt: skip
    out = {"acts": chip.acts - chip.cols, "h": 1, "w": 1, "step": n, "line": n, "origin": origin}
    y = places.y + image * product.channels + first
    act = Act(accs=sums, n=n, params=half, low=places.low, high=places.high, **out)
    return Work(loads, [*work, act, St(dram=y, bytes=n, **out)])


def mean_refused(product: Product, chip: Chip) -> str:
    """Why the mean of such images is not for this chip; "" if it is."""
    pixels = product.size[0] * product.size[1]
    most = min(chip.weights // (2 * chip.cols), chip.acts - 2 * chip.cols)
    return "" if pixels <= most else f"{pixels:,} pixels to an image, {most:,} fit"
