"""Hidden checks of the tiles: other layers, drawn for the run."""

from __future__ import annotations

from autograder.check.framework import harder, hidden
from autograder.units.u13.checks.tiles import layers, scored
from course_lib.accelerator.compile.product import matrix
from lessons.u13.tables import square

SEED = 131_306
SIZES = ((64, 56, 64), (128, 28, 128), (64, 28, 160), (96, 28, 96), (192, 14, 160))
POOL = [
    matrix(784, 144, 32),
    *(square(*sizes) for sizes in SIZES),
    *(square(64, 28, 96, dilation=2), square(96, 14, 128, images=4)),
    *(square(128, 14, 64, dilation=2, images=3), square(64, 56, 128, stride=2)),
]

harder("chip.tile", "fits_small_chips", seed=SEED, examples=8, given=layers(8, 16))


@hidden("chip.tile", seed=SEED)
def other_layers(choose_tile, rng):
    """Clocks of six layers that were drawn for this run, beside their rooflines."""
    return scored(choose_tile, [POOL[n] for n in rng.permutation(len(POOL))[:6]])
