"""Answers to chip.dataflow, wrong and right."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutants
from course_lib.accelerator.compile.estimate import bound, estimate
from course_lib.accelerator.compile.tiles import Tile, fits

mutants(
    "chip.dataflow",
    weights_always=lambda product, chip: "ws",
    sums_always=lambda product, chip: "os",
    # Looks at the chip only.
    sums_without_shadow_weights=lambda product, chip: "ws" if chip.shadow else "os",
    # As if reads of memory were the price.
    what_is_larger_stays=lambda product, chip: "ws" if product.depth > product.pixels else "os",
    # Forgets that with shadow weights nothing is paid for a change, and how many pixels share one.
    long_sums_stay=lambda product, chip: "os" if product.depth >= 256 else "ws",
    few_pixels_on_every_chip=lambda product, chip: "os" if product.pixels <= 128 else "ws",
    # Forgets the length of the sum.
    few_pixels_without_shadow_weights=lambda product, chip: (
        "os" if product.pixels <= 160 and not chip.shadow else "ws"),
    # Bound by the port or by the cells.
    the_roofline_decides=lambda product, chip: (
        "os" if bound(product, chip) * chip.macs > product.macs else "ws"),
)  # fmt: skip


def _clocks(product, chip, flow, pixels):
    """Folds, each with its closed form."""
    wide, blocks = -(-product.outputs // chip.cols), -(-product.pixels // pixels)
    taps = product.kernel[0] * product.kernel[1]
    depth = taps * (chip.cols if product.depthwise else product.channels)
    if flow == "os":
        runs = taps if product.depthwise else product.kernel[0]
        fill = chip.rows * (1 + chip.drain) + chip.cols - 2
        return wide * blocks * (depth + runs * fill)
    folds = wide * -(-depth // chip.rows)
    if chip.shadow:
        return folds * max(product.pixels, blocks * chip.rows)
    return folds * (product.pixels + blocks * (2 * chip.rows + chip.cols - 2))


@alternative("chip.dataflow")
def closed_forms(product, chip):
    """Whole rows of the result, as far as the sums have room."""
    width = product.out[1]
    one = width * max(1, min(product.out[0], chip.accs // 2 // width)) if width <= chip.accs else 32
    ws = max(bound(product, chip), _clocks(product, chip, "ws", one))
    os = max(bound(product, chip), _clocks(product, chip, "os", min(chip.rows, width)))
    return "os" if os < ws else "ws"


@alternative("chip.dataflow")
def by_the_estimate(product, chip):
    """The lowest estimate of a few tiles for each."""

    def least(flow, sizes):
        tiles = [Tile(h, w, channels, blocks, outer, flow) for h, w in sizes
                 for channels in (32, 64, 96, product.channels) for blocks in (1, 2, 4)
                 for outer in ("weights", "pixels")]  # fmt: skip
        tiles = [t for t in tiles if fits(product, t, chip)]
        return min((estimate(product, t, chip) for t in tiles), default=1 << 60)

    height, width = product.out
    rows = [(h, width) for h in range(1, height + 1)] + [(1, w) for w in (16, 32, 49, 98, 196)]
    small = [(h, w) for h, w in rows if h * w <= chip.rows]
    return "os" if least("os", small) < least("ws", rows) else "ws"


@alternative("chip.dataflow")
def case_by_case(product, chip):
    """A rule that was read off the table."""
    if chip.shadow or product.depthwise or product.pixels > 150:
        return "ws"
    return "os" if product.channels * product.kernel[0] * product.kernel[1] > 100 else "ws"


equivalent("chip.dataflow", "product.depth >= 4 * chip.rows", "product.depth",
           "product.pixels <= 5 * chip.rows", "product.pixels",
           because="the clocks of layers near the boundary differ little")  # fmt: skip
