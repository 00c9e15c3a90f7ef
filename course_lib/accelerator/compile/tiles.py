"""Tiles: how much of a layer is on the chip at once, and which of them are legal.

    footprint(layer, Tile(h=4, w=56, channels=64, blocks=2), npu)
    ->   Footprint(patch=24,576 bytes x 2, out=8,192, weights=65,536, slots of sums: 4)

A tile is h x w pixels of the result, `channels` of the sum, and `blocks` columns of the array wide.
Each SRAM is cut into slots of whole banks, so that an engine that fills one slot does not stop one
that reads another. Next room: `walk.py`, the order in which tiles come.

Reading path of the chip, 6 of 12; next: `accelerator/compile/walk.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Product

WS, OS = "ws", "os"
WEIGHTS_FIRST, PIXELS_FIRST = "weights", "pixels"


@dataclass(frozen=True)
class Tile:
    """h, w       pixels of the result        channels  of the sum (a depthwise layer has its own)
    blocks     blocks of `cols` output channels that share one piece of the image
    outer      "weights": all pixels for some weights, then the next weights; "pixels": the opposite
    dataflow   "ws": weights stay in the cells; "os": sums do
    double     the next tile is loaded during this one: every operand has two slots at least
    """

    h: int
    w: int
    channels: int
    blocks: int = 1
    outer: str = WEIGHTS_FIRST
    dataflow: str = WS
    double: bool = True

    def __str__(self) -> str:
        twice = "" if self.double else ", not double-buffered"
        blocks = "1 block" if self.blocks == 1 else f"{self.blocks} blocks"
        return (
            f"{self.h}x{self.w} pixels, {self.channels} channels, {blocks}, "
            f"{self.outer} outside, {self.dataflow}{twice}"
        )


@dataclass(frozen=True)
class Footprint:
    """Sizes of one slot, and how many there are. Bytes, but `sums`: rows of accumulators; `params`:
    entries. There is one slot for results: `act` and `st` are on one engine, one after another."""

    patch: int
    patches: int
    out: int
    weights: int
    weight_slots: int
    sums: int
    sum_slots: int
    params: int
    param_slots: int


def footprint(product: Product, tile: Tile, chip: Chip) -> Footprint:
    """What a tile takes of the chip. ValueError that names the memory that is too small."""
    height, width = product.reach(0, tile.h), product.reach(1, tile.w)
    cut = Cut.of(product, tile, chip)
    bank = [chip.size(m) // chip.bank_count(m) for m in ("weights", "acts")]
    patch = _whole(height * width * cut.widest, bank[1])
    out = _whole(tile.h * tile.w * min(chip.cols, product.outputs), bank[1])
    weights = _whole(tile.blocks * cut.rows * chip.cols, bank[0])
    sums = _whole(tile.h * tile.w, chip.accs // chip.bank_count("accs"))
    wanted = cut.groups * cut.chunks if tile.double else 1
    patches = _slots("acts", chip.acts - out, patch, tile, cut.patches)
    weight_slots = _slots("weights", chip.weights, weights, tile, wanted)
    params = _slots("params", chip.params, tile.blocks, tile, cut.groups)
    sum_slots = chip.accs // sums
    if sum_slots < (tile.blocks if cut.chunks > 1 else 1):
        raise ValueError(f"accs: {tile.blocks} blocks of {sums} rows, but there are {chip.accs}")
    if tile.dataflow == OS and tile.h * tile.w > chip.rows:
        raise ValueError(f"output-stationary: {tile.h * tile.w} pixels for {chip.rows} rows")
    return Footprint(
        patch, patches, out, weights, weight_slots, sums, sum_slots, tile.blocks, params
    )


@dataclass(frozen=True)
class Cut:
    """Into how many pieces a tile cuts a layer.

    rows, columns  blocks of pixels along y and x     groups  of output channels
    chunks         of the sum                         widest  channels of a patch at most
    rows           of weights for one block of output channels, at most
    """

    images: int
    tall: int
    wide: int
    groups: int
    chunks: int
    widest: int
    rows: int
    depthwise: bool

    @staticmethod
    def of(product: Product, tile: Tile, chip: Chip) -> Cut:
        group = tile.blocks * chip.cols
        taps = product.kernel[0] * product.kernel[1]
        widest = min(group if product.depthwise else tile.channels, product.channels)
        return Cut(
            product.images, -(-product.out[0] // tile.h), -(-product.out[1] // tile.w),
            -(-product.outputs // group),
            1 if product.depthwise else -(-product.channels // tile.channels),
            widest, taps * (min(chip.cols, product.channels) if product.depthwise else widest),
            product.depthwise,
        )  # fmt: skip

    @property
    def blocks(self) -> int:
        """Blocks of pixels."""
        return self.images * self.tall * self.wide

    @property
    def patches(self) -> int:
        """Different pieces of image in the whole layer."""
        return self.blocks * (self.groups if self.depthwise else self.chunks)


def smallest(product: Product, chip: Chip) -> Tile:
    """The baseline: few pixels and few channels, with a second slot for each operand where there is
    room. ValueError that names the memory if not even one pixel fits."""
    channels = min(product.channels, chip.rows)
    wide = Tile(1, min(product.out[1], chip.rows), channels)
    for tile in (wide, replace(wide, double=False), replace(wide, w=1)):
        if fits(product, tile, chip):
            return tile
    footprint(product, tile := replace(wide, w=1, double=False), chip)
    return tile


def fits(product: Product, tile: Tile, chip: Chip) -> bool:
    """Is there room for it?"""
    try:
        footprint(product, tile, chip)
    except ValueError:
        return False
    return True


def parts(whole: int, most: int) -> list[int]:
    """Even parts of `whole`, not above `most`, each a good deal smaller than the one before:
    10 -> 10, 5, 4, 3, 2, 1."""
    sizes: list[int] = []
    for part in sorted({-(-whole // many) for many in range(1, whole + 1)}, reverse=True):
        if part <= most and (not sizes or part <= 0.85 * sizes[-1]):
            sizes.append(part)
    return sizes


def _slots(memory: str, room: int, size: int, tile: Tile, wanted: int) -> int:
    """How many slots there are, but not more than there is to hold."""
    least = 2 if tile.double and wanted > 1 else 1
    if room < least * size:
        raise ValueError(f"{memory}: {least} x {size:,} do not fit into {room:,}: {tile}")
    return min(room // size, max(1, wanted)) if tile.double else 1


def _whole(size: int, bank: int) -> int:
    return -(-size // bank) * bank
