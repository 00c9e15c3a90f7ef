"""Visible checks of unit 7, Tiling.

Here are those of the cache and of the numbers; the schedules are judged in schedules.py. Misses are
counted by the stand-in of `missed`, which is right, so that no answer depends on another one.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import a_number, sealed
from autograder.check.steps import with_steps
from autograder.units.u07.answers.products import scheduled
from course_lib.cost.cache import Cache, by_distance, misses
from course_lib.cost.reuse import distances
from course_lib.exercises import baselines

# The ratio of loads to multiply-adds of the best tile, sealed: registers -> seal.
TILES = {16: "0f438057aeec", 32: "9fa64f9b7b66"}


# ── the six orders ──


@functools.cache
def lines_of(order: str, n: int, kept: int) -> dict[str, int]:
    """The misses of each matrix in a fully associative cache of so many lines."""
    with baselines("cost.cache.missed"):
        kernel = scheduled((n, n, n), f"reorder({', '.join(order)})")
        (found,) = misses(kernel, [Cache(64 * kept, kept)])
    return found


ORDERS = tuple(map("".join, permutations("mnk")))
WITHIN = "the number of misses, correct within 2 % for each of the six orders"
ORDERS_SPEC = (
    "How many lines does a product of two n × n matrices bring into the cache",
    WITHIN,
    "`out[m, n] += x[m, k] * w[k, n]` is inside the loops",
    "A line holds 16 elements, and each matrix begins at the start of a line",
    "keeps the most recently used lines",
    "One row of each matrix fits into it at the same time, with a few lines to spare",
    "A column does not fit: it touches n lines, and the cache has at most half as many",
    "n        a multiple of 16, at least 32",
    "the three loops from the outside to the inside",
)


@checks("u07.orders", spec=ORDERS_SPEC)
def the_lines_of_each_order(orders):
    """The misses of products of 32 × 32 and 48 × 48, in a cache of half as many lines."""
    for n in (32, 48):
        for order in ("mkn", "mnk", *ORDERS):
            found = lines_of(order, n, n // 2)
            right, value = sum(found.values()), a_number(orders(order, n), unit="lines")
            if abs(value - right) > 0.02 * right:
                side = "few" if value < right else "many"
                raise Wrong(
                    f"For the order {order} and n = {n}, {value:,.0f} lines are too {side}"
                    f"{whose(value - right, found, n)}.",
                    program=f"orders({order!r}, {n})",
                    got=f"{value:,.0f}",
                    spec=WITHIN,
                )
    return "six orders of 32 × 32 and of 48 × 48"


def whose(difference: float, found: dict[str, int], n: int) -> str:
    """The one matrix that another usual count would explain the difference of, if there is one."""
    for name, count in found.items():
        for other in (0, n * n // 16, n * n, n**3 // 16, n**3):
            if other != count and abs(difference - (other - count)) < n * n / 32:
                return f", as if `{name}` brought in {other:,} of them"
    return ""


# ── the cache ──


@st.composite
def accesses(draw: DrawFn, most: int = 24) -> tuple[list[int], int, int]:
    """(lines, sets, ways): few lines, so that sets fill up and lines come back."""
    sets, ways = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lines = draw(st.lists(st.integers(0, 2 * sets * ways), max_size=most))
    return lines, sets, ways


def judged(missed: Any, lines: list[int], sets: int, ways: int, spec: str = "") -> None:
    """The misses are those of the stand-in."""
    program = f"missed({lines}, {sets}, {ways})" if len(lines) < 60 else f"{len(lines)} accesses"
    got = whole_numbers(missed(list(lines), sets, ways), program)
    right = by_distance(lines, sets, ways)
    if got != right:
        at = next((k for k, (a, b) in enumerate(zip(got, right, strict=False)) if a != b),
                  min(len(got), len(right)))  # fmt: skip
        said = f"Miss number {at + 1} must be line {right[at]}" if at < len(right) else (
            f"There must be {len(right)} misses")  # fmt: skip
        here = f", not line {got[at]}" if at < min(len(got), len(right)) else (
            f", not {len(got)}" if at < len(got) else ", but the list ends before it")  # fmt: skip
        raise Wrong(
            f"{said}{here}.",
            program=program,
            got=str(got[:40]),
            expected=str(right[:40]),
            spec=spec or "The lines that are not in the cache when they are asked for",
        )


def whole_numbers(got: Any, program: str) -> list[int]:
    """A list, tuple or array of whole numbers as a list."""
    if isinstance(got, (list, tuple, np.ndarray)) or (
        isinstance(got, Iterable) and not isinstance(got, (str, bytes, dict, set))
    ):
        found = list(got)
        if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in found):
            return [int(v) for v in found]
    raise Wrong(
        "The function must return a list of line numbers.",
        program=program,
        got="nothing (is a `return` missing?)" if got is None else repr(got)[:200],
        spec="the lines that missed, with repetitions",
    )


REPEATED, ROOM = "the lines that missed, with repetitions", "how many lines a set can hold"
# Each but the last is wrong for one kind of mistake only, so the sentence fits.
SMALL_CASES = [
    ("The cache is empty at first", ([5, 5, 5], 1, 1)),
    (REPEATED, ([0, 1, 2, 3, 4, 1], 1, 2)),
    (ROOM, ([0, 1, 0, 2, 3, 4, 2], 1, 2)),
    ("the line in it that was asked for longest ago leaves first", ([0, 1, 2, 1], 1, 2)),
    ("line number n may be in set n % sets only", ([0, 2, 4, 1, 0, 1], 2, 2)),
    ("A hit counts as asking for the line, too", ([0, 1, 2, 0, 3, 0, 1], 1, 3)),
    ("If the set is full", ([0, 2, 0, 4, 0, 2], 2, 2)),
]


@checks("cost.cache.missed", spec=[spec for spec, _ in SMALL_CASES])
def small_cases(missed):
    """A few accesses, one for each sentence."""
    for spec, (lines, sets, ways) in SMALL_CASES:
        judged(missed, lines, sets, ways, spec)
    return f"{len(SMALL_CASES)} short lists"


CACHE_SPEC = (
    "The lines that are not in the cache when they are asked for, in the order of the misses",
    "A line that misses comes into its set",
    "line numbers, at least 0, in the order in which a program asks for them",
)


@checks("cost.cache.missed", given=accesses(), examples=60, what="random accesses",
        spec=CACHE_SPEC)  # fmt: skip
def random_accesses(missed, example):
    """The misses of random accesses, in order."""
    judged(missed, *example)


STEPS = (
    "Each access must take a number of steps that does not grow with `sets` or with the number of "
    "accesses before it"
)


@checks("cost.cache.missed", spec=STEPS)
def long_programs_are_no_obstacle(missed):
    """4,000 accesses, 512 sets."""
    lines = [(k * k) % 3001 for k in range(4000)]
    why = "is every set, or every earlier access, looked at again for each access?"
    judged(with_steps(missed, 400_000, "4,000 accesses and 512 sets", why), lines, 512, 4, STEPS)


# ── reuse distance ──

SMALLEST_CASES = [
    ("the smallest number of lines, exactly", ({-1: 2, 0: 10, 1: 4}, 0.25)),
    ("the smallest number of lines, exactly", ({-1: 4, 0: 4, 7: 4, 100: 4}, 0.5)),
    ("at most this share of the accesses misses", ({5: 1, -1: 1, 3: 2}, 0.25)),
    ("at most this share of the accesses misses", ({-1: 8, 2: 64, 9: 56}, 0.5)),
    ("0 if few enough accesses miss without any cache", ({-1: 1, 4: 3}, 1.0)),
    ("never below the share of the first accesses", ({-1: 1, 0: 1, 63: 2}, 0.25)),
    ("the key -1 stands for the first access to a line", ({-1: 3, 0: 1}, 0.75)),
]


@checks("u07.smallest", spec=[spec for spec, _ in SMALLEST_CASES])
def a_few_histograms(smallest):
    """Counts that are easy to look through."""
    for spec, (counts, share) in SMALLEST_CASES:
        enough(smallest, counts, share, spec)
    return f"{len(SMALLEST_CASES)} histograms"


@st.composite
def programs(draw: DrawFn, most: int = 60) -> tuple[list[int], float]:
    """Lines that a program asks for, and the share of them that may miss: it lies between two
    counts, so that no rounding decides."""
    lines = draw(st.lists(st.integers(0, 9), min_size=4, max_size=most))
    new = len(set(lines))
    return lines, min((draw(st.integers(new, len(lines))) + 0.5) / len(lines), 1.0)


WHOSE = ("How many lines must a cache keep so that at most this share of the accesses misses",
         "The cache has no sets and keeps the most recently used lines",
         "{reuse distance: number of accesses}")  # fmt: skip


@checks("u07.smallest", given=programs(), examples=40, what="random programs", spec=WHOSE)
def a_cache_of_that_size_is_enough(smallest, example):
    """Simulated with that many lines, few enough accesses miss; with one line fewer, too many."""
    lines, share = example
    counts = dict(Counter(distances(lines).tolist()))
    few = "at most this share of the accesses misses"
    enough(smallest, counts, share, few, lambda kept: len(by_distance(lines, 1, kept)))


def enough(
    smallest: Any,
    counts: dict[int, int],
    share: float,
    spec: str,
    missing: Callable[[int], int] | None = None,
) -> None:
    """The size is the smallest one: by what it misses, and what a cache of one line less misses.

    missing  how often a cache of that many lines, at least one, misses; else by the counts
    """
    program = f"smallest({counts}, {share:g})"
    value = a_number(smallest(dict(counts), share), unit="lines")
    if value != int(value) or not 0 <= value <= 1 << 40:
        raise Wrong(f"A cache cannot keep {value:g} lines.", program=program, spec=spec)
    every = sum(counts.values())
    for kept, few in ((int(value), True), (int(value) - 1, False)):
        if kept >= 1 and missing:
            count = missing(kept)
        else:
            count = sum(n for d, n in counts.items() if d < 0 or d >= kept)
        if kept >= 0 and (count <= share * every) != few:
            said = "misses too often" if few else "is enough"
            raise Wrong(
                f"A cache of {kept} line{'s' * (kept != 1)} {said}: {count} of {every} accesses "
                "miss.",
                program=program,
                got=f"{value:g}",
                spec=spec,
            )


# ── the register tile ──

background(
    "u07.register_tile",
    "Then it does rows × vectors vector multiply-adds, row after row",
    because="what the number of loads is divided by",
)
FIT = "All sums, the vectors of w and one number of x must be in registers at the same time"
FEWEST = "The tile of sums that needs the fewest loads for each multiply-add"


@checks(
    "u07.register_tile",
    spec=[FIT, FEWEST, "Each step of k loads `vectors` vectors of w and, for each of the rows",
          "there are `registers` of them", "If several tiles are equally good, any of them"],
)  # fmt: skip
def the_best_tile(register_tile):
    """Tiles for 16 and for 32 registers."""
    for registers, seal in TILES.items():
        rows, vectors = fitting(register_tile, registers)
        try:
            sealed(f"u07.register_tile.{registers}", ratio_of(rows, vectors), seal)
        except Wrong:
            raise Wrong(
                f"With {registers} registers there is a tile with fewer than "
                f"{ratio_of(rows, vectors):.3f} loads for each multiply-add.",
                program=f"register_tile({registers})",
                got=f"{rows} rows × {vectors} vectors",
                spec=FEWEST,
            ) from None
    return "16 and 32 registers"


def ratio_of(rows: int, vectors: int) -> float:
    return (rows + vectors) / (rows * vectors)


def fitting(register_tile: Any, registers: int) -> tuple[int, int]:
    """The answer as two whole numbers that fit."""
    program = f"register_tile({registers})"
    got = register_tile(registers)
    try:
        rows, vectors = (int(v) for v in got if int(v) == v and v >= 1)
    except (TypeError, ValueError):
        shown = "nothing (is a `return` missing?)" if got is None else repr(got)[:200]
        raise Wrong("The function must return (rows, vectors), two whole numbers of at least 1.",
                    program=program, got=shown, spec=FEWEST) from None  # fmt: skip
    needed = rows * vectors + vectors + 1
    if needed > registers:
        raise Wrong(
            f"{rows} rows × {vectors} vectors need {needed} registers, and there are {registers}.",
            program=program,
            got=f"({rows}, {vectors})",
            spec=FIT,
        )
    return rows, vectors


# ── the bad width ──


@checks(
    "u07.bad_width",
    spec=["The first element of each of the rows 0 to `ways` is read, from top to bottom",
          "Every access must miss", "a multiple of 16, at least 16 and at most 65,536",
          "The matrix is row-major and begins at the start of a line, and a line holds 16",
          "A width at which a cache cannot even keep `ways` + 1 lines of one column",
          "sets is a power of two and at least 2"],
)  # fmt: skip
def every_access_misses(bad_width):
    """Four caches."""
    for sets, ways in ((8, 4), (64, 8), (2, 1), (16, 2)):
        always_misses(bad_width, sets, ways)
    return "four caches"


def always_misses(bad_width: Any, sets: int, ways: int) -> None:
    program = f"bad_width({sets}, {ways})"
    width = a_number(bad_width(sets, ways), unit="elements")
    if width != int(width) or width % 16 or not 16 <= width <= 65_536:
        raise Wrong(
            f"The width must be a multiple of 16 from 16 to 65,536, not {width:g}.",
            program=program,
            spec="a multiple of 16, at least 16 and at most 65,536",
        )
    lines = [int(width) // 16 * row for row in range(ways + 1)] * 2
    missing = by_distance(lines, sets, ways)
    if len(missing) < len(lines):
        raise Wrong(
            f"Only {len(missing)} of {len(lines)} accesses miss at a width of {width:g}.",
            program=program,
            got=f"the lines {lines[: ways + 1]} are in the sets "
            f"{[line % sets for line in lines[: ways + 1]]}",
            spec="Every access must miss",
        )
