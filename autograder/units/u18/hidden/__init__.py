"""Hidden checks of unit 18: other machines, other experiments, a second run of the benchmark."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import Wrong, harder, hidden
from autograder.check.shown import returned
from autograder.units.u18.checks import judged, kinds
from autograder.units.u18.checks.intervals import ABOUT, PROMISED, covered, narrow, ranks
from autograder.units.u18.checks.reports import as_claims, balanced, holds, offers
from lessons.u18.bench import FULL, Full
from lessons.u18.experiments import KINDS, by_number, drawn_of, every_throw

SEED = 181_818
AGAIN = Full(__file__, "again.txt")

harder("u18.pays", "the_least_in_all", seed=SEED + 1, given=offers(7), examples=120)


@hidden("measure.fair_rounds", seed=SEED)
def other_machines(fair_rounds, rng):
    """Machines that were drawn for this run."""
    for some in kinds(int(rng.integers(1 << 30))):
        judged(fair_rounds, *some)


@hidden("measure.interval", seed=SEED)
def other_experiments(interval):
    """The same for other numbers of rounds, and other rounds; what is drawn decides nothing."""
    ranks(interval, SEED)
    for kind in KINDS:
        covered(interval, every_throw(9, kind, SEED), PROMISED)
        for count in (10, 17, 45, 90):
            covered(interval, by_number(count, kind, 1, SEED), ABOUT)
    for count in (30, 60, 100, 200):
        narrow(interval, drawn_of(np.random.default_rng([SEED, count]), [count], 24))


@hidden("u18.claims", seed=SEED)
def a_second_run_confirms_them(claims):
    """Each claim against a second recording of the same benchmark."""
    for one in as_claims(claims(), FULL):
        if against := holds(one, AGAIN):
            raise Wrong("A second run of the benchmark does not confirm this claim.",
                        program=returned(one), got=against,
                        spec="that a second run will confirm")  # fmt: skip


@hidden("u18.turns", seed=SEED)
def in_another_order(turns):
    """The same degrees, in another order."""
    for degree in (6, 0, 4, 2, 5, 1, 3):
        balanced(turns, degree)
