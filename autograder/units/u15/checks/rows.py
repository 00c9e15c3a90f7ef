"""Visible checks of unit 15: programs without changes in place. Next room: division.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from autograder.units.u15.checks import is_number
from lessons.u15.rows import Row, ran, shown

VIEW = '("v", "view", x, low, high) makes v a name for the numbers x[low:high], without a copy'
PLACE = '("v", "add_", y) and ("v", "mul_", y) change the numbers of v in place'
NEW = '("z", "add", x, y) and ("z", "mul", x, y) make a new array. Each name is made once'
SAME = "a program that computes the same, and for each name of `rows` the name in the new program"
ENDS = "for each name of `rows` the name in the new program that holds its numbers at the end"
OPS = 'The new program consists of "add", "mul", ("v", "slice", x, low, high)'
PUT = '("y", "put", x, v, low, high), a copy of x in which v stands in the place of x[low:high]'
ONCE = "No name is defined twice"
READ = "names that are only read are the same arrays as in `rows`"
PYTHON = "Names in `rows` may be those of any variables in Python"
NESTED = "A view of a view is possible"
FOUR = "The new program has at most four rows for each row of the old one, not counting one more"
CLAIM = "Write a program without changes in place"
KINDS = {"add": (str, str), "mul": (str, str), "slice": (str, int, int),
         "put": (str, str, int, int)}  # fmt: skip
RENAMED: list[Row] = [
    ("v", "view", "x", 1, 3), ("v", "add_", "y"), ("z", "mul", "x", "x"), ("w", "view", "z", 0, 2),
    ("w", "mul_", "v"), ("u", "add", "z", "x"),
]  # fmt: skip

KNOWN: list[tuple[list[Row], dict[str, int], str]] = [
    ([("z", "add", "x", "y")], {"x": 2, "y": 2}, NEW),
    ([("x", "add_", "y")], {"x": 2, "y": 2}, PLACE),
    ([("x", "mul_", "x"), ("z", "add", "x", "x")], {"x": 2}, PLACE),
    ([("v", "view", "x", 1, 3)], {"x": 4}, VIEW),
    ([("v", "view", "x", 1, 3), ("v", "add_", "y")], {"x": 4, "y": 2}, VIEW),
    ([("v", "view", "x", 1, 3), ("x", "mul_", "x"), ("z", "add", "v", "v")], {"x": 4}, VIEW),
    ([("v", "view", "x", 0, 2), ("w", "view", "x", 1, 3), ("v", "add_", "y"),
      ("z", "add", "w", "w")], {"x": 4, "y": 2}, VIEW),
    ([("v", "view", "x", 1, 4), ("w", "view", "v", 1, 3), ("w", "mul_", "y"),
      ("z", "add", "v", "v")], {"x": 5, "y": 2}, NESTED),
    ([("v", "view", "x", 0, 2), ("w", "view", "x", 2, 4), ("v", "add_", "w"), ("w", "mul_", "v")],
     {"x": 4}, PLACE),
    ([("z", "add", "x", "y"), ("v", "view", "z", 0, 1), ("v", "mul_", "one"), ("z", "add_", "y")],
     {"x": 2, "y": 2, "one": 1}, NEW),
    ([("z", "add", "x", "y"), ("x", "add_", "z"), ("z", "mul_", "x")], {"x": 2, "y": 2}, NEW),
]  # fmt: skip
MANY: list[Row] = [
    *((f"v{k}", "view", "x", k, k + 1) for k in range(12)),
    *((f"v{k}", "add_", "y") for k in range(12)),
]


@for_each("u15.functional", [*KNOWN, (MANY, {"x": 12, "y": 1}, FOUR)],
          "{} programs with views and changes in place",
          spec=[CLAIM, SAME, OPS, PUT, ONCE, READ, FOUR])  # fmt: skip
def known_programs(functional, rows, sizes, why):
    """Each name has the same numbers at the end, and nothing is changed in place."""
    right_rows(functional, rows, sizes, why)


@checks("u15.functional", spec=[ONCE, READ, PYTHON, SAME, OPS, ENDS, FOUR])
def no_name_is_taken(functional):
    """The new names are no names of the old program, whichever variables of Python those are."""
    right_rows(functional, RENAMED, {"x": 4, "y": 2})
    made, _ = functional([*RENAMED])
    tried = 0
    for old in "xyvzwu":
        for new in dict.fromkeys(row[0] for row in made if row[0] not in "xyvzwu"):
            if not new.isidentifier():
                continue
            rows = [tuple(new if part == old and k != 1 else part for k, part in enumerate(row))
                    for row in RENAMED]  # fmt: skip
            sizes = {new if name == old else name: n for name, n in (("x", 4), ("y", 2))}
            right_rows(functional, rows, sizes)
            tried += 1
    return f"{tried} programs with names that the answer had made"


@st.composite
def programs(draw: DrawFn, size: int = 6) -> tuple[list[Row], dict[str, int]]:
    """Rows of all kinds on arrays of a few lengths. An operand of a change in place has no number
    in common with what is changed, or all of them."""
    sizes = {name: draw(st.integers(1, 5)) for name in "xyz"[: draw(st.integers(1, 3))]}
    places = {name: (name, 0, n) for name, n in sizes.items()}  # the array, and which numbers
    used: set[str] = set()
    rows: list[Row] = []
    for k in range(draw(st.integers(1, size))):
        kind, x = draw(st.integers(0, 5)), draw(st.sampled_from(sorted(places)))
        array, low, high = places[x]
        fits = [n for n, p in sorted(places.items()) if p[2] - p[1] == high - low]
        y, name = draw(st.sampled_from(fits)), f"{'abcdefghi'[k % 9]}{k}"
        if kind < 2:
            start = draw(st.integers(0, high - low - 1))
            end = draw(st.integers(start + 1, high - low))
            rows.append((name, "view", x, start, end))
            places[name] = array, low + start, low + end
            used.add(x)
        elif kind < 5:
            other, first, last = places[y]
            if other == array and first != low and first < high and low < last:
                y = x
            rows.append((x, draw(st.sampled_from(["add_", "mul_"])), y))
            used |= {x, y}
        else:
            rows.append((name, draw(st.sampled_from(["add", "mul"])), x, y))
            places[name] = name, 0, high - low
            used |= {x, y}
    return rows, {name: n for name, n in sizes.items() if name in used}


@checks("u15.functional", given=programs(), examples=80, spec=[SAME, VIEW, PLACE, NEW, NESTED])
def other_programs(functional, given):
    """Programs in which views, views of views and changes in place follow each other."""
    right_rows(functional, *given)


def right_rows(functional: Any, rows: list[Row], sizes: dict[str, int], why: str = "") -> None:
    """The new program has no change in place, and holds the same numbers under the names given."""
    got = functional([*rows])
    wrong = partial(Wrong, program=shown(rows))
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[1], dict):
        raise wrong("The answer must be a program and a dict of names.", got=returned(got),
                    spec=SAME)  # fmt: skip
    made, names = got
    known = well_formed(made, {*sizes}, wrong)
    mine = partial(wrong, got=shown(made) or "no rows")
    every = {x for row in rows for x in row if isinstance(x, str) and x != row[1]}
    if lost := sorted(every - {*names}):
        raise mine(f"The dict must have a name for {', '.join(lost)}.", spec=ENDS)
    if strange := sorted(
        str(names[x]) for x in every if not isinstance(names[x], str) or names[x] not in known
    ):
        raise mine(f"The new program has no name {', '.join(strange)}.", spec=ENDS)
    most = 4 * len(rows) + len(every)
    if len(made) > most:
        raise mine(f"The new program has {len(made)} rows; at most {most} are allowed.", spec=FOUR)
    rng = np.random.default_rng(0)
    given = {name: rng.permutation(np.arange(2.0, n + 2)) for name, n in sizes.items()}
    before = ran(rows, given)
    try:
        after = ran(made, given)
    except (ValueError, IndexError) as error:
        raise mine(f"The new program cannot run: {error}.", spec=SAME) from None
    for name in sorted(every):
        if not np.array_equal(before[name], after[names[name]]):
            raise mine(f"At the end, {name} must hold {_numbers(before[name])}; its new name, "
                       f"{names[name]}, holds {_numbers(after[names[name]])}, for "
                       f"{_given(given)}.", spec=why or SAME)  # fmt: skip


def well_formed(made: Any, inputs: set[str], wrong: Any) -> set[str]:
    """The names of a program without changes in place; Wrong if it is none."""
    if not isinstance(made, (list, tuple)):
        raise wrong("The new program must be a list of rows.", got=returned(made), spec=OPS)
    known = {*inputs}
    for row in made:
        if not isinstance(row, (tuple, list)) or len(row) < 2 or str(row[1]) not in KINDS:
            raise wrong("Each new row must be an add, mul, slice or put.", got=returned(row),
                        spec=OPS)  # fmt: skip
        name, op, *rest = row
        kinds = (str, *KINDS[str(op)])
        parts = [int(x) if is_number(x) else x for x in (name, *rest)]
        if len(parts) != len(kinds) or not all(map(isinstance, parts, kinds)):
            raise wrong(f"A row of {op} has another form.", got=returned(row), spec=OPS)
        for x in rest:
            if isinstance(x, str) and x not in known:
                raise wrong(f"{x} is read before it is defined.", got=shown(made), spec=OPS)
        if name in known:
            if name in inputs:
                raise wrong(f"{name} is an input, and a row defines it.", got=shown(made),
                            spec=READ)  # fmt: skip
            raise wrong(f"{name} is defined twice.", got=shown(made), spec=ONCE)
        known.add(name)
    return known


def _numbers(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{x:g}" for x in values) + "]"


def _given(inputs: dict[str, np.ndarray]) -> str:
    return " and ".join(f"{name} = {_numbers(value)}" for name, value in inputs.items())
