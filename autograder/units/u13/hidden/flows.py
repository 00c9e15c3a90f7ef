"""Hidden checks of chip.dataflow: layers drawn for this run, with shadow weights or without."""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import cache

from autograder.check.framework import Score, hidden
from autograder.units.u13.answers.flows import Flow
from autograder.units.u13.checks.flows import worth
from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile import search
from course_lib.accelerator.compile.estimate import estimate
from course_lib.accelerator.compile.product import Product, matrix

SEED = 131_321


@cache
def fastest(product: Product, chip: Chip, flow: str, tiles: int = 3) -> int:
    """Clocks of the best of the tiles that the estimate likes best, for one dataflow."""
    found = [tile for tile in search._candidates(product, chip) if tile.dataflow == flow]
    few = heapq.nsmallest(tiles, found, key=lambda tile: estimate(product, tile, chip))
    return min(search.clocks(product, tile, chip) for tile in few)


@hidden("chip.dataflow", seed=SEED)
def other_layers(choose_dataflow, rng):
    """Products that were drawn for this run, with and without shadow weights."""
    base, flows = PRESETS["scalesim"], []
    for number in range(12):
        m = int(rng.choice([1, 20, 49, 100, 196, 400]))
        k, n = rng.integers(32, 700, 2).tolist()
        product, chip = matrix(m, k, n), replace(base, shadow=number % 4 == 3)
        clocks = [fastest(product, chip, flow) for flow in ("ws", "os")]
        flows.append(Flow(f"[{m}, {k}] x [{k}, {n}]", product, chip, *clocks))
    got, fraction = worth(flows, choose_dataflow)
    return Score(fraction, f"fewest / yours: {got:.3f} over {len(flows)} other layers")
