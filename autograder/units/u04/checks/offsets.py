"""Visible checks of unit 4 for addresses: assign_offsets.

A plan passes if no two living values share a byte, and its points depend on how large the arena is.
Next room: steps.py.
"""

from __future__ import annotations

import itertools
from typing import Any

from autograder.check.framework import Score, Wrong, background, checks
from autograder.units.u04.checks.shared import arena, compiled, lives, plan_of, told_plan
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import lower_bound
from lessons.u04.lives import LIVES, random_lives

TOGETHER = "no two values that are alive together share a byte"
RANDOM = [random_lives(100 + k) for k in range(16)]
GOOD = 1.01  # mean of arena / lower bound from which an answer earns all points

# Four lives (size / 64, first, last): a large one; two that share its addresses at another step; a
# small one that is alive with all three, so that most planners place it last. In the last row, the
# lowest gap for the last value is too small.
NESTED = [
    [(8, 0, 0), (4, 1, 1), (3, 1, 1), (2, 0, 1)],
    [(4, 0, 0), (3, 1, 1), (8, 1, 1), (2, 0, 1)],
    [(8, 2, 3), (4, 0, 1), (3, 0, 1), (1, 1, 2)],
    [(4, 0, 1), (4, 0, 3), (3, 2, 3), (2, 2, 3)],
]


SLOT = "schedule.memory.assign_offsets"
background(SLOT, "The order in which values are placed ... No single rule for the order is best "
           "everywhere.", because="advice; the score counts the result")  # fmt: skip
ALIGNED = "every offset is at least 0 and a multiple of 64"
PLAN = (TOGETHER, "returns    {name: offset}", ALIGNED,
        "intervals  lives of values in any order, perhaps none")  # fmt: skip


@checks(SLOT, spec=PLAN)
def neighbours_may_lie_in_each_other(assign_offsets):
    """Neighbours that never meet may overlap; a gap is what none has, and may be too small."""
    for rows in NESTED:
        intervals = [Interval("pqrs"[k], 64 * n, a, b) for k, (n, a, b) in enumerate(rows)]
        sound(intervals, assign_offsets(intervals))
    return f"{len(NESTED)} sets of four lives"


@checks(SLOT, given=lives(6), examples=50, what="random lives", spec=PLAN)
def living_values_share_no_byte(assign_offsets, example):
    """Every value has an address, and two that are alive together share no byte."""
    sound(example, assign_offsets(example))


@checks(SLOT, spec=PLAN)
def there_may_be_little_to_place(assign_offsets):
    """No value, one, one without bytes, and two that meet in one step only."""
    one, empty = Interval("a", 64, 0, 3), Interval("b", 0, 1, 2)
    for intervals in ([], [one], [one, empty], [one, Interval("c", 128, 3, 3)]):
        sound(intervals, assign_offsets(intervals))
    return compiled(SLOT, assign_offsets, "small programs compiled with your plan")


@checks(SLOT, spec=[*PLAN, "so that the arena is small"])
def the_arena_is_small(assign_offsets):
    """The arena is near the lower bound, for the four models and for random lives."""
    ratios = {name: ratio(assign_offsets, lives) for name, lives in LIVES.items()}
    others = [ratio(assign_offsets, lives) for lives in RANDOM]
    mean, fraction = worth([*ratios.values(), *others], GOOD)
    models = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    return Score(fraction, f"arena / lower bound: {mean:.2f} on average, {models}, {len(others)} "
                 f"random sets {sum(others) / len(others):.2f}; all points from {GOOD}, the bound "
                 "is 1.00")  # fmt: skip


def worth(ratios: list[float], good: float) -> tuple[float, float]:
    """The mean of arena / lower bound, and the part of the points that it is worth."""
    mean = sum(ratios) / len(ratios)
    return mean, min(1.0, max(0.25, 1.0 - 5 * (mean - good)))


def sound(intervals: list[Interval], offsets: Any) -> dict[str, int]:
    """`offsets` is a plan of these intervals in which no two living values share a byte."""
    names = [i.name for i in intervals]
    offsets = plan_of(names, offsets, told_plan(intervals), PLAN[1], ALIGNED)
    for a, b in itertools.combinations(intervals, 2):
        low = max(offsets[a.name], offsets[b.name])
        high = min(offsets[a.name] + a.size, offsets[b.name] + b.size)
        if a.overlaps(b) and low < high:
            few = intervals if len(intervals) <= 12 else [a, b]
            more = f"\nand {len(intervals) - 2} more values" if few is not intervals else ""
            problem = f"{a.name} and {b.name} are both alive at step {max(a.first, b.first)} and "
            problem += f"must not share bytes, but they share those from {low} to {high - 1}."
            raise Wrong(problem, program=told_plan(few) + more, got=told_plan(few, offsets) + more,
                        spec=TOGETHER)  # fmt: skip
    return offsets


def ratio(assign_offsets: Any, intervals: list[Interval]) -> float:
    offsets = sound(intervals, assign_offsets(intervals))
    return arena(intervals, offsets) / lower_bound(intervals)
