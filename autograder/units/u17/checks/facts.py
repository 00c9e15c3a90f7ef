"""Visible checks of unit 17: bounds, and rules that hold or do not. Next room: stored.py."""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from autograder.units.u17.checks import is_int
from lessons.u17.rows import TYPES, Row, computed, reads, shown
from lessons.u17.rules import RULES, VALUES, side

# ── bounds ──

LOWEST = "Find the lowest and the highest value of each row of an integer expression"
ABOVE = "one or more rows; %0 is rows[0], and a row reads only rows above it"
PAIR = "a pair (lowest, highest) for each row; True and False count as 1 and 0"
LEAF = '("between", low, high) is any whole number from low to high'
TWO = '"add", "mul", "max" and "lt" are followed by the indices of two rows'
LESS = '"lt" gives 1 if the first is less, else 0'
DIVIDE = '("floordiv", i, c) and ("mod", i, c) divide row i by the positive number c'
CAST = '("cast", i, name) keeps as many low bits of row i as the type has'
LIMITS = "TYPES has each type's lowest and highest value"
FREE = "Operands take all values within their bounds, independently of each other"
COVERS, TIGHT = "A pair covers every value that its row can then have", "no narrower pair does"
LARGE = 'The numbers of "between" lie within -2**61 to 2**61: there is no time to try all values'
ABOUT = {"lt": LESS, "floordiv": DIVIDE, "mod": DIVIDE, "cast": CAST}
SAYS = [*dict.fromkeys(ABOUT.values()), COVERS, TIGHT]
SEQUENCES = (list, tuple, np.ndarray)


def leaf(low: int, high: int) -> Row:
    return ("between", low, high)


HUGE = (-(2**60) - 1, 2**60 + 1)
OPERANDS: dict[str, list[tuple[Any, Any]]] = {  # bounds, and bounds or what it is
    "add": [((-3, 5), (2, 4))], "max": [((-3, 5), (1, 9))],
    "mul": [((-3, 5), (-2, 4)), ((-5, -3), (-4, -2)), (HUGE, HUGE)],
    "lt": [((0, 3), (4, 9)), ((4, 9), (0, 4)), ((0, 4), (4, 9)),
           ((2**53, 2**53 + 1), (2**53 + 1, 2**53 + 1))],
    "floordiv": [((-7, 7), 4), (HUGE, 3)],
    "mod": [((9, 11), 8), ((6, 9), 8), ((0, 7), 8), ((2, 10), 8), ((-3, -1), 8), ((-3, 3), 8),
            ((5000, 6500), 10_000), ((10**9 + 3, 10**9 + 9), 10**9), (HUGE, 7)],
    "cast": [((0, 100), "int8"), ((0, 255), "int8"), ((-128, 127), "int8"), ((130, 140), "int8"),
             ((-100, 156), "uint8"), ((-4, -2), "uint8"), ((-130, 130), "int16"),
             ((40_000, 50_000), "int16")],
}  # fmt: skip
ONE_ROW: list[list[Row]] = [
    *([leaf(*p), leaf(*q), (op, 0, 1)] if isinstance(q, tuple) else [leaf(*p), (op, 0, q)]
      for op, pairs in OPERANDS.items() for p, q in pairs),
    [leaf(-3, 5), ("mul", 0, 0)],
    [leaf(*HUGE), ("add", 0, 0), ("add", 1, 1), ("add", 2, 2), ("add", 3, 3)],
]  # fmt: skip


@checks("u17.bounds", spec=[ABOVE, PAIR, LEAF, TWO, LIMITS, LARGE, FREE, *SAYS])
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
        low, most = draw(st.integers(-far, far)), draw(st.sampled_from([0, 12, 600, far]))
        rows.append(leaf(low, low + draw(st.integers(0, most))))
    for _ in range(draw(st.integers(1, size))):
        op = draw(st.sampled_from(["add", "mul", "max", "lt", "floordiv", "mod", "cast"]))
        i, j = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
        if op == "cast":
            rows.append((op, i, draw(st.sampled_from(sorted(TYPES)))))
        elif op in ("floordiv", "mod"):
            by = draw(st.integers(1, draw(st.sampled_from([9, 600, far]))))
            if rows[i][0] == "between" and draw(st.booleans()):  # as many, or more than the largest
                low, high = rows[i][1:]
                many = draw(st.sampled_from([high - low, abs(low) + abs(high)]))
                by = max(1, many + draw(st.integers(-1, 2)))
            rows.append((op, i, by))
        else:
            rows.append((op, i, j))
    return rows


@checks("u17.bounds", given=expressions(), examples=100,
        spec=[LOWEST, FREE, *SAYS])  # fmt: skip
def whole_expressions(bounds, rows):
    """Each row's bounds are the lowest and highest value, over all values of its operands."""
    right_bounds(bounds, rows)


def right_bounds(bounds: Any, rows: list[Row]) -> None:
    """One pair for each row, right for whatever pairs its operands have."""
    got, wrong = bounds(rows), partial(Wrong, program=shown(rows))
    if not isinstance(got, SEQUENCES) or len(got) != len(rows):
        raise wrong("There must be a pair for each row.", got=returned(got), spec=PAIR)
    checked: list[tuple[int, int]] = []
    for at, (row, pair) in enumerate(zip(rows, got, strict=True)):
        two = isinstance(pair, SEQUENCES) and len(pair) == 2
        if not two or not all(isinstance(x, (int, np.integer, np.bool_)) for x in pair):
            raise wrong(f"The bounds of %{at} must be two whole numbers.", got=returned(pair),
                        spec=PAIR)  # fmt: skip
        checked.append((int(pair[0]), int(pair[1])))
        if row[0] == "between":
            if checked[at] != row[1:]:
                raise wrong(f"%{at} is any number from {row[1]} to {row[2]}.", got=returned(pair),
                            spec=LEAF)  # fmt: skip
            continue
        right, operands = extremes(row, [checked[one] for one in reads(row)])
        if checked[at] != right:
            wide = checked[at][0] <= right[0] and checked[at][1] >= right[1]
            shown_by = operands[checked[at][0] <= right[0]]  # two values of one row, or others
            said = FREE if row[1] == row[2] and len({*shown_by}) > 1 else ABOUT.get(row[0], COVERS)
            raise Wrong(_why(at, checked[at], right, operands), program=shown(rows, checked[:at]),
                        got=f"%{at}: {checked[at]}", expected=f"%{at}: {right}",
                        spec=TIGHT if wide else said)  # fmt: skip


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


def _why(at: int, pair: Any, wanted: Any, operands: Any) -> str:
    for k, what in ((0, "below"), (1, "above")):
        if (wanted[k] < pair[k]) if k == 0 else (wanted[k] > pair[k]):
            given = " and ".join(str(x) for x in operands[k])
            so = "operand is" if len(operands[k]) == 1 else "operands are"
            return f"%{at} can be {wanted[k]}, {what} your bounds, if its {so} {given}."
    where = "lies between {} and {}" if wanted[0] < wanted[1] else "is always {}"
    return f"%{at} never gets that far: it {where.format(*wanted)}."


# ── laws ──

WHICH = "Which of the rules above are false"
DIFFER = "the number of each false rule, with values of its variables for which its two sides"
MEAN = "Variables are whole numbers from -20 to 20; `//` and `%` are those of Python"
HOLD = "Leave out rules that hold for all values"


@checks("u17.laws", spec=[WHICH, DIFFER, MEAN, HOLD])
def each_false_rule_has_a_counterexample(laws):
    """Both sides are computed for the values given, and every rule that is left out holds."""
    examples = laws()
    dicts = isinstance(examples, dict) and all(isinstance(x, dict) for x in examples.values())
    if not dicts:
        raise Wrong("The answer must be a dict of dicts.", got=returned(examples), spec=DIFFER)
    for number, values in examples.items():
        if number not in RULES or not is_int(number):
            raise Wrong(f"There is no rule {returned(number)}.", got=returned(examples),
                        spec=DIFFER)  # fmt: skip
        names, wrong = variables(number), partial(Wrong, got=returned(values), spec=DIFFER,
                                                  program="  ->  ".join(RULES[number]))  # fmt: skip
        if not {*names} <= {*values} <= {"x", "y"}:  # a loop over x and y gives both
            raise wrong(f"Rule {number} needs values for {' and '.join(names)} only.")
        if any(not is_int(x) or x not in VALUES for x in values.values()):
            raise wrong("Each value must be a whole number from -20 to 20.", spec=MEAN)
        left, right = (side(text, {x: int(v) for x, v in values.items()}) for text in RULES[number])
        if left == right:
            raise wrong(f"With these values, both sides of rule {number} are {left}.")
    missing = [number for number in RULES if number not in examples and not holds(number)]
    if missing:
        raise Wrong("At least one of the rules that you left out is false.",
                    got=returned(sorted(examples)), spec=WHICH)  # fmt: skip


def variables(number: int) -> list[str]:
    return [name for name in "xy" if name in "".join(RULES[number]).replace("max", "")]


@cache
def holds(number: int) -> bool:
    """Are both sides equal for all values?"""
    left, right = RULES[number]
    names = variables(number)
    every = (dict(zip(names, values, strict=True)) for values in product(VALUES, repeat=len(names)))
    return all(side(left, values) == side(right, values) for values in every)
