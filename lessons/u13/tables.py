"""The tables of unit 13: layers, their clocks, and what the compiler's pieces change.

Next room: autograder/units/u13/checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.estimate import bound, estimate
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.accelerator.compile.products import sums_stay
from course_lib.accelerator.compile.search import alone, clocks
from course_lib.accelerator.compile.slots import Placed, one_slot
from course_lib.accelerator.compile.tiles import Tile, footprint, smallest
from course_lib.accelerator.core.simulate import Run, times
from course_lib.accelerator.isa.instruction import ENGINES
from course_lib.accelerator.isa.instructions import ROWS
from course_lib.accelerator.isa.state import State
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.exercises import plugged, slot
from lessons.bill import bill_of
from lessons.u13.words import fields_of

NPU = PRESETS["npu"]
Choose = Callable[[Product, Chip], Tile]


def square(
    channels: int, size: int, outputs: int, kernel: int = 3, stride: int = 1, *,
    dilation: int = 1, images: int = 1, depthwise: bool = False,
) -> Product:  # fmt: skip
    """A convolution of square images, with a border of half the window."""
    border, out = dilation * (kernel // 2), (size - 1) // stride + 1
    return Product(images, (size, size), channels, (out, out), outputs, (kernel, kernel),
                   (stride, stride), (border, border), (border, border), (dilation, dilation),
                   depthwise)  # fmt: skip


# The matrix products of ResNet-18: name, how many such layers there are, the layer.
RESNET: tuple[tuple[str, int, Product], ...] = (
    ("conv1", 1, square(3, 224, 64, 7, 2)),
    ("layer1, 3 × 3", 4, square(64, 56, 64, 3)),
    ("layer2, first 3 × 3", 1, square(64, 56, 128, 3, 2)),
    ("layer2, 3 × 3", 3, square(128, 28, 128, 3)),
    ("layer2, 1 × 1", 1, square(64, 56, 128, 1, 2)),
    ("layer3, first 3 × 3", 1, square(128, 28, 256, 3, 2)),
    ("layer3, 3 × 3", 3, square(256, 14, 256, 3)),
    ("layer3, 1 × 1", 1, square(128, 28, 256, 1, 2)),
    ("layer4, first 3 × 3", 1, square(256, 14, 512, 3, 2)),
    ("layer4, 3 × 3", 3, square(512, 7, 512, 3)),
    ("layer4, 1 × 1", 1, square(256, 14, 512, 1, 2)),
    ("fc", 1, matrix(1, 512, 1000)),
)
LAYER, LAST = RESNET[6][2], RESNET[9][2]


MEANING = {
    "ldw": "weights from DRAM",
    "lda": "a piece of an image from DRAM, with a border",
    "ldb": "biases and scales from DRAM",
    "preload": "weights into the cells",
    "matmul": "pixels through the cells; the weights stay",
    "matmul_os": "pixels and weights through the cells; the sums stay",
    "act": "sums to bytes: bias, scale, rounding, limits",
    "vadd": "the sum of two images",
    "vmax": "the largest of each window",
    "st": "bytes to DRAM",
    "stacc": "sums to DRAM as they are",
    "halt": "the end",
}


def instructions() -> Picture:
    """The twelve instructions, with the bits that each of them uses of its word."""
    rows = [[row.name, row.engine, MEANING[row.name], sum(width for _, width, _ in fields_of(row))]
            for row in ROWS]  # fmt: skip
    return table(rows, ["instruction", "engine", "meaning", "bits"])


def plain(product: Product, chip: Chip = NPU) -> int:
    """Clocks of a layer when nothing is plugged in: sums stay, one slot, the smallest tile."""
    with plugged("chip.products", sums_stay), plugged("chip.slots", one_slot):
        return clocks(product, smallest(product, chip), chip)


def run_of(product: Product, tile: Tile, chip: Chip = NPU) -> Run:
    """A layer alone on the chip: its clocks, no values."""
    program = alone(product, tile, chip)
    return Run(chip, program, times(program, chip), State(chip, np.zeros(1, np.int8)))


def limits_table() -> Picture:
    """Two layers of MobileNetV2: what each engine does, in our best tiles."""
    rows = []
    for name, product, tile in LIMITS:
        run, least = run_of(product, tile), bound(product, NPU)
        busy = [run.stalls(engine)["busy"] for engine in ENGINES]
        rows.append([name, run.total, least, run.total / least, *busy])
    heads = ["layer", "clocks", "roofline", "clocks / roofline", *(f"{e} busy" for e in ENGINES)]
    exact = ("clocks", "roofline", *heads[4:])
    return table(rows, heads, exact=exact)


# Two layers of MobileNetV2, and the tiles that our search finds for them.
LIMITS = (
    ("depthwise", square(144, 56, 144, depthwise=True), Tile(6, 56, 144)),
    ("expand", matrix(3136, 24, 144), Tile(1, 314, 24, 3, "pixels")),
)  # fmt: skip


OURS = 2_112_225  # clocks of RESNET with our products, slots and tiles
# and with our products in the smallest tiles and two slots: in turns; what comes back is kept
IN_TURNS, KEPT = 9_166_115, 8_203_043
OUR_MOBILENET = 1_580_499  # clocks of the whole MobileNetV2 as the course's compiler leaves it


def question() -> Picture:
    """The layer of the opening question: nothing of the unit plugged in, ours, the roofline."""
    rows = [["without this unit's pieces", plain(LAYER)], ["with ours", 115_782],
            ["roofline", bound(LAYER, NPU)]]  # fmt: skip
    return table(rows, ["[196, 2304] × [2304, 256] as a convolution", "clocks"], exact=("clocks",))


def products_table() -> Picture:
    """Four layers in the smallest tile with one slot: sums stay, and the weights do."""
    rows = []
    for name, _, product in (RESNET[n] for n in (0, 1, 6, 9)):
        with plugged("chip.slots", one_slot):
            rows.append([name, plain(product), clocks(product, smallest(product, NPU), NPU)])
    heads = ["layer of ResNet-18", "sums stay", "your products"]
    return table(rows, heads, exact=heads[1:])


def tiles_table(tiles: list[Tile], product: Product = LAYER) -> Picture:
    """What fits, what is guessed, and what the simulator counts."""
    rows: list[list[str | int | None]] = []
    for tile in tiles:
        room = refusal(product, tile)
        known = [count(product, tile, NPU) if room == "fits" else None
                 for count in (estimate, clocks)]  # fmt: skip
        rows.append([str(tile), room, *known])
    return table(rows, ["tile", "", "estimate", "clocks"], exact=("estimate", "clocks"))


def chips_table(chips: Mapping[str, Chip], choose: Choose) -> Picture:
    """Two layers on several chips, each in the tiles that are chosen for that chip."""
    rows: list[list[str | int]] = []
    for name, chip in chips.items():
        took = [(clocks(layer, choose(layer, chip), chip), bound(layer, chip))
                for layer in (LAYER, LAST)]  # fmt: skip
        rows.append([name, *(number for pair in took for number in pair)])
    heads = [
        f"{layer} ({what})" for layer in ("layer3", "layer4") for what in ("clocks", "roofline")
    ]
    return table(rows, ["chip", *heads], exact=heads)


def refusal(product: Product, tile: Tile) -> str:
    try:
        footprint(product, tile, NPU)
    except ValueError as error:
        return str(error).split(":")[0] + ": too small"
    return "fits"


def lost_to_one_slot() -> float:
    """Of the clocks of RESNET above the roofline, the share that more slots save, %."""
    least = total(lambda product: bound(product, NPU))
    with plugged("chip.slots", one_slot):
        one = total(lambda product: clocks(product, smallest(product, NPU), NPU))
    more = total(lambda product: clocks(product, smallest(product, NPU), NPU))
    return 100 * (one - more) / (total(plain) - least)


def total(clocks_of: Callable[[Product], int]) -> int:
    """The clocks of all products of ResNet-18, one after another."""
    return sum(many * clocks_of(product) for _, many, product in RESNET)


def in_turns(wanted: list[int], count: int) -> Placed:
    """Two slots in turns, and nothing is kept that comes back later: plain double buffering."""
    placed = [(0, True)]
    for before, piece in pairwise(wanted):
        load = piece != before
        placed.append(((placed[-1][0] + load) % min(2, count), load))
    return placed[: len(wanted)]


def your_slots() -> Callable[[list[int], int], Placed]:
    """What is plugged in, as it was typed: it may be wrapped and plugged in again."""
    return slot("chip.slots").plugged or slot("chip.slots").reference


def two_of(slots: Callable[[list[int], int], Placed]) -> Callable[[list[int], int], Placed]:
    """Those slots, but no more than two."""
    return lambda wanted, count: slots(wanted, min(2, count))


def bill(choose: Choose) -> Picture:
    """The layer of the question and all products of ResNet-18, piece by piece; what ResNet-18
    takes with two slots is recorded."""

    def small(product: Product) -> int:
        return clocks(product, smallest(product, NPU), NPU)

    def best(product: Product) -> int:
        return clocks(product, choose(product, NPU), NPU)

    rows: list[list[str | int | float]] = []
    least, most = total(lambda product: bound(product, NPU)), total(plain)

    def add(name: str, clocks_of: Callable[[Product], int], known: int = 0) -> None:
        all_of = known or total(clocks_of)
        rows.append([name, clocks_of(LAYER), all_of, 100 * (most - all_of) / (most - least)])

    add("without this unit's pieces", plain)
    with plugged("chip.slots", one_slot):
        add("+ your products", small)
    with plugged("chip.slots", in_turns):
        add("+ two slots in turns (ours)", small, IN_TURNS)
    with plugged("chip.slots", two_of(your_slots())):
        add("+ what comes back is kept (ours)", small, KEPT)
    add("+ more slots: yours", small)
    add("+ your tiles", best)
    with plugged("chip.slots", one_slot):
        add("your tiles and products, one slot", best)
    add("ours", lambda _: 115_782, OURS)
    add("roofline", lambda product: bound(product, NPU))
    heads = ["", "layer3, 3 × 3 (clocks)", "ResNet-18 (clocks)", "saved so far (%)"]
    return bill_of(rows, heads)
