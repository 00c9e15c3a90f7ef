"""Visible checks of unit 13: tiles that fit the chip, and few clocks.

`legal`, `distance` and `worth` judge an answer, here and in the hidden checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from autograder.check.alarm import alarm
from autograder.check.answer import Answer
from autograder.check.framework import Crashed, Score, Stop, Wrong, background, checks
from autograder.check.judging import judge
from autograder.check.shown import error_text, returned
from autograder.check.verdict import PASSED
from course_lib import exercises
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.estimate import bound, estimate
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.accelerator.compile.search import EMITTERS, clocks
from course_lib.accelerator.compile.tiles import Tile, fits, footprint, smallest
from course_lib.accelerator.isa.fault import Fault
from lessons.u13.tables import square

LEGAL = ("The tile must be one for which `fits(product, tile, chip)` is True: `footprint` raises "
         "no ValueError", "A tile of this layer for this chip: legal, and with few clocks"
         )  # fmt: skip
EVERY = "Every layer for which `smallest(product, chip)` finds a tile must get one"
POINTS = ("Your points depend on `clocks(product, tile, chip)`, with your `products` and your "
          "`slots`, divided by the roofline `bound(product, chip)`", "If the mean over six layers "
          "is 1.10 or less, you earn all points, and each hundredth above that costs 2 %, down to "
          "a quarter")  # fmt: skip
background("chip.tile", "`estimate(product, tile, chip)` is a quick guess", because="about a "
           "function of the library")  # fmt: skip
background("chip.tile", "`clocks` writes the whole program ... of a layer", because="advice")

NPU = PRESETS["npu"]
SECONDS = 20  # for the checks of another answer
GOOD = 1.10  # clocks / roofline, on average
HOPELESS = 10  # one layer so far from its roofline leaves a quarter of the points, timed or not
SMALLER = Chip("smaller", 8, 8, weights=4096, acts=2048, accs=64, params=8, banks=(2, 4, 2))


Pair = tuple[int, int]


def windowed(images: int, size: Pair, channels: int, outputs: int, kernel: Pair, strides: Pair,
             border: int, dilations: Pair, depthwise: bool) -> Product:  # fmt: skip
    """A layer whose images have this border, or as much of it as the window can reach from the
    image; a side that is shorter than the window has more of it at the end."""
    reach = [dilations[x] * (kernel[x] - 1) for x in (0, 1)]
    low = [min(border, reach[x]) for x in (0, 1)]
    high = [max(low[x], reach[x] + 1 - size[x] - low[x]) for x in (0, 1)]
    out = [(size[x] + low[x] + high[x] - reach[x] - 1) // strides[x] + 1 for x in (0, 1)]
    return Product(images, size, channels, (out[0], out[1]), channels if depthwise else outputs,
                   kernel, strides, (low[0], low[1]), (high[0], high[1]), dilations,
                   depthwise)  # fmt: skip


TIMED = [
    *(matrix(*sizes) for sizes in ((384, 320, 512), (256, 512, 512), (784, 192, 32))),
    *(square(256, 14, 128), square(64, 56, 128, stride=2), square(512, 7, 160)),
]
OTHERS = [
    *(square(3, 56, 64, 7, 2), square(64, 14, 32, dilation=2), square(96, 7, 64, images=5)),
    *(square(n, side, n, depthwise=True) for n, side in ((32, 28), (480, 7))),
    square(48, 28, 48, dilation=3, images=2, depthwise=True),
    *(matrix(1, 256, 500), matrix(3136, 24, 48)),
]

TIGHT = [  # the layer, bytes of activations, bytes of weights
    *((matrix(40, 4, 4), 16, 32), (matrix(40, 4, 4), 32, 64), (matrix(9, 8, 8), 64, 32)),
    *((square(2, 6, 8), 32, 128), (square(2, 6, 8, dilation=3), 256, 128)),
    (square(2, 3, 8, images=3), 64, 256),
]


@st.composite
def layers(draw: st.DrawFn, most: int = 7, channels: int = 12) -> tuple[Product, Chip]:
    """A small layer of any kind, and a small chip that has room for it."""

    def pair(least: int, most: int) -> Pair:
        return draw(st.integers(least, most)), draw(st.integers(least, most))

    chip = draw(st.sampled_from((PRESETS["teaching"], SMALLER)))
    c, o = draw(st.integers(1, channels)), draw(st.integers(1, channels))
    if draw(st.integers(0, 3)) == 0:
        return matrix(draw(st.integers(1, most * most)), c, o), chip
    images, border = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    product = windowed(images, pair(1, most), c, o, pair(1, 3), pair(1, 2), border, pair(1, 3),
                       draw(st.booleans()))  # fmt: skip
    try:
        smallest(product, chip)
    except ValueError:  # the chip has no room for it
        product = matrix(most, c, o)
    return product, chip


def legal(choose_tile: Any, product: Product, chip: Chip) -> Tile:
    """The answer's tile; Wrong unless it fits the chip."""
    try:
        tile = choose_tile(product, chip)
    except Exception as error:
        beneath(choose_tile, product, chip, error)
        error.program = told(product, chip)  # type: ignore[attr-defined]
        raise
    text = told(product, chip)
    if not isinstance(tile, Tile):
        raise Wrong("The answer must be a Tile.", program=text, got=returned(tile), spec=EVERY)
    least = min(tile.h, tile.w, tile.channels, tile.blocks)
    known = tile.outer in ("weights", "pixels") and tile.dataflow in ("ws", "os")
    if least < 1 or not known:
        raise Wrong('h, w, channels and blocks must be at least 1; outer "weights" or "pixels"; '
                    'dataflow "ws" or "os".', program=text, got=f"{tile}", spec=LEGAL[0]
                    )  # fmt: skip
    try:
        if not fits(product, tile, chip):
            footprint(product, tile, chip)
    except ValueError as error:
        got = f"{tile}\n{error}"
        raise Wrong("The tile does not fit the chip.", program=text, got=got, spec=LEGAL[0]
                    ) from None  # fmt: skip
    return tile


def beneath(choose_tile: Any, product: Product, chip: Chip, error: Exception) -> None:
    """Wrong, naming the student's function that the program is made with, if that does not pass."""
    plugs = Answer.of(choose_tile).plugs
    for name in EMITTERS:
        if name in plugs and not _passes(name, plugs[name]):
            problem = f"Your answer to {name} does not pass its own check, and the program of a "
            problem += f'tile is made with it. Mend that first: check("{name}") says more.'
            got = error.error if isinstance(error, Crashed) else error_text(error)
            raise Wrong(problem, program=told(product, chip), got=got, spec=POINTS[0]) from None


def _passes(name: str, function: Any) -> bool:
    try:
        with alarm(SECONDS, f"{name} took too long"), exercises.using({}):
            return judge(name, function, shrink=False).kind == PASSED
    except Stop:
        return False


def distance(choose_tile: Any, product: Product, chip: Chip = NPU) -> tuple[float, str]:
    """clocks / roofline of the answer's tile, with what else is plugged in; and in words."""
    tile = legal(choose_tile, product, chip)
    least, guess = bound(product, chip), estimate(product, tile, chip)
    if guess > HOPELESS * least:
        return guess / least, f"{named(product)}: about {guess:,} clocks, not timed, in {tile}"
    try:
        with exercises.using(Answer.of(choose_tile).plugs):
            took = clocks(product, tile, chip)
    except Exception as error:
        beneath(choose_tile, product, chip, error)
        if not isinstance(error, Fault):
            raise
        raise Wrong("The chip cannot run the program of this tile, made with your other answers.",
                    program=told(product, chip), got=f"{tile}\n{error}", spec=POINTS[0]
                    ) from None  # fmt: skip
    return took / least, f"{named(product)}: {took:,} clocks, roofline {least:,}, in {tile}"


def worth(distances: Sequence[float]) -> tuple[float, float]:
    """The mean distance from the roofline, and the part of the points that it earns."""
    mean = sum(distances) / len(distances)
    return mean, min(1.0, max(0.25, 1.0 - 2 * (mean - GOOD)))


def scored(choose_tile: Any, products: Sequence[Product]) -> Score:
    distances = [distance(choose_tile, product) for product in products]
    mean, fraction = worth([far for far, _ in distances])
    summary = f"clocks / roofline: {mean:.3f} on average over {len(distances)} layers; "
    summary += f"all points up to {GOOD:.2f}"
    if fraction < 1:
        each = ", ".join(f"{far:.2f}" for far, _ in distances)
        summary += f" ({each}). The farthest is {max(distances)[1]}"
    return Score(fraction, summary)


def named(product: Product) -> str:
    if product.kernel == (1, 1) and product.out[0] == 1:
        return f"[{product.pixels}, {product.channels}] x [{product.channels}, {product.outputs}]"
    kind = "depthwise" if product.depthwise else "convolution"
    stride = " x ".join(map(str, dict.fromkeys(product.strides)))
    stride = f" / {stride}" if product.strides != (1, 1) else ""
    window, size = (f"{y} x {x}" for y, x in (product.kernel, product.size))
    channels = f"{product.channels} -> {product.outputs} channels"
    apart = " x ".join(map(str, product.dilations))
    apart = f", {apart} apart" if product.dilations != (1, 1) else ""
    images = f"{product.images} images of " if product.images > 1 else ""
    return f"{kind} {window}{stride}{apart}, {channels}, {images}{size} pixels"


def told(product: Product, chip: Chip) -> str:
    return f"{named(product)}\non {chip}"


@checks("chip.tile", given=layers(), examples=12, what="small layers on small chips",
        spec=[*LEGAL, EVERY])  # fmt: skip
def fits_small_chips(choose_tile, case):
    """Every layer gets a tile that fits."""
    legal(choose_tile, *case)


@checks("chip.tile", spec=[LEGAL[0], EVERY])
def fits_the_layers_of_models(choose_tile):
    """Layers of ResNet-18 and MobileNetV2 on the chip of 32 x 32 cells."""
    for product in OTHERS:
        legal(choose_tile, product, NPU)
    return f"{len(OTHERS)} layers of models"


@checks("chip.tile", spec=[LEGAL[0], EVERY])
def fits_where_there_is_hardly_room(choose_tile):
    """Chips with room for one slot, or for one pixel; and the same layer where there is room."""
    for product, acts, weights in TIGHT:
        legal(choose_tile, product, NPU)
        chip = Chip("tight", 4, 4, weights=weights, acts=acts, accs=8, params=2, banks=(2, 4, 2))
        legal(choose_tile, product, chip)
    return f"{len(TIGHT)} layers where little fits"


@checks("chip.tile", spec=[LEGAL[1], *POINTS])
def few_clocks(choose_tile):
    """Clocks of six layers on the simulator, beside their rooflines."""
    return scored(choose_tile, TIMED)
