"""Is there a point of whole numbers that satisfies some conditions? The one test under all others.

>>> i, j = Affine.var("i"), Affine.var("j")
>>> find_point(("i", "j"), zero=[i - j - 1], positive=[i, j, i * -1 + 7])     # i == j + 1, i <= 7
{'i': 1, 'j': 0}
>>> find_point(("i", "j"), zero=[i * 2 - j * 2 - 1], positive=[]) is None     # even is never odd
True
>>> find_point(("i",), zero=[], positive=[i * 3 - 4, i * -3 + 5]) is None     # 4/3 <= i <= 5/3
True

A condition is a row of numbers, a coefficient for each variable and then the constant. Four steps,
of which the first two answer most questions that a compiler asks:

    1  equations    2*i - 2*j == 1 has no solution, as 2 does not divide 1 (the GCD test). Every
                    other one is solved for a variable, in whole numbers, by Euclid's algorithm
    2  rounding     3*i >= 4 says no less than i >= 2
    3  elimination  of the last variable: each of its lower bounds is at most each upper bound.
                    When all are gone, only numbers are left to compare (Fourier and Motzkin).
                    When n are gone, a row that comes from more than n + 1 of the given ones says
                    hardly more than others (Kohler, 1967) and is left out. The search still looks
                    at every row that was given
    4  search       back through the variables, between the bounds that the others leave each.
                    They are those of fractions; where no whole number fits, the next is tried

An answer is exact, and may cost much: elimination may square the number of conditions with each
variable. It gives up (`TooHard`) beyond `ROWS` of them or `TRIES` numbers in the search; whoever
asks then has to assume that there is such a point. The bounds of loops and tiles have coefficients
of 1 mostly, and stay far below that. Instead of searching, the Omega test (Pugh, 1991) narrows the
bounds until every number fits. Next room: `domains.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from course_lib.ir.expr import Affine

ROWS, TRIES = 400, 2000  # conditions at a time, numbers tried
Row = list[int]  # a coefficient for each variable, then the constant
Known = dict[tuple[int, ...], int]  # rows, and a bit for each of the given ones they come from


class TooHard(Exception):
    """There may be such a point or not."""


def find_point(
    names: Sequence[str], zero: Iterable[Affine], positive: Iterable[Affine]
) -> dict[str, int] | None:
    """A point at which each of `zero` is 0 and each of `positive` at least 0; None: there is none.

    names  the variables. Each gets the number nearest to 0 that those before it leave it; as a rule
           these are the ones that stand first

    TooHard if the question is.
    """
    column = {name: k for k, name in enumerate(names)}
    equations = tuple([_row(affine, column) for affine in zero])
    rows = tuple([_row(affine, column) for affine in positive])
    values = _solution(len(names), equations, rows)
    return None if values is None else dict(zip(names, values, strict=False))


@lru_cache(maxsize=4096)  # most questions of a search have been asked before, under other names
def _solution(
    count: int, zero: tuple[tuple[int, ...], ...], positive: tuple[tuple[int, ...], ...]
) -> tuple[int, ...] | None:
    """Values of so many variables."""
    equations, rows = [*map(list, zero)], [*map(list, positive)]
    solved: list[tuple[int, Row]] = []
    while equations:
        equation = equations.pop()
        if not _solve(equation, solved, [*equations, *rows]):
            return None
    free = [k for k in range(count) if all(k != known for known, row in solved if not row[k])]
    stages = _eliminate(rows, free)
    values = None if stages is None else _search(stages, [0] * count + [1], [TRIES])
    if values is None:
        return None
    for k, row in reversed(solved):
        values[k] = _value(row, values)
    return tuple(values)


def _row(affine: Affine, column: Mapping[str, int]) -> tuple[int, ...]:
    row = [0] * len(column)
    for var, factor in affine.terms:
        row[column[var]] = factor
    return (*row, affine.const)


def _value(row: Row, values: Sequence[int]) -> int:
    return sum(map(int.__mul__, row, values))


def _solve(equation: Row, solved: list[tuple[int, Row]], others: list[Row]) -> bool:
    """Solve an equation for a variable, put it into the others, and write down what it is.

    With no coefficient of 1 they are made smaller first: 3*i + 5*j is 3*(i + j) + 2*j, and i + j,
    which may be any whole number as i may, takes the column of i. False: there is no solution.
    """
    while True:
        divisor = math.gcd(*equation[:-1])
        if not divisor:
            return equation[-1] == 0
        if equation[-1] % divisor:
            return False
        equation[:] = [c // divisor for c in equation]
        size, k = min((abs(c), -k) for k, c in enumerate(equation[:-1]) if c)
        k, a = -k, equation[-k]
        if size == 1:
            known = [-a * c for c in equation]
            known[k] = 0
        else:
            known = [-(c // a) for c in equation]
            known[k] = 1
        solved.append((k, known))
        for row in [equation, *others]:
            if factor := row[k]:
                row[k] = 0
                row[:] = [c + factor * d for c, d in zip(row, known, strict=True)]
        if size == 1:
            return True


def _eliminate(rows: list[Row], free: Sequence[int]) -> list[tuple[int, list[Row]]] | None:
    """For each variable the rows that bound it by those eliminated after it. None: the rows
    contradict each other.

    First comes one whose lower (or whose upper) bounds are whole numbers, for then there is a
    number between them wherever there is a fraction; of these, one that leaves few rows; of these,
    the last one.
    """
    known = _tidied((row, 1 << number) for number, row in enumerate(rows))
    stages, left = [], [*free]
    while left and known is not None:
        cost = {k: _cost([*known], k) for k in reversed(left)}
        k = min(cost, key=lambda k: cost[k])
        left.remove(k)
        stages.append((k, [[*row] for row in known if row[k]]))
        known = _tidied(_without(k, known, len(stages) + 1))
    return None if known is None else stages


def _without(k: int, known: Known, most: int) -> Iterator[tuple[Sequence[int], int]]:
    """What the rows say of the other variables; nothing that comes from more than `most` rows."""
    for row, origin in known.items():
        if not row[k]:
            yield row, origin
    low, high = ([pair for pair in known.items() if pair[0][k] * sign > 0] for sign in (1, -1))
    for (one, its), (other, others) in product(low, high):
        if (its | others).bit_count() <= most:
            a, b = -other[k], one[k]
            yield [a * x + b * y for x, y in zip(one, other, strict=True)], its | others


def _cost(rows: Sequence[Sequence[int]], k: int) -> tuple[bool, int]:
    """Are the bounds of a variable fractions? And how many more rows are there without it?"""
    low, high = ([abs(row[k]) for row in rows if row[k] * sign > 0] for sign in (1, -1))
    fractions = max(low, default=1) > 1 and max(high, default=1) > 1
    return fractions, len(low) * len(high) - len(low) - len(high)


def _tidied(rows: Iterable[tuple[Sequence[int], int]]) -> Known | None:
    """The rows in lowest terms, the constant rounded down, and of those that differ in it only the
    strongest. None if one of them says that a negative number is at least 0."""
    strongest: dict[tuple[int, ...], tuple[int, int, int]] = {}
    for row, origin in rows:
        divisor = math.gcd(*row[:-1])
        if divisor:
            terms = tuple([c // divisor for c in row[:-1]])
            new = row[-1] // divisor, origin.bit_count(), origin
            if terms not in strongest or new < strongest[terms]:
                strongest[terms] = new
            if len(strongest) > ROWS:
                raise TooHard
        elif row[-1] < 0:
            return None
    return {(*terms, constant): origin for terms, (constant, _, origin) in strongest.items()}


def _search(
    stages: Sequence[tuple[int, list[Row]]], values: list[int], left: list[int]
) -> list[int] | None:
    """Numbers for the variables of all stages, the last stage's first. `left`: how many tries."""
    if not stages:
        return values
    *rest, (k, rows) = stages
    values[k] = 0
    low = max((-(_value(row, values) // row[k]) for row in rows if row[k] > 0), default=None)
    high = min((_value(row, values) // -row[k] for row in rows if row[k] < 0), default=None)
    for number in _nearest_first(low, high):
        left[0] -= 1
        if left[0] < 0:
            raise TooHard
        values[k] = number
        if _search(rest, values, left) is not None:
            return values
    values[k] = 0
    return None


def _nearest_first(low: int | None, high: int | None) -> Iterator[int]:
    """The numbers from low to high, those near 0 first. None: there is no end on that side."""
    up = max(low or 0, 0)
    down = min(-1 if high is None else high, -1)
    while (high is None or up <= high) or (low is None or down >= low):
        if high is None or up <= high:
            yield up
        if low is None or down >= low:
            yield down
        up, down = up + 1, down - 1
