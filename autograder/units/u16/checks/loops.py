"""Visible checks of u16.schedule: loops that our compiler makes with it. Next room: table.py."""

from __future__ import annotations

import math
import random
from functools import partial
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.schedule.script import parse_schedule
from lessons.u16.nests import Row, product, rows_of

WRITE = "Write a schedule of our compiler that makes the loops of TVM"
ROWS = "a row for each loop, the outermost first: its axis"
TEXT = "the schedule as text, a step in each line"
KERNEL = "Our kernel is `product`, whose loops are i, j and k"
SAME = "After the schedule, its loops are those of the rows: the same order, extents and kinds"
LARGER = "Of two loops of an axis, the one further out takes the larger steps"
WHOLE = "The extents of an axis, multiplied, are its length, and every extent is 2 or more"
SEVERAL = "An axis may have one loop or several"
ALL = [WRITE, ROWS, TEXT, KERNEL, SAME, LARGER, WHOLE, SEVERAL]
BY_HAND: list[list[Row]] = [
    [("i", 4, "for"), ("j", 6, "for"), ("k", 5, "for")],
    [("k", 5, "for"), ("i", 4, "for"), ("j", 8, "vectorized")],
    [("i", 3, "for"), ("j", 6, "for"), ("k", 5, "for"), ("i", 4, "for")],
    [("i", 32, "parallel"), ("j", 16, "for"), ("k", 256, "for"), ("i", 4, "unroll"),
     ("j", 16, "vectorized")],
    [("j", 2, "parallel"), ("i", 3, "for"), ("k", 2, "for"), ("k", 3, "for"), ("k", 4, "unroll"),
     ("i", 5, "for"), ("j", 4, "for"), ("i", 2, "unroll"), ("j", 8, "vectorized")],
]  # fmt: skip


def nest(seed: int) -> list[Row]:
    """Loops such as a tuner chooses: up to four of an axis, in any order."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for axis in "ijk":
        rows += [
            (axis, rng.choice((2, 2, 3, 4, 5, 8)), "for")
            for _ in range(rng.choice((1, 2, 2, 3, 4)))
        ]
    rng.shuffle(rows)
    if rng.random() < 0.7 and rows[0][0] != "k":
        rows[0] = (*rows[0][:2], "parallel")
    if rng.random() < 0.7 and rows[-1][0] != "k":
        rows[-1] = (*rows[-1][:2], "vectorized")
    for k in range(max(1, len(rows) - 3), len(rows) - 1):
        if rng.random() < 0.5:
            rows[k] = (*rows[k][:2], "unroll")
    return rows


def as_it_must(schedule: Any, loops: list[Row]) -> None:
    """The schedule of an answer makes these loops."""
    got = schedule(list(loops))
    wrong = partial(Wrong, program="\n".join(map(str, loops)))
    if not isinstance(got, str):
        raise wrong("The answer must be a text.", got=returned(got), spec=TEXT)
    sizes = [math.prod(e for axis, e, _ in loops if axis == name) for name in "ijk"]
    try:
        made = rows_of(parse_schedule(got).apply(product(*sizes)))
    except ValueError as error:
        raise wrong(f"The schedule cannot be applied: {error}.", got=got, spec=TEXT) from None
    if [row[:3] for row in made] != loops:
        text = "\n".join(str(row[:3]) for row in made)
        raise wrong("The loops must be those of the rows.", got=f"{got}\n\n{text}", spec=SAME)
    for k, (axis, _, _, stride) in enumerate(made):
        due = math.prod(e for name, e, _ in loops[k + 1 :] if name == axis)
        if stride != due:
            raise wrong(f"Loop {k} must take steps of {due} along {axis}, not of {stride}.",
                        got=got, spec=LARGER)  # fmt: skip


@checks("u16.schedule", spec=ALL)
def loops_by_hand(schedule):
    """Five nests, one of them of TVM."""
    for loops in BY_HAND:
        as_it_must(schedule, loops)
    return f"{len(BY_HAND)} nests"


@checks("u16.schedule", given=st.integers(0, 499), examples=40, what="random nests", spec=ALL)
def random_nests(schedule, seed):
    """Up to four loops of each axis, in any order."""
    as_it_must(schedule, nest(seed))
