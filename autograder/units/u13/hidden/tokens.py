"""Hidden checks of u13.mend: DMAs that were drawn for this run."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import hidden
from autograder.units.u13.checks.tokens import programs_of, runs
from lessons.u13.tokens import TEACHING

SEED = 131_311


@hidden("u13.mend", seed=SEED)
def with_other_memories(mend, rng):
    """Latencies and widths of the DMA that were drawn for this run."""
    for name, program in programs_of(mend).items():
        for latency in rng.integers(0, 500, 20).tolist():
            width = int(rng.choice([1, 2, 4, 8, 16]))
            runs(name, program, replace(TEACHING, dma_latency=latency, dma_bytes=width))
    return "40 runs"
