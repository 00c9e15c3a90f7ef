"""Hidden checks of chip.slots: longer lists, and lists that were drawn for this run."""

from __future__ import annotations

from autograder.check.framework import harder, hidden
from autograder.units.u13.checks.slots import followed, lists, round_trips

SEED = 131_317

harder("chip.slots", "the_pairs_can_be_followed", seed=SEED, examples=60, given=lists(9, 40, 8))


@hidden("chip.slots", seed=SEED)
def drawn_layers(slots, rng):
    """Lists of 300 steps that were drawn for this run."""
    for _ in range(20):
        pieces, count = int(rng.integers(2, 30)), int(rng.integers(1, 12))
        followed(slots, (rng.integers(0, pieces, 300) * 997).tolist(), count)
    for scale in (10, 100, 1000):
        round_trips(slots, int(rng.integers(scale + 4, 1.3 * scale + 5)))
    return "20 lists of 300 steps, 9 of many pieces"
