"""Answers to unit 4: plausible mistakes that every check must catch, other right ones that pass.

Here: the exercises that are evidence, lives and numbers. Next room: memory.py, steps.py, layout.py.
"""

from __future__ import annotations

import collections
import random

import numpy as np

from autograder.check.framework import alternative, mutant
from autograder.units.u04.answers import BROKEN_LIVES, BROKEN_OFFSETS
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size, lower_bound
from course_lib.memory.planners import best_fit, first_fit


@mutant("u04.clash")
def the_first_two_that_share():
    return ("a", "e", "k")


@mutant("u04.clash")
def the_last_one_on_these_bytes():
    return ("a", "l", "m")


@mutant("u04.clash")
def by_the_name_of_the_view():
    return ("c", "i", "l")


@mutant("u04.clash")
def only_the_pair():
    return ("a", "i")


@mutant("u04.clash")
def a_result_further_down():
    return ("a", "i", "m")


@alternative("u04.clash")
def with_percent_signs():
    return ["%a", "%i", "%l"]


@mutant("u04.first_fit_wins")
def both_meet_the_bound():
    return [Interval("a", 64, 0, 1), Interval("b", 64, 1, 2)]


@mutant("u04.first_fit_wins")
def the_names_repeat():
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return [Interval("v", 64 * n, a, b) for a, b, n in rows]


@mutant("u04.first_fit_wins")
def in_single_bytes():
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return [Interval("abcdef"[k], n, a, b) for k, (a, b, n) in enumerate(rows)]


@mutant("u04.first_fit_wins")
def first_fit_misses_it_too():
    rows = [(0, 1, 2), (0, 5, 1), (1, 2, 1), (2, 5, 3), (3, 5, 2)]
    return [Interval("abcdef"[k], 64 * n, a, b) for k, (a, b, n) in enumerate(rows)]


@alternative("u04.first_fit_wins")
def another_seven():
    rows = [(0, 2, 2), (1, 1, 2), (1, 3, 2), (2, 5, 1), (3, 5, 1), (4, 5, 3), (5, 5, 1)]
    return tuple(Interval(f"value {k}", 64 * n, a, b) for k, (a, b, n) in enumerate(rows))


@mutant("u04.lines")
def nine_for_each_channel():
    return {"nchw": 576, "nhwc": 36, "nchw16c": 36}


@mutant("u04.lines")
def one_for_each_row():
    return {"nchw": 192, "nhwc": 36, "nchw16c": 36}


@mutant("u04.lines")
def one_for_each_pixel():
    return {"nchw": 320, "nhwc": 9, "nchw16c": 9}


@mutant("u04.lines")
def half_of_a_number():
    return {"nchw": 320.5, "nhwc": 36, "nchw16c": 36}


@mutant("u04.lines")
def one_layout():
    return {"nchw": 320}


@alternative("u04.lines")
def as_floats():
    return {"nchw": 320.0, "nhwc": np.int64(36), "nchw16c": 36, "nhcw": 320}


@alternative("u04.clash")
def as_an_array():
    return np.array(["a", "i", "l"])


@alternative("u04.clash")
def found_in_the_picture():
    """Whose bytes are taken while a view of it waits, by the steps of the plan."""
    lives = {i.name: i for i in BROKEN_LIVES}
    last = {"a": 11}  # %c shows the bytes of a, and %l reads it
    takes = next(
        name
        for name, life in lives.items()
        if BROKEN_OFFSETS[name] == BROKEN_OFFSETS["a"] and lives["a"].last < life.first <= last["a"]
    )
    return (name for name in ("a", takes, "l"))


@mutant("u04.first_fit_wins")
def more_than_ten():
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    rows += [(9, 9, 1)] * 5
    return [Interval(f"v{k}", 64 * n, a, b) for k, (a, b, n) in enumerate(rows)]


@mutant("u04.first_fit_wins")
def before_the_first_step():
    rows = [(-1, 1, 3), (-1, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return [Interval("abcdef"[k], 64 * n, a, b) for k, (a, b, n) in enumerate(rows)]


@alternative("u04.first_fit_wins")
def found_at_random():
    """Draw small sets of lives until one works, as the last hint says."""
    rng = random.Random(56)
    while True:
        starts = sorted(rng.randint(0, 5) for _ in range(8))
        found = [
            Interval(f"v{k}", 64 * rng.randint(1, 4), a, min(a + rng.randint(0, 4), 5))
            for k, a in enumerate(starts)
        ]
        sizes = [arena_size(found, planner(found)) for planner in (first_fit, best_fit)]
        if sizes[0] == lower_bound(found) < sizes[1]:
            return found


@alternative("u04.first_fit_wins")
def larger_and_later():
    rows = [(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)]
    return (Interval(f"x{k}", np.int64(640 * n), a + 9, b + 9) for k, (a, b, n) in enumerate(rows))


@alternative("u04.lines")
def by_marking_bytes():
    """An array of the addresses of all elements; a line is marked when one of its bytes is read."""
    element = np.arange(64 * 56 * 56)
    plain = element.reshape(64, 56, 56)
    pixels = element.reshape(56, 56, 64).transpose(2, 0, 1)
    blocks = element.reshape(4, 56, 56, 16).transpose(0, 3, 1, 2).reshape(64, 56, 56)
    at = {"nchw": plain, "nhwc": pixels, "nchw16c": blocks}
    return {name: np.unique(a[:, 10:13, 14:17] * 4 // 64).size for name, a in at.items()}


@alternative("u04.lines")
def with_pen_and_paper():
    rows = 64 * 3
    cut = sum((4 * ((c * 56 + h) * 56 + 14)) // 64 != (4 * ((c * 56 + h) * 56 + 16)) // 64
              for c in range(64) for h in (10, 11, 12))  # fmt: skip
    return collections.Counter(nchw=rows + cut, nhwc=9 * 64 * 4 // 64, nchw16c=9 * 4)
