"""Hidden checks of the lab of unit 9: longer logs, other nests, two layers that stay hidden."""

from __future__ import annotations

from autograder.check.framework import harder, hidden
from autograder.units.u09_lab_tuners.checks import (
    SEEN,
    has_the_numbers,
    logs,
    nests,
    score,
    several,
)
from course_lib.exercises import slot
from course_lib.recorded import recorded
from lessons.u09_lab_tuners.logs import Layer

SEED = 90_931
BY_TVM = recorded(__file__, "layers.txt")
LAYERS = {name: Layer(*BY_TVM.data(name)) for name in BY_TVM.texts}

harder("u09_lab_tuners.records", "reads_each_form", seed=SEED, given=logs(30), examples=60)
harder("u09_lab_tuners.needed", "the_first_that_is_good_enough", seed=SEED + 2,
       given=several(30), examples=120)  # fmt: skip
harder("u09_lab_tuners.features", "the_numbers_are_those_of_the_loops", seed=SEED + 3,
       given=nests(4), examples=60)  # fmt: skip


@hidden("u09_lab_tuners.features", seed=SEED + 4)
def the_schedules_that_were_measured(features, rng):
    """Schedules of two layers, whose loops are too long to be run."""
    right = slot("u09_lab_tuners.features").reference
    for layer in LAYERS.values():
        for place in rng.integers(0, len(layer.seconds), 8):
            one = layer.schedules[int(place)]
            has_the_numbers(features, one, right(one))


@hidden("u09_lab_tuners.predicted", seed=SEED)
def the_order_of_other_layers_is_right_too(predicted, rng):
    """Two other layers and other splits, beside those that are known."""
    return score(predicted, {**SEEN, **LAYERS}, seed=int(rng.integers(1 << 20)))
