"""Hidden checks of the products: longer runs, more of them, larger arrays."""

from __future__ import annotations

from autograder.check.framework import harder
from autograder.units.u13.checks.products import cases

SEED = 130_977

harder("chip.products", "computes_the_sums", seed=SEED, examples=60, given=cases(6, 70, 18))
harder("chip.products", "cuts_as_asked", seed=SEED, examples=40, given=cases(6, 70, 18))
harder("chip.products", "does_larger_blocks", seed=SEED)
