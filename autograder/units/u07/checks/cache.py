"""Visible checks of unit 7 for the cache: the lines that miss, and how many lines it has to keep.

Misses are those of the stand-in of `missed`, which is right. Next room: schedules.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.properties import a_number
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from course_lib.cost.cache import set_by_set
from course_lib.cost.reuse import distances

Accesses = tuple[list[int], int, int]  # lines, sets, ways
FAR = 1 << 33  # a line number that needs more than 32 bits

# ── the cache ──


@st.composite
def accesses(draw: DrawFn, most: int = 24, sets: int = 4, ways: int = 4) -> Accesses:
    """(lines, sets, ways): few lines in few sets, so that sets fill up and lines come back."""
    of, places = draw(st.integers(1, sets)), draw(st.integers(1, ways))
    used, first = min(of, draw(st.integers(1, 3))), draw(st.sampled_from([0, 0, 5, FAR]))
    places_of = st.integers(0, used * (places + 2) - 1)
    drawn = draw(st.lists(places_of, min_size=min(most // 2, 4 * places), max_size=most))
    return [n % used + of * (first + n // used) for n in drawn], of, places


def judged(
    missed: Any, lines: list[int], sets: int, ways: int, spec: str = "", right: Any = None
) -> None:
    """The misses are those of the stand-in, or `right`. Without a `spec`, no sentence is quoted
    unless only the order is wrong."""
    asked = lines if len(lines) < 60 else f"{len(lines)} accesses"
    program = f"missed({asked}, {sets}, {ways})"
    got = whole_numbers(missed(list(lines), sets, ways), program)
    right = set_by_set(lines, sets, ways) if right is None else right
    if got == right:
        return
    both = min(len(got), len(right))
    at = next((k for k in range(both) if got[k] != right[k]), both)
    if at == len(right):
        problem = f"Only {len(right)} of the accesses must miss, not {len(got)}."
    else:
        here = f"not line {got[at]}" if at < len(got) else "but the list ends before it"
        problem = f"Miss number {at + 1} must be line {right[at]}, {here}."
    spec = spec or (MISSED if sorted(got) == sorted(right) else "")
    raise Wrong(problem, program=program, got=str(got[:40]), expected=str(right[:40]), spec=spec)


def whole_numbers(got: Any, program: str) -> list[int]:
    """A list, tuple, array or anything else with whole numbers in an order, as a list."""
    if isinstance(got, Iterable) and not isinstance(got, (str, bytes, dict, set)):
        numbers = list(got)
        if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in numbers):
            return [int(v) for v in numbers]
    problem = "The function must return a list of line numbers."
    shown = returned(got)
    raise Wrong(problem, program=program, got=shown, spec=REPEATED)


MISSED = "The lines that are not in the cache when they are asked for, in the order of the misses"
EMPTY_AT_FIRST = "The cache is empty at first"
REPEATED, ROOM = "the lines that missed, with repetitions", "how many lines a set can hold"
# Each but the last is wrong for one kind of mistake only, so the sentence fits.
SMALL_CASES = [
    (EMPTY_AT_FIRST, ([0, 0, 0], 1, 1)),
    (REPEATED, ([*range(20), 0, 1], 1, 1)),
    (ROOM, ([0, 3, 6, 0, 3, 6], 1, 3)),
    (ROOM, ([0, 1, 0, 2, 3, 4, 2], 1, 2)),
    ("the line in it that was asked for longest ago leaves first", ([0, 1, 2, 1], 1, 2)),
    ("line number n may be in set n % sets only", ([0, 2, 4, 1, 0, 1], 2, 2)),
    ("A hit counts as asking for the line, too", ([0, 1, 2, 0, 3, 0, 1], 1, 3)),
    ("If the set is full", ([0, 2, 0, 4, 0, 2], 2, 2)),
    (ROOM, ([*range(20)] * 2 + [20, 1, 0], 1, 20)),
    ("line number n may be in set n % sets only", ([*range(70)] * 2 + [70, 0, 70], 70, 1)),
]


@checks("cost.cache.missed", spec=[EMPTY_AT_FIRST, REPEATED])
def every_call_begins_with_an_empty_cache(missed):
    """The same accesses twice, and others in between."""
    again, other = ([5, 7, 5], 1, 2), ([7, 5, 6], 1, 2)
    first, _, second = (whole_numbers(missed(*c), f"missed{c}") for c in (again, other, again))
    if second != first:
        problem = "The second call with the same accesses returns something else than the first "
        problem += "one. Nothing may stay from one call to the next."
        raise Wrong(problem, program=f"missed{again}, called twice", got=str(second),
                    expected=str(first), spec=EMPTY_AT_FIRST)  # fmt: skip


@checks("cost.cache.missed", spec=[spec for spec, _ in SMALL_CASES])
def small_cases(missed):
    """A few accesses, one for each sentence."""
    for spec, (lines, sets, ways) in SMALL_CASES:
        judged(missed, lines, sets, ways, spec)
    return f"{len(SMALL_CASES)} short lists"


CACHE_SPEC = (
    MISSED,
    "A line that misses comes into its set",
    "line numbers, at least 0, in the order in which a program asks for them",
)


@checks("cost.cache.missed", given=accesses(), examples=60, what="random accesses",
        spec=CACHE_SPEC)  # fmt: skip
def random_accesses(missed, example):
    """The misses of random accesses, in order."""
    judged(missed, *example)


@checks("cost.cache.missed", given=accesses(60, sets=70, ways=16), examples=30,
        what="random accesses", spec=[*CACHE_SPEC, ROOM])  # fmt: skip
def random_accesses_to_larger_caches(missed, example):
    """The misses of random accesses to caches of more sets and ways, in order."""
    judged(missed, *example)


STEPS = (
    "Each access must take a number of steps that does not grow with `sets` or with the number of "
    "accesses before it"
)


def in_turns(count: int, sets: int, ways: int) -> tuple[list[int], list[int]]:
    """(lines, those that miss): 512 sets take turns. Every second one is asked for as many lines
    as it can hold, again and again, and each of the others for one line more, so it never hits."""
    lines, missing = [], []
    for k in range(count):
        turn, number = divmod(k, 512)
        lines.append(32 * number + sets * (turn % (ways + number % 2)))
        if number % 2 or turn < ways:
            missing.append(lines[-1])
    return lines, missing


@checks("cost.cache.missed", spec=STEPS)
def long_programs_are_no_obstacle(missed):
    """8,000 accesses, 16,384 sets."""
    sets, ways = 1 << 14, 4
    lines, right = in_turns(8000, sets, ways)
    why = "is every set, or every earlier access, looked at again for each access?"
    few = with_steps(missed, 500_000, f"8,000 accesses and {sets:,} sets", why)
    judged(few, lines, sets, ways, STEPS, right)


# ── reuse distance ──

LEAST, FEW = "the smallest number of lines, exactly", "at most this share of the accesses misses"
NONE = "0 if the share allows every access to miss"
FIRST = "the key -1, which is always there, stands for the first access to a line"
# By what the first mistake to be expected goes against.
SMALLEST_CASES = [
    (LEAST, ({-1: 2, 0: 10, 1: 4}, 0.25)),
    (LEAST, ({-1: 4, 0: 4, 7: 4, 100: 4}, 0.5)),
    (FEW, ({5: 1, -1: 1, 3: 2}, 0.25)),
    (FEW, ({-1: 8, 2: 64, 9: 56}, 0.5)),
    (LEAST, ({-1: 1, 200: 2, 1000: 1}, 0.5)),
    (LEAST, ({-1: 1, 30_000: 2, 120_000: 1}, 0.25)),
    (NONE, ({-1: 1, 4: 3}, 1.0)),
    ("never below the share of the first accesses", ({-1: 1, 0: 1, 63: 2}, 0.25)),
    (FIRST, ({-1: 3, 0: 1}, 0.75)),
]


@checks("u07.smallest", spec=[spec for spec, _ in SMALLEST_CASES])
def a_few_histograms(smallest):
    """Counts that are easy to look through."""
    for _, (counts, share) in SMALLEST_CASES:
        enough(smallest, counts, share)
    return f"{len(SMALLEST_CASES)} histograms"


@st.composite
def programs(draw: DrawFn, most: int = 60) -> tuple[list[int], float]:
    """Lines that a program asks for, and the share of them that may miss: it lies between two
    counts, so that no rounding decides."""
    lines = draw(st.lists(st.integers(0, 9), min_size=4, max_size=most))
    new = len(set(lines))
    return lines, min((draw(st.integers(new, len(lines))) + 0.5) / len(lines), 1.0)


@st.composite
def histograms(draw: DrawFn, most: int = 8, far: int = 60) -> tuple[dict[int, int], float]:
    """Counts of distances in any order, and a share at a border or half an access beside it. There
    are 2**n accesses, so the share of a border is exact."""
    drawn = draw(st.lists(st.integers(0, far), max_size=most, unique=True))
    counts = {distance: draw(st.integers(1, 40)) for distance in drawn}
    others = sum(counts.values())
    every = 1 << (others + draw(st.sampled_from([0, 1, 1, 4 * others]))).bit_length()
    new = every - others
    place = draw(st.integers(0, len(drawn)))
    counts = dict([*list(counts.items())[:place], (-1, new), *list(counts.items())[place:]])
    least = draw(st.sampled_from([-1, *drawn]))
    border = new + sum(n for distance, n in counts.items() if distance > least >= 0)
    beside = draw(st.sampled_from([-0.5, 0, 0, 0.5]))
    return counts, max(new, min(border + beside, every)) / every


@checks("u07.smallest", given=histograms(), examples=60, what="random histograms",
        spec=[LEAST, FEW, FIRST])  # fmt: skip
def so_many_lines_are_enough_and_one_less_is_not(smallest, example):
    """By the counts: that many lines are enough, and one line fewer is not."""
    enough(smallest, *example)


WHOSE = ("How many lines must a cache keep so that at most this share of the accesses misses",
         "The cache has no sets and keeps the most recently used lines",
         "{reuse distance: number of accesses}",
         "Where only rounding decides (29 of 100 may miss, but 0.29 * 100 is less than 29.0), both "
         "numbers of lines are right")  # fmt: skip


@checks("u07.smallest", given=programs(), examples=40, what="random programs", spec=WHOSE)
def a_cache_of_that_size_is_enough(smallest, example):
    """Simulated with that many lines, few enough accesses miss; with one line fewer, too many."""
    lines, share = example
    counts = dict(Counter(distances(lines).tolist()))
    enough(smallest, counts, share, lambda kept: len(set_by_set(lines, 1, kept)))


def enough(smallest: Any, counts: dict[int, int], share: float, missing: Any = None) -> None:
    """The size is the smallest one: by what it misses, and what a cache of one line less misses.

    missing  how often a cache of that many lines, at least one, misses; else by the counts
    """
    program, every = f"smallest({counts}, {share})", sum(counts.values())
    value = a_number(smallest(dict(counts), share), unit="lines", program=program)
    if value != int(value) or not 0 <= value <= 1 << 40:
        raise Wrong(f"A cache cannot keep {value:g} lines.", program=program, spec=LEAST)
    for kept, few in ((int(value), True), (int(value) - 1, False)):
        if kept >= 1 and missing:
            count = missing(kept)
        else:
            count = sum(n for d, n in counts.items() if d < 0 or d >= kept)
        if kept >= 0 and (count <= share * every) != few and not _rounded(count, share, every):
            problem = f"A cache of {kept} line{'s' * (kept != 1)} "
            problem += "misses too often" if few else "is enough"
            problem += f": {count} of {every} accesses miss."
            spec = FEW if few else LEAST if kept else NONE
            raise Wrong(problem, program=program, got=f"{value:g}", spec=spec)


def _rounded(count: int, share: float, every: int) -> bool:
    """Does only rounding say whether so many are at most that share?"""
    return Fraction(share) * every != count and math.isclose(share * every, count, rel_tol=1e-12)
