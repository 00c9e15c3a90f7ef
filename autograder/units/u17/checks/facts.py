"""Visible checks of unit 17: bounds, and rules that hold or do not. Next room: stored.py."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.units.u17.checks import is_int, said
from lessons.u17.rows import TYPES, Row, computed, reads, shown
from lessons.u17.rules import RULES, VALUES, side

# ── bounds ──

LOWEST = "Find the lowest and the highest value of every row of an integer expression"
ABOVE = "one or more rows; %0 is rows[0], and a row reads only rows above it"
PAIR = "a pair (lowest, highest) for each row; True and False count as 1 and 0"
LEAF = '("between", low, high) is any whole number from low to high'
TWO = '"add", "mul", "max" and "lt" are followed by the indices of two rows'
LESS = '"lt" gives 1 if the first is less than the second, else 0'
DIVIDE = (
    '("floordiv", i, c) and ("mod", i, c) divide row i by the positive number c as'
    " Python's `//` and `%` do"
)
CAST = '("cast", i, name) keeps as many low bits of row i as the type has'
LIMITS = "TYPES has each type's lowest and highest value"
COVERS = (
    "Operands may take all values within their own bounds, independently of each other. A pair "
    "covers every value that its row can then have"
)
TIGHT = "no narrower pair does so"
ABOUT = {"add": TWO, "mul": TWO, "max": TWO, "lt": LESS, "floordiv": DIVIDE, "mod": DIVIDE,
         "cast": CAST}  # fmt: skip


def leaf(low: int, high: int) -> Row:
    return ("between", low, high)


ONE_ROW = [
    [leaf(-3, 5), leaf(2, 4), ("add", 0, 1)],
    [leaf(-3, 5), leaf(-2, 4), ("mul", 0, 1)],
    [leaf(-5, -3), leaf(-4, -2), ("mul", 0, 1)],
    [leaf(-3, 5), leaf(1, 9), ("max", 0, 1)],
    [leaf(0, 3), leaf(4, 9), ("lt", 0, 1)],
    [leaf(4, 9), leaf(0, 4), ("lt", 0, 1)],
    [leaf(0, 4), leaf(4, 9), ("lt", 0, 1)],
    [leaf(-7, 7), ("floordiv", 0, 4)],
    [leaf(9, 11), ("mod", 0, 8)],
    [leaf(6, 9), ("mod", 0, 8)],
    [leaf(0, 7), ("mod", 0, 8)],
    [leaf(2, 10), ("mod", 0, 8)],
    [leaf(-3, -1), ("mod", 0, 8)],
    [leaf(-3, 3), ("mod", 0, 8)],
    [leaf(0, 100), ("cast", 0, "int8")],
    [leaf(0, 255), ("cast", 0, "int8")],
    [leaf(-128, 127), ("cast", 0, "int8")],
    [leaf(-100, 156), ("cast", 0, "uint8")],
    [leaf(130, 140), ("cast", 0, "int8")],
    [leaf(-4, -2), ("cast", 0, "uint8")],
    [leaf(-130, 130), ("cast", 0, "int16")],
    [leaf(-(2**60) - 1, 2**60 + 1), ("floordiv", 0, 3), ("mod", 0, 7)],
    [leaf(2**53, 2**53 + 1), leaf(2**53 + 1, 2**53 + 1), ("lt", 0, 1), ("mul", 0, 1)],
]  # fmt: skip


@checks("u17.bounds", spec=[ABOVE, PAIR, LEAF, TWO, LESS, DIVIDE, CAST, LIMITS, TIGHT])
def one_operation(bounds):
    """Every kind of row, with those values of its operands tried that can give an extreme."""
    for rows in ONE_ROW:
        right_bounds(bounds, rows)
    return f"{len(ONE_ROW)} expressions"


@st.composite
def expressions(draw: DrawFn, size: int = 5) -> list[Row]:
    """Rows with small or large leaves, some of one value; the others read rows above them."""
    far = draw(st.sampled_from([12, 12, 300, 70_000, 10**18]))
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 3))):
        low = draw(st.integers(-far, far))
        rows.append(leaf(low, low + draw(st.integers(0, draw(st.sampled_from([0, 12, far]))))))
    for _ in range(draw(st.integers(1, size))):
        op = draw(st.sampled_from(["add", "mul", "max", "lt", "floordiv", "mod", "cast"]))
        i, j = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
        if op == "cast":
            rows.append((op, i, draw(st.sampled_from(sorted(TYPES)))))
        elif op in ("floordiv", "mod"):  # of a remainder, all values of one turn can be tried
            most = [9, 600] if op == "mod" else [9, 600, far]
            by = draw(st.integers(1, draw(st.sampled_from(most))))
            if rows[i][0] == "between" and draw(st.booleans()):  # about as many numbers as that
                wide = rows[i][2] - rows[i][1] + draw(st.integers(-1, 2))
                by = wide if 0 < wide < 600 else by
            rows.append((op, i, by))
        else:
            rows.append((op, i, j))
    return rows


@checks("u17.bounds", given=expressions(), examples=100,
        spec=[LOWEST, COVERS, TIGHT, *dict.fromkeys(ABOUT.values())])  # fmt: skip
def whole_expressions(bounds, rows):
    """Each row's bounds are the lowest and highest value, over all values of its operands."""
    right_bounds(bounds, rows)


def right_bounds(bounds: Any, rows: list[Row]) -> None:
    """One pair for each row, right for whatever pairs its operands have."""
    got = bounds(rows)
    sized = isinstance(got, (list, tuple, np.ndarray))
    if not sized or len(got) != len(rows):
        raise Wrong("There must be a pair for each row.", program=shown(rows), got=said(got),
                    spec=PAIR)  # fmt: skip
    found: list[tuple[int, int]] = []
    for at, row in enumerate(rows):
        pair = got[at]
        two = isinstance(pair, (list, tuple, np.ndarray)) and len(pair) == 2
        if not two or not all(isinstance(x, (int, np.integer, np.bool_)) for x in pair):
            raise Wrong(f"The bounds of %{at} must be two whole numbers.", program=shown(rows),
                        got=said(pair), spec=PAIR)  # fmt: skip
        found.append((int(pair[0]), int(pair[1])))
        if row[0] == "between":
            if found[at] != row[1:]:
                raise Wrong(f"%{at} is any number from {row[1]} to {row[2]}.", program=shown(rows),
                            got=said(pair), spec=LEAF)  # fmt: skip
            continue
        taken = extremes(row, [found[one] for one in reads(row)])
        if found[at] != taken[0]:
            raise Wrong(_why(at, row, found[at], *taken), program=shown(rows, found[:at]),
                        got=f"%{at}: {found[at]}", expected=f"%{at}: {taken[0]}",
                        spec=_spec(row, found[at], taken[0]))  # fmt: skip


def extremes(row: Row, pairs: list[Any]) -> tuple[tuple[int, int], tuple[Any, Any]]:
    """The lowest and highest value over all operands in these pairs, and operands that give them:
    they are at the ends, or where the numbers wrap around for the first time."""
    tried: list[Any] = list(pairs)
    if row[0] in ("mod", "cast"):
        low, high = pairs[0]
        least, most = TYPES[row[2]] if row[0] == "cast" else (0, row[2] - 1)
        wraps = low + (most - low) % (most - least + 1)  # the last number before
        tried = [[low, high, *(x for x in (wraps, wraps + 1) if low <= x <= high)]]
    values = {computed(row, operands): operands for operands in product(*tried)}
    low, high = min(values), max(values)
    return (low, high), (values[low], values[high])


def _why(at: int, row: Row, pair: Any, wanted: Any, operands: Any) -> str:
    for k, what in ((0, "below"), (1, "above")):
        if (wanted[k] < pair[k]) if k == 0 else (wanted[k] > pair[k]):
            given = " and ".join(str(x) for x in operands[k])
            so = "operand is" if len(operands[k]) == 1 else "operands are"
            return f"%{at} can be {wanted[k]}, {what} your bounds, if its {so} {given}."
    return f"%{at} never gets that far: it lies between {wanted[0]} and {wanted[1]}."


def _spec(row: Row, pair: Any, wanted: Any) -> str:
    wide = pair[0] <= wanted[0] and pair[1] >= wanted[1]
    return TIGHT if wide else ABOUT[row[0]]


# ── laws ──

WHICH = "Which of the rules above are false"
DIFFER = (
    "the number of each false rule, with values of its variables for which its two sides differ"
)
MEAN = (
    "Variables are whole numbers from -20 to 20; `//` and `%` are those of Python, "
    "cdiv(a, b) rounds towards zero, and i8(a) keeps the low 8 bits"
)
HOLD = "Leave out rules that hold for all values"


@checks("u17.laws", spec=[WHICH, DIFFER, MEAN, HOLD])
def each_false_rule_has_a_counterexample(laws):
    """Both sides are computed for the values given, and every rule that is left out holds."""
    found = laws()
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise Wrong("The answer must be a dict of dicts.", got=said(found), spec=DIFFER)
    for number, values in found.items():
        if number not in RULES or not is_int(number):
            raise Wrong(f"There is no rule {said(number)}.", got=said(found), spec=DIFFER)
        left, right = RULES[number]
        names = variables(number)
        if {*values} != {*names}:
            raise Wrong(f"Rule {number} has the variable{'s' * (len(names) > 1)} "
                        f"{' and '.join(names)}, and needs values for no others.",
                        program=f"{left}  ->  {right}", got=said(values), spec=DIFFER)  # fmt: skip
        if any(not is_int(x) or x not in VALUES for x in values.values()):
            raise Wrong("Each value must be a whole number from -20 to 20.", got=said(values),
                        spec=MEAN)  # fmt: skip
        values = {name: int(value) for name, value in values.items()}
        both = side(left, values), side(right, values)
        if both[0] == both[1]:
            raise Wrong(f"With these values, both sides of rule {number} are {both[0]}.",
                        program=f"{left}  ->  {right}", got=said(values), spec=DIFFER)  # fmt: skip
    missing = [number for number in RULES if number not in found and not holds(number)]
    if missing:
        raise Wrong("At least one of the rules that you left out is false.",
                    got=said(sorted(found)), spec=WHICH)  # fmt: skip


def variables(number: int) -> list[str]:
    return [name for name in "xy" if name in "".join(RULES[number]).replace("max", "")]


@cache
def holds(number: int) -> bool:
    """Are both sides equal for all values?"""
    left, right = RULES[number]
    names = variables(number)
    every = (dict(zip(names, values, strict=True)) for values in product(VALUES, repeat=len(names)))
    return all(side(left, values) == side(right, values) for values in every)
