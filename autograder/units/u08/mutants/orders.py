"""Answers to unit 8 about distances and conditions, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants

LATER = "min(new) < 0 if blocks else next((x for x in new if x)) < 0"

mutants(
    "u08.broken",
    # What the inner loops count does not matter.
    the_first_number_alone=(LATER, "new[0] < 0"),
    no_number_may_be_negative=(LATER, "min(new) < 0"),
    # As if an iteration in the same block, or in the same row of it, were an earlier one.
    every_number_must_grow=("min(new) < 0", "min(new) <= 0"),
    blocks_change_nothing=("min(new) < 0 if blocks else ", ""),
    the_old_order=("new = [", "new = distance or ["),
    columns_for_rows=("for row in rows", "for row in zip(*rows)"),
    # The distance in the new loops, not the one that was given.
    how_it_is_then=("return distance", "return tuple(new)"),
    the_last_one=("in distances", "in reversed(distances)"),
    # All numbers together, as if the loops were one.
    the_sum_must_grow=(LATER, "sum(new) < 0"),
    all_of_them=(
        *("for distance in", "bad = []\n    for distance in", "return None", "return bad"),
        *("return distance", "bad.append(distance)"),
    ),
    is_it_legal=("return distance", "return False", "return None", "return True"),
    # Right where there are no more new loops than old ones.
    as_many_rows_as_loops=("in rows]", "in rows[:len(distance)]]"),
    three_rows_at_most=("in rows]", "in rows[:3]]"),
    three_loops_at_most=("zip(row, distance, strict=True)", "list(zip(row, distance))[:3]"),
)


alternatives(
    "u08.broken",
    as_words_are_compared=(LATER, "any((x < 0 for x in new)) if blocks else new < [0] * len(new)"),
)


@alternative("u08.broken")
def as_a_product(distances, rows, blocks):
    for distance in distances:
        new = np.array(rows) @ np.array(distance)
        if not blocks:
            new = new[np.nonzero(new)][:1]
        if (new < 0).any():
            return distance
    return None


@alternative("u08.broken")
def by_two_loops(distances, rows, blocks):
    for distance in distances:
        for row in rows:
            number = 0
            for r, x in zip(row, distance, strict=True):
                number += r * x
            if number < 0:
                return [*distance]
            if number > 0 and not blocks:
                break
    return None


equivalent("u08.broken", "return None", "pass", because="a function without return returns None")
equivalent("u08.broken", "in zip(row, distance", "in zip(distance, row", because="r * x is x * r")
for new in ("<= 0", "< 1"):
    equivalent("u08.broken", "if x)) < 0", f"if x)) {new}", because="that number is never 0")


# ── elimination ──

PAIR = "a[k] * y - b[k] * x for x, y in zip(a, b, strict=True)"
ADDED = f"rows.append(tuple(({PAIR})))"
EACH = "0 if i == k else {} for i, (x, y) in enumerate(zip(a, b, strict=True))"

mutants(
    "u08.eliminate",
    # What the pairs say is lost.
    only_the_others=("for a in low", "for a in []"),
    only_the_pairs=("[tuple(row) for row in conditions if row[k] == 0]", "[]"),
    # A condition without variables says nothing: but -1 >= 0 says that there is no value.
    about_no_variable=("return rows", "return [row for row in rows if any(row[:-1])]"),
    the_first_lower_bound=("for a in low", "for a in low[:1]"),
    # Right where the coefficients are 1 and -1.
    added_as_they_are=(PAIR, EACH.format("x + y")),
    set_to_zero=lambda conditions, k: [(*row[:k], 0, *row[k + 1 :]) for row in conditions],
    multiplied_by_the_wrong_one=(PAIR, EACH.format("a[k] * x - b[k] * y")),
    # Each lower bound with one upper bound.
    neighbours_only=("for b in high", "for b in high[low.index(a):][:1]"),
    the_column_is_cut_out=("return rows", "return [(*x[:k], *x[k + 1:]) for x in rows]"),
    # As if the variable had to be whole: 2*x >= 1 and 2*x <= 1 would contradict each other.
    rounded_to_whole_numbers=(
        *(ADDED, f"*new, last = ({PAIR})\n            {ADDED}"),
        *(f"tuple(({PAIR}))", "(*new, last - (a[k] - 1) * (-b[k] - 1))"),
    ),
    # 2*y >= 1 says y >= 1 of whole numbers, and not of fractions.
    the_others_have_to_be_whole=(
        "return rows",
        "return [tuple((x // (gcd(*row[:-1]) or 1) for x in row)) for row in rows]",
    ),
    of_twenty_conditions=("low = [", "conditions = conditions[:20]\n    low = ["),
)
alternatives(
    "u08.eliminate",
    in_lowest_terms=(
        "return rows",
        "return [tuple((x // (gcd(*row) or 1) for x in row)) for row in {*rows}]",
    ),
)


@alternative("u08.eliminate")
def as_fractions(conditions, k):
    """A bound on each side, and the difference of any two."""
    bounds = [tuple(Fraction(x, abs(row[k])) for x in row) for row in conditions if row[k]]
    pairs = [[x + y for x, y in zip(a, b, strict=True)] for a in bounds for b in bounds
             if a[k] > 0 > b[k]]  # fmt: skip
    return [row for row in conditions if not row[k]] + pairs


@alternative("u08.eliminate")
def by_fractions(conditions, k):
    """Each condition divided by the size of its coefficient; then the pairs are sums."""
    sides = {1: [], -1: [], 0: []}
    for row in conditions:
        size = abs(row[k]) or 1
        sides[(row[k] > 0) - (row[k] < 0)].append([Fraction(x, size) for x in row])
    sums = [[x + y for x, y in zip(a, b, strict=True)] for a in sides[1] for b in sides[-1]]
    return [tuple(float(x) for x in row) for row in sides[0] + sums]


@alternative("u08.eliminate")
def as_arrays(conditions, k):
    rows = [np.array(row) for row in conditions]
    pairs = [b * a[k] - a * b[k] for a in rows for b in rows if a[k] > 0 > b[k]]
    return pairs + [row for row in rows if not row[k]]


for old, new in (("for a in low", "reversed("), ("for b in high", "reversed("),
                 ("in conditions if", "in reversed("),
                 ("rows.append(", "rows.insert(0,")):  # fmt: skip
    equivalent("u08.eliminate", old, new, because="the conditions may come in any order")
for old, ends in (("row[k] > 0", (">= 0", "> -1")), ("row[k] < 0", ("<= 0", "< 1"))):
    for end in ends:
        equivalent("u08.eliminate", old, f"row[k] {end}",
                   because="a condition without k then comes once more")  # fmt: skip
