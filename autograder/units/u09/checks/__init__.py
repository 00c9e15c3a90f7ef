"""Visible checks of unit 9, BEAM: the size of a space, model and clock, the budget.

Next room: traps.py, and then beams.py for beam search itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import Any, NoReturn

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Crashed, Score, Wrong, background, checks, shows
from autograder.check.properties import a_number
from autograder.check.shown import returned
from lessons.u09.landscapes import LAYERS, Landscape


class Rules:
    """What may be asked of `price` and `successors`. The first rule that is broken counts, also
    where the answer catches the exception."""

    def __init__(self) -> None:
        self.broken: Wrong | None = None

    def break_with(self, wrong: Wrong) -> NoReturn:
        self.broken = self.broken or wrong
        raise wrong

    @contextmanager
    def count(self, call: str) -> Iterator[None]:
        """Around the call of an answer: a broken rule is not an error of the student's code."""
        try:
            with shows(call):
                yield
        except Crashed:
            if self.broken is None:
                raise
        if self.broken is not None:
            raise self.broken from None


# ── the size of a space ──

SPACE = ("How many ways are there to tile these loops",
         "the exact number of ways for all loops together",
         "When a loop is split, the extents of its parts multiply to its own extent",
         "Parts may have extent 1", "their order counts",
         "Each loop is split independently of the others",
         "how many nested loops each of them is split into, 1 to 6",
         "how often each loop runs, 1 to 2,000",
         "There are too many combinations of numbers to try them all")  # fmt: skip
CONVOLUTION = (64, 56, 56, 64, 3, 3)
WAYS = {  # of larger spaces
    (CONVOLUTION, 4): 722_534_400,
    ((512,), 3): 55,
    ((1009, 256, 1), 3): 135,
    ((899, 961, 1849), 2): 36,
    ((512, 256, 14, 14, 3, 3), 4): 148_684_800,
    ((512, 256) * 6, 3): 229_853_552_099_853_515_625,
    ((512, 512, 28, 28, 3, 3, 1000, 360), 6): 50_688_140_972_725_960_704,
}
TINY: list[tuple[tuple[int, ...], int]] = [
    ((4,), 2), ((12,), 2), ((1,), 3), ((5, 6), 1), ((6,), 3), ((4, 6), 2), ((2, 2, 3), 2),
    ((8,), 3), ((12, 2), 3), ((7, 9), 2), ((2, 3, 2, 1, 4), 2),
]  # fmt: skip


def listed(n: int, levels: int) -> list[tuple[int, ...]]:
    """All ways to split one loop: every choice of numbers is tried."""
    return [w for w in itertools.product(range(1, n + 1), repeat=levels) if math.prod(w) == n]


@checks("u09.space", spec=SPACE)
def small_spaces(space):
    """Few loops, whose ways can be listed."""
    for extents, levels in TINY:
        ways = [*itertools.product(*(listed(n, levels) for n in extents))]
        got = whole(space(extents, levels))
        if got != len(ways):
            split = [[f"{n} = {' · '.join(map(str, parts))}" for n, parts in
                      zip(extents, way, strict=True)] for way in ways[:8]]  # fmt: skip
            more = f"and {len(ways) - 8} more" if len(ways) > 8 else ""
            lines = [f"space({extents}, {levels})", *map(", ".join, split), more]
            raise Wrong("The number of ways is not right.", program="\n".join(filter(None, lines)),
                        got=f"{got:,}", expected=str(len(ways)),
                        spec=SPACE[5 if len(extents) > 1 else 3 if levels > 1 else 6])  # fmt: skip
    return "eleven small spaces"


def whole(got: Any) -> int | float:
    """A number of ways as it came: as a float, a large one would no longer be exact."""
    value = a_number(got, unit="ways")
    return int(got) if isinstance(got, Integral) else value


@checks("u09.space", spec=[SPACE[1], SPACE[8]])
def larger_spaces(space):
    """The six loops of a convolution, four levels each, and some others."""
    for (extents, levels), ways in WAYS.items():
        got = whole(space(extents, levels))
        if got != ways:
            raise Wrong("The number of ways is not right.", program=f"space({extents}, {levels})",
                        got=f"{got:,}", spec=SPACE[1])  # fmt: skip


# ── how many to measure ──

ENOUGH = ("How many schedules must be measured if the model chooses them",
          "seconds by the cost model, one number for each schedule",
          "seconds by the clock, in the same order", "a fraction such as 0.05",
          "exactly the smallest number that is enough",
          "The schedules are measured in the order of their predicted times",
          "equal ones keep the order of the list",
          "A number is enough if the fastest schedule measured takes at most 1 +")  # fmt: skip


@st.composite
def schedules(draw: DrawFn, most: int = 8) -> tuple[list[float], list[float], float]:
    """Predicted and measured seconds of some schedules, and a share. Many are equal or nearly so,
    and many lie at the limit, or a little beside it."""
    count = draw(st.integers(1, most))
    scale = draw(st.sampled_from([1.0, 2.0**-20, 2.0**13]))  # powers of two, which round nothing
    within = draw(st.sampled_from([0.0, 3.0, 0.05, 0.25, 0.5, 1.0, 3.0]))
    least = draw(st.sampled_from([1.0, 2.0, 4.0]))
    limit = (1 + within) * least
    at_limit = [max(limit * share, least) for share in (1 - 1e-6, 0.75, 0.75)]
    at_limit += [limit] if within != 0.05 else []  # there, rounding would decide
    times = st.sampled_from([1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 1.5, 3.25, 3.26, 0.5, 1.0000001])
    slow = [limit * 1.004, limit * (1 + 1e-6), limit + 0.5, 2 * limit]
    times_more = st.sampled_from(draw(st.sampled_from([slow, [*at_limit, least, *slow]])))
    predicted = [scale * draw(times) for _ in range(count)]
    measured = [scale * draw(times_more) for _ in range(count)]
    measured[draw(st.integers(0, count - 1))] = scale * least
    return predicted, measured, within


MEASURED = [
    ([1.0, 2.0, 3.0], [4.0, 1.0, 1.0], 3.0),
    ([1.0, 2.0, 3.0], [4.5, 1.0, 1.0], 3.0),
    ([0.25, 0.25, 0.5], [0.003, 0.002, 0.001], 1.0),
    ([float(n) for n in range(1, 13)], [9.0] * 11 + [1.0], 0.5),
    ([3e-6, 1e-6, 2e-6, 5e-6], [1e-6, 9e-6, 8e-6, 7e-6], 0.05),
]


@checks("u09.enough", spec=[ENOUGH[4], *ENOUGH[6:]])
def a_few_measurements(enough):
    """Lists of three, four and twelve."""
    for given in MEASURED:
        so_many_are_enough_and_one_less_is_not(enough, given)
    return f"{len(MEASURED)} short lists"


@checks("u09.enough", given=schedules(), examples=80, what="random measurements", spec=ENOUGH)
def so_many_are_enough_and_one_less_is_not(enough, given):
    """The fastest of so many is fast enough, and the fastest of one fewer is not."""
    predicted, measured, within = given
    call = f"enough({predicted}, {measured}, {within})"
    with shows(call):
        got = a_number(enough(list(predicted), list(measured), within), unit="schedules")
    if got not in range(1, len(predicted) + 1):
        raise Wrong("The answer must be a whole number from 1 to the number of schedules.",
                    program=call, got=f"{got:g}", spec=ENOUGH[4])  # fmt: skip
    limit, k = (1 + within) * min(measured), int(got)
    pairs = sorted(zip(predicted, measured, strict=True), key=lambda pair: pair[0])
    if k == _smallest(pairs, limit):
        return
    fastest = min(seconds for _, seconds in pairs[:k])
    # Do equal predictions in another order make this answer right?
    turned = sorted(pairs), sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    tied = k in (_smallest(other, limit) for other in turned)
    problem = "That many are not enough." if fastest > limit else "One fewer is enough, too."
    raise Wrong(problem, program=call, got=f"{k}: the fastest of them takes {fastest:.10g}, the "
                f"fastest of all {min(measured):.10g}, so {limit:.10g} is allowed",
                spec=ENOUGH[6 if tied else 7 if fastest > limit else 4])  # fmt: skip


def _smallest(pairs: Iterable[tuple[float, float]], limit: float) -> int:
    return next(k for k, (_, seconds) in enumerate(pairs, 1) if seconds <= limit)


# ── a search that looks at few ──

SEARCH = (
    "Find a cheap schedule of a layer by pricing only a few",
    "it may be called as often as you like",
    "it may be called at most `budget` times",
    "a schedule that you have priced",
    "Only () and what `successors` lists are schedules",
    "() is the schedule without any",
    "at least 1; 16, 5 and 1 are tried",
    "Both functions return the same for the same schedule every time",
    "Your score is the clocks of your schedule, divided by those of the cheapest one known",
    "A schedule is a tuple of decisions. Each is a string that begins with its kind, such as",
)
BUDGET, GOOD, WORST = 16, 1.03, 1.23


def reached(search: Any, name: str, land: Landscape, budget: int = BUDGET) -> float:
    """How many times the least clocks the answer's schedule takes; Wrong if it breaks a rule."""
    priced: list[Any] = []
    call, rules = f"search(successors, price, {budget}) on {name}", Rules()
    wrong = partial(Wrong, program=call)

    def price(state: Any) -> float:
        state = as_state(state, land, call, rules)
        priced.append(state)
        if len(priced) > budget:
            problem = f"`price` is called more than {'once' if budget == 1 else f'{budget} times'}."
            rules.break_with(wrong(problem, spec=SEARCH[2]))
        return land.price(state)

    def successors(state: Any) -> list[tuple[str, ...]]:
        return land.successors(as_state(state, land, call, rules))

    with rules.count(call):
        got = search(successors, price, budget)
    if not isinstance(got, (tuple, list)) or tuple(got) not in priced:
        raise wrong(
            "The answer must be a schedule that was priced.", got=returned(got), spec=SEARCH[3]
        )
    return land.price(tuple(got)) / land.best


def as_state(state: Any, land: Landscape, call: str, rules: Rules) -> tuple[str, ...]:
    if isinstance(state, (tuple, list)) and tuple(state) in land.prices:
        return tuple(state)
    rules.break_with(Wrong("Only () and what `successors` lists are schedules.", program=call,
                           got=repr(state)[:300], spec=SEARCH[4]))  # fmt: skip


def worth(mean: float) -> float:
    """All points up to `GOOD`, none from `WORST`, evenly in between."""
    return min(1.0, max(0.0, (WORST - mean) / (WORST - GOOD)))


def score(search: Any, lands: Mapping[str, Landscape]) -> Score:
    ratios = {name: reached(search, name, land) for name, land in lands.items()}
    mean = sum(ratios.values()) / len(ratios)
    each = "; ".join(f"{name}: {ratio:.2f}" for name, ratio in ratios.items())
    return Score(worth(mean), f"{mean:.3f} times the least clocks known ({each}); all points up to "
                 f"{GOOD:.2f}, none from {WORST:.2f}")  # fmt: skip


@checks("u09.search", spec=[*SEARCH[:7], SEARCH[9]])
def it_keeps_to_the_budget(search):
    """Budgets of 16, 5 and 1."""
    name, land = next(iter(LAYERS.items()))
    for budget in (BUDGET, 5, 1):
        reached(search, name, land, budget)
    return "budgets of 16, 5 and 1"


@checks("u09.search", spec=SEARCH[8])
def the_schedules_are_cheap(search):
    """Four layers of ResNet-18."""
    return score(search, LAYERS)


background("u09.search", SEARCH[7], because="how the landscapes are made")
