"""Hidden checks of u13.kept and u13.scales: numbers and memories that were drawn for this run."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import hidden
from autograder.units.u13.checks.kept import clocks_of, finishes, layer, program_of
from lessons.u13.kept import TEACHING

SEED = 131_929


@hidden("u13.kept", seed=SEED)
def with_other_numbers(kept, rng):
    """Values, latencies and widths of the DMA that were drawn for this run."""
    program = program_of(kept)
    for seed, latency in rng.integers(0, 400, (20, 2)).tolist():
        width = int(rng.choice([1, 2, 4, 8]))
        clocks_of(program, seed + 1000, replace(TEACHING, dma_latency=latency, dma_bytes=width))
    return "20 runs"


@hidden("u13.scales", seed=SEED)
def other_layers(scales, rng):
    """Layers that were drawn for this run."""
    for six in rng.uniform(10, 200, 30).tolist():
        finishes(scales, layer(rng, int(rng.integers(1, 9)), six))
    return "30 layers"
