"""Answers to unit 4: plausible mistakes that every check must catch, other right ones that pass.

Here: the exercises that are evidence, lives and numbers. Next room: memory.py, steps.py, layout.py.
"""

from __future__ import annotations

import random

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from autograder.units.u04.exercises import BROKEN_LIVES, BROKEN_OFFSETS
from course_lib.exercises import slot
from course_lib.memory.liveness import Interval
from course_lib.memory.offsets import arena_size, lower_bound
from course_lib.memory.planners import best_fit, first_fit

# ── u04.clash ──

mutants(
    "u04.clash",
    the_first_two_that_share=lambda: ("a", "e", "k"),
    the_last_one_on_these_bytes=lambda: ("a", "l", "m"),
    by_the_name_of_the_view=lambda: ("c", "i", "l"),
    only_the_pair=lambda: ("a", "i"),
    a_result_further_down=lambda: ("a", "i", "m"),
)
alternatives(
    "u04.clash",
    with_percent_signs=lambda: ["%a", "%i", "%l"],
    as_an_array=lambda: np.array(["a", "i", "l"]),
)


@alternative("u04.clash")
def found_in_the_picture():
    """Whose bytes are taken while a view of it waits: %c shows the bytes of a, and %l reads it."""
    lives = {i.name: i for i in BROKEN_LIVES if BROKEN_OFFSETS[i.name] == BROKEN_OFFSETS["a"]}
    takes = next(name for name, life in lives.items() if lives["a"].last < life.first <= 11)
    return (name for name in ("a", takes, "l"))


# ── u04.first_fit_wins ──


def _lives(*rows):
    return tuple(Interval(f"value {k}", 64 * n, a, b) for k, (a, b, n) in enumerate(rows))


mutants(
    "u04.first_fit_wins",
    both_meet_the_bound=lambda: _lives((0, 1, 1), (1, 2, 1)),
    first_fit_misses_it_too=lambda: _lives((0, 1, 2), (0, 5, 1), (1, 2, 1), (2, 5, 3), (3, 5, 2)),
    the_names_repeat=("'abcdef'[k]", "'v'"),
    in_single_bytes=("64 * n", "n"),
    more_than_ten=("(5, 5, 4)]", "(5, 5, 4), *[(9, 9, 1)] * 5]", "abcdef", "abcdefghijk"),
    before_the_first_step=("(0, 1, 3), (0, 5, 2)", "(-1, 1, 3), (-1, 5, 2)"),
)
alternatives(
    "u04.first_fit_wins",
    another_seven=("(0, 1, 3), (0, 5, 2), (1, 1, 2), (1, 4, 2), (3, 5, 2), (5, 5, 4)",
                   "(0, 2, 2), (1, 1, 2), (1, 3, 2), (2, 5, 1), (3, 5, 1), (4, 5, 3), (5, 5, 1)",
                   "'abcdef'", "'abcdefg'"),
    larger_and_later=lambda: (
        Interval(i.name, np.int64(10 * i.size), i.first + 9, i.last + 9)
        for i in slot("u04.first_fit_wins").reference()),
)  # fmt: skip


@alternative("u04.first_fit_wins")
def found_at_random():
    """Draw small sets of lives until one works, as the last hint says."""
    rng = random.Random(56)
    while True:
        starts = sorted(rng.randint(0, 5) for _ in range(8))
        ends = [(rng.randint(1, 4), min(a + rng.randint(0, 4), 5)) for a in starts]
        lives = _lives(*((a, b, n) for a, (n, b) in zip(starts, ends, strict=True)))
        sizes = [arena_size(lives, planner(lives)) for planner in (first_fit, best_fit)]
        if sizes[0] == lower_bound(lives) < sizes[1]:
            return lives


# ── u04.lines ──

_LINE, _ALL = "4 * address(*p) // 64", "in at.items()}"

mutants(
    "u04.lines",
    without_the_last_column=("last + 1", "last"),
    a_line_for_each_element_in_nchw=(_ALL, f"{_ALL} | {{'nchw': len(window)}}"),
    # Counts each row of a channel by itself: the rows of one channel touch each other.
    rows_that_share_no_line=(_LINE, f"(p[1], {_LINE})"),
    addresses_in_elements=("4 * address", "address"),
    # Counts what is touched again as often as it is touched.
    the_same_lines_for_each_place_of_the_window=(_LINE, f"(k, {_LINE}) for k in range(first, last "
        "- 1)", "for p in window}", "for p in window if k <= p[2] < k + 3}"),
    as_few_as_the_bytes_need=(f"len({{{_LINE} for p in window}})", "-(-4 * len(window) // 64)"),
    half_of_a_number=(_ALL, f"{_ALL} | {{'nchw': 320.5}}"),
    one_layout=(_ALL, "in [*at.items()][:1]}"),
)  # fmt: skip
alternatives("u04.lines", as_floats=("len({", "1.0 * len({", _ALL, f"{_ALL} | {{'nhcw': 3}}"))


@alternative("u04.lines")
def in_closed_form(first, last):
    """Runs of bytes: three for each channel in nchw, one for each row and block otherwise."""
    columns, touched = last - first + 1, set()
    for begin in (4 * ((c * 56 + h) * 56 + first) for c in range(64) for h in (10, 11, 12)):
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
    windows = {name: image[:, 10:13, first : last + 1] for name, image in images.items()}
    return {name: np.int64(np.unique(window // 16).size) for name, window in windows.items()}


_PIXEL = "each pixel, or each block of one, still has lines of its own, as many as before"
_BLOCKS = "c // 16 * 56 + h) * 56 + w"
for _old, _new, _why in [
    ("(c * 56 + h)", "(c * 56 - h)", "the same rows 22 further up, which are 77 whole lines"),
    *(("(h * 56 + w) * 64", new, _PIXEL) for new in ("(h * 56 - w) * 64", "(h * 57 + w) * 64")),
    *((_BLOCKS, f"c // 16 * {new}", _PIXEL) for new in (
        "56 - h) * 56", "57 + h) * 56", "55 + h) * 56", "56 + h) * 57", "56 + h) * 56 - w")),
    (_BLOCKS, "c // 17 * 56", "these are four blocks, too, and a place in one is in its line"),
    *(("* 16 + c % 16}", f"* 16{r}}}", _PIXEL) for r in ("", " + c // 16", " + c % 15", " + c")),
    *((old, new, "lines are counted in any order") for old, new in (
        ("in range(64)", "reversed(list(range(64)))"), ("(10, 11, 12)", "(12, 11, 10)"))),
]:  # fmt: skip
    equivalent("u04.lines", _old, _new, because=_why)
