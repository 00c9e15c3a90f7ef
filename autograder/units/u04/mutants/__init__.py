"""Answers to unit 4: plausible mistakes that every check must catch, other right ones that pass.

Here: the exercises that are evidence, lives and numbers. Next room: allocator.py,
memory.py, steps.py, layout.py.
"""

from __future__ import annotations

import random

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from autograder.units.u04.exercises import BROKEN_LIVES, BROKEN_OFFSETS
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


def _lines(first, last, *, rows=(10, 11, 12), line=64, channels=64, element=4, block=16):
    """The lines of a window, with switches."""
    at = {
        "nchw": lambda c, h, w: (c * 56 + h) * 56 + w,
        "nhwc": lambda c, h, w: (h * 56 + w) * 64 + c,
        "nchw16c": lambda c, h, w: ((c // block * 56 + h) * 56 + w) * block + c % block,
    }
    every = [(c, h, w) for c in range(channels) for h in rows for w in range(first, last + 1)]
    return {name: len({element * of(*p) // line for p in every}) for name, of in at.items()}


@mutant("u04.lines")
def without_the_last_column(first, last):
    return _lines(first, last - 1)


@mutant("u04.lines")
def a_line_for_each_element_in_nchw(first, last):
    return {**_lines(first, last), "nchw": 64 * 3 * (last - first + 1)}


@mutant("u04.lines")
def rows_that_share_no_line(first, last):
    """Counts each row of a channel by itself: the rows of one channel touch each other."""
    rows = [_lines(first, last, rows=(h,)) for h in (10, 11, 12)]
    return {name: sum(row[name] for row in rows) for name in rows[0]}


@mutant("u04.lines")
def addresses_in_elements(first, last):
    return _lines(first, last, element=1)


@mutant("u04.lines")
def the_same_lines_for_each_place_of_the_window(first, last):
    """Counts what is touched again as often as it is touched."""
    places = [_lines(k, k + 2) for k in range(first, last - 1)]
    return {name: sum(place[name] for place in places) for name in places[0]}


@mutant("u04.lines")
def as_few_as_the_bytes_need(first, last):
    bytes_read = 4 * 64 * 3 * (last - first + 1)
    return dict.fromkeys(("nchw", "nhwc", "nchw16c"), -(-bytes_read // 64))


@mutant("u04.lines")
def half_of_a_number(first, last):
    return {**_lines(first, last), "nchw": 320.5}


@mutant("u04.lines")
def one_layout(first, last):
    return {"nchw": _lines(first, last)["nchw"]}


@alternative("u04.lines")
def as_floats(first, last):
    found = _lines(first, last)
    return {**found, "nchw": float(found["nchw"]), "nhwc": np.int64(found["nhwc"]), "nhcw": 3}


@alternative("u04.lines")
def in_closed_form(first, last):
    """Runs of bytes: three for each channel in nchw, one for each row and block otherwise."""
    columns = last - first + 1
    touched = set()
    for channel in range(64):
        for row in (10, 11, 12):
            begin = 4 * ((channel * 56 + row) * 56 + first)
            touched |= set(range(begin // 64, (begin + 4 * columns - 1) // 64 + 1))
    return {"nchw": len(touched), "nhwc": 3 * columns * 4, "nchw16c": 3 * columns * 4}


@alternative("u04.lines")
def with_an_array(first, last):
    """Number the elements, move the axes, look where the window lies."""
    line = np.arange(64 * 56 * 56)
    images = {
        "nchw": line.reshape(64, 56, 56),
        "nhwc": line.reshape(56, 56, 64).transpose(2, 0, 1),
        "nchw16c": line.reshape(4, 56, 56, 16).transpose(0, 3, 1, 2).reshape(64, 56, 56),
    }
    return {
        name: np.unique(image[:, 10:13, first : last + 1] // 16).size
        for name, image in images.items()
    }


PIXEL = "each pixel, or each block of one, still has lines of its own, as many as before"
for _old, _new, _why in [
    ("(c * 56 + h)", "(c * 56 - h)", "the same rows 22 further up, which are 77 whole lines"),
    ("(h * 56 + w) * 64", "(h * 56 - w) * 64", PIXEL),
    ("(h * 56 + w) * 64", "(h * 57 + w) * 64", PIXEL),
    ("c // 16 * 56 + h) * 56", "c // 16 * 56 - h) * 56", PIXEL),
    ("c // 16 * 56 + h) * 56", "c // 16 * 57 + h) * 56", PIXEL),
    ("c // 16 * 56 + h) * 56", "c // 16 * 55 + h) * 56", PIXEL),
    ("c // 16 * 56 + h) * 56", "c // 16 * 56 + h) * 57", PIXEL),
    ("c // 16 * 56 + h) * 56 + w", "c // 16 * 56 + h) * 56 - w", PIXEL),
    (
        "c // 16 * 56",
        "c // 17 * 56",
        "these are four blocks, too, and a place in one is in its line",
    ),
    *(
        ("* 16 + c % 16}", f"* 16{rest}}}", PIXEL)
        for rest in ("", " + c // 16", " + c % 15", " + c")
    ),
    ("in range(64)", "reversed(list(range(64)))", "lines are counted in any order"),
    ("(10, 11, 12)", "(12, 11, 10)", "lines are counted in any order"),
]:
    equivalent("u04.lines", _old, _new, because=_why)
