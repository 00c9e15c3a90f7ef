"""Hidden checks of chip.dataflow: layers drawn for this run, with shadow weights or without."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from autograder.check.framework import Score, hidden
from autograder.units.u13.answers.flows import Flow
from autograder.units.u13.checks.flows import worth
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.accelerator.compile.search import clocks
from course_lib.exercises import plugged, slot

SEED = 131_321
LONG = ((20, 49, 64), (300, 800), (300, 900), False)  # pixels, channels, outputs, shadow weights
SHORT = ((100, 128), (16, 65), (600, 1500), False)
MANY = ((400, 784), (32, 160), (64, 400), False)
SHADOW = ((20, 49, 128), (600, 1200), (300, 900), True)
KINDS = [*[LONG] * 5, *[SHORT] * 4, MANY, *[SHADOW] * 2]


@cache
def fastest(product: Product, chip: Chip, flow: str) -> int:
    """Clocks of a layer in our tile for one dataflow."""
    with plugged("chip.dataflow", lambda product, chip: flow):
        return clocks(product, slot("chip.tile").reference(product, chip), chip)


@hidden("chip.dataflow", seed=SEED)
def other_layers(choose_dataflow, rng):
    """Products that were drawn for this run, with and without shadow weights."""
    base, flows = PRESETS["scalesim"], []
    for pixels, channels, outputs, shadow in KINDS:
        m, k, n = (
            int(rng.choice(pixels)),
            int(rng.integers(*channels)),
            int(rng.integers(*outputs)),
        )
        product, chip = matrix(m, k, n), replace(base, shadow=shadow, drain=bool(rng.integers(2)))
        clocks = [fastest(product, chip, flow) for flow in ("ws", "os")]
        flows.append(Flow(f"[{m}, {k}] x [{k}, {n}]", product, chip, *clocks))
    got, fraction = worth(flows, choose_dataflow)
    return Score(fraction, f"fewest / yours: {got:.3f} over {len(flows)} other layers")
