"""Hidden checks of unit 8: other seeds, larger numbers, more loops, other plates."""

from __future__ import annotations

from autograder.check.framework import harder, hidden
from autograder.units.u08.checks import accesses, large, right_pair
from autograder.units.u08.checks.orders import judged, orders, systems
from autograder.units.u08.checks.overlap import tilings
from autograder.units.u08.checks.schedules import CASES, score
from autograder.units.u08.checks.skewing import kernel_of, nests, skewed_well
from course_lib.exercises import slot

SEED = 80_311
OTHER = [(96, 32, 36, 1, 1024), (48, 96, 24, 1, 4096), (56, 32, 24, 2, 4096), (64, 48, 24, 3, 4096)]

harder("u08.meet", "it_agrees_with_all_pairs", seed=SEED, given=accesses(20, 40), examples=300)
harder("u08.broken", "it_agrees_with_running_the_loops", seed=SEED, examples=150)
harder("u08.overlapped", "random_tiles", seed=SEED, given=tilings(200, 30), examples=60)
harder("schedule.skewed", "random_nests", seed=SEED, given=nests(4), examples=60)
harder("u08.eliminate", "random_systems", seed=SEED, given=systems(4, 7), examples=100)


@hidden("u08.meet", seed=SEED)
def large_numbers_meet_where_ours_do(meet, rng):
    """Long loops and large numbers, drawn for this run."""
    for _ in range(100):
        right_pair(meet, *large(rng), "")
        a, c = (int(x) * int(s) for x, s in zip(rng.integers(1, 10**4, 2), rng.choice([-1, 1], 2),
                                                strict=True))  # fmt: skip
        b, d = map(int, rng.integers(-(10**7), 10**7, 2))
        case = (a, b, c, d, int(rng.integers(1, 10**4)))
        right_pair(meet, case, slot("u08.meet").reference(*case) is not None, "")


@hidden("u08.broken", seed=SEED, given=orders(3, 2), examples=150, what="orders of up to six loops")
def more_loops(broken, example):
    """The same question about three loops and more."""
    distances, rows, blocks = example
    judged(broken, distances, rows, blocks, slot("u08.broken").reference(*example), "")


@hidden("u08.time_blocks", seed=SEED)
def few_misses_are_left_in_other_plates(time_blocks):
    """The same score for other plates, together with those that are known."""
    return score(time_blocks, [*OTHER, *CASES])


@hidden("schedule.skewed", seed=SEED)
def loops_deeper_in_a_nest(skewed):
    """A loop with two loops in it, whose bounds depend on it and on each other."""
    text = "for p in 0..4 { for q in p..p + 4 { for j in q..q + 2 { for k in j - q..3 { %s } } } }"
    for body in ("out[j + k] = out[q] + x[k]", "out[q] = x[j + q] * out[k]"):
        for factor, outer, var in ((-3, "p", "q"), (2, "p", "q"), (2, "p", "j"), (-1, "q", "k")):
            skewed_well(skewed, kernel_of(text % body), factor, "", outer, var)
