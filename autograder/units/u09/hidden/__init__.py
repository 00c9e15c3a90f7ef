"""Hidden checks of unit 9: larger trees, other loops, other layers."""

from __future__ import annotations

from pathlib import Path

from autograder.check.framework import Wrong, harder, hidden
from autograder.units.u09.checks import schedules, score, whole
from autograder.units.u09.checks.beams import lands
from autograder.units.u09.checks.traps import catches
from course_lib.exercises import slot
from lessons.u09.landscapes import LAYERS, load

SEED = 90_911
OTHERS = load(Path(__file__).with_name("landscapes.txt"))

harder(
    "schedule.beam_search",
    "the_right_states_go_on",
    seed=SEED,
    given=lands(40, 12, 9),
    examples=120,
)
harder("u09.enough", "so_many_are_enough_and_one_less_is_not", seed=SEED + 1,
       given=schedules(40), examples=120)  # fmt: skip


@hidden("u09.space", seed=SEED)
def other_loops(space, rng):
    """Loops that were drawn for this run."""
    right, sizes = slot("u09.space").reference, [1, 3, 7, 64, 97, 210, 224, 360, 512, 768, 1849]
    for levels in (1, 2, 3, 4, 5, 6):
        count = int(rng.integers(1, 10))
        extents = [int(n) for n in rng.choice([*sizes, *rng.integers(1, 2000, 6)], count)]
        got = whole(space(extents, levels))
        if got != right(extents, levels):
            raise Wrong(f"Wrong for {extents} with {levels} levels.", got=f"{got:,}")


@hidden("u09.trap", seed=SEED)
def it_catches_other_beams(trap, rng):
    """Widths that were drawn for this run."""
    for width in [4, 5, 30, *rng.integers(7, 30, size=4).tolist()]:
        catches(trap, int(width))


@hidden("u09.search", seed=SEED)
def other_layers_are_cheap_too(search):
    """Other layers, and a processor with wider vectors, beside those that are known."""
    return score(search, {**OTHERS, **LAYERS})
