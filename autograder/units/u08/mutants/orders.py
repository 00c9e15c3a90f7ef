"""Answers to unit 8 about distances and conditions, wrong and right. Next room: schedules.py."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant


def _new(rows, distance):
    return [sum(r * x for r, x in zip(row, distance, strict=True)) for row in rows]


@mutant("u08.broken")
def the_first_number_alone(distances, rows, blocks):
    """What the inner loops count does not matter."""
    return next((d for d in distances if _new(rows, d)[0] < 0), None)


@mutant("u08.broken")
def no_number_may_be_negative(distances, rows, blocks):
    return next((d for d in distances if min(_new(rows, d)) < 0), None)


@mutant("u08.broken")
def every_number_must_grow(distances, rows, blocks):
    """As if an iteration in the same block, or in the same row of it, were an earlier one."""
    for distance in distances:
        new = _new(rows, distance)
        if min(new) <= 0 if blocks else _bad(new, False):
            return distance
    return None


@mutant("u08.broken")
def blocks_change_nothing(distances, rows, blocks):
    return next((d for d in distances if _new(rows, d) < [0] * len(rows)), None)


@mutant("u08.broken")
def the_old_order(distances, rows, blocks):
    return next((d for d in distances if (min(d) < 0 if blocks else d < (0,) * len(d))), None)


@mutant("u08.broken")
def columns_for_rows(distances, rows, blocks):
    turned = [*zip(*rows, strict=True)]
    return next((d for d in distances if _bad(_new(turned, d), blocks)), None)


@mutant("u08.broken")
def how_it_is_then(distances, rows, blocks):
    """The distance in the new loops, not the one that was given."""
    bad = next((d for d in distances if _bad(_new(rows, d), blocks)), None)
    return bad and tuple(_new(rows, bad))


@mutant("u08.broken")
def the_last_one(distances, rows, blocks):
    return next((d for d in reversed(distances) if _bad(_new(rows, d), blocks)), None)


@mutant("u08.broken")
def the_sum_must_grow(distances, rows, blocks):
    """All numbers together, as if the loops were one."""
    return next((d for d in distances if sum(_new(rows, d)) < 0), None)


@mutant("u08.broken")
def all_of_them(distances, rows, blocks):
    return [d for d in distances if _bad(_new(rows, d), blocks)]


@mutant("u08.broken")
def is_it_legal(distances, rows, blocks):
    return not any(_bad(_new(rows, d), blocks) for d in distances)


@mutant("u08.broken")
def as_many_rows_as_loops(distances, rows, blocks):
    """Right where there are no more new loops than old ones."""
    return next((d for d in distances if _bad(_new(rows[: len(d)], d), blocks)), None)


def _bad(new, blocks):
    return min(new) < 0 if blocks else new < [0] * len(new)


@alternative("u08.broken")
def as_words_are_compared(distances, rows, blocks):
    for distance in distances:
        new = _new(rows, distance)
        if any(x < 0 for x in new) if blocks else new < [0] * len(new):
            return distance


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


def _pairs(conditions, k):
    low = [row for row in conditions if row[k] > 0]
    high = [row for row in conditions if row[k] < 0]
    return [(a, b) for a in low for b in high]


@mutant("u08.eliminate")
def only_the_others(conditions, k):
    """What the pairs say is lost."""
    return [row for row in conditions if row[k] == 0]


@mutant("u08.eliminate")
def only_the_pairs(conditions, k):
    return [tuple(a[k] * y - b[k] * x for x, y in zip(a, b, strict=True))
            for a, b in _pairs(conditions, k)]  # fmt: skip


@mutant("u08.eliminate")
def about_no_variable(conditions, k):
    """A condition without variables says nothing: but -1 >= 0 says that there is no value."""
    return [row for row in in_lowest_terms(conditions, k) if any(row[:-1])]


@mutant("u08.eliminate")
def the_first_lower_bound(conditions, k):
    low = [row for row in conditions if row[k] > 0]
    return in_lowest_terms([row for row in conditions if row not in low[1:]], k)


@mutant("u08.eliminate")
def added_as_they_are(conditions, k):
    """Right where the coefficients are 1 and -1."""
    rest = [row for row in conditions if row[k] == 0]
    for a, b in _pairs(conditions, k):
        rest.append(
            tuple(0 if i == k else x + y for i, (x, y) in enumerate(zip(a, b, strict=True)))
        )
    return rest


@mutant("u08.eliminate")
def set_to_zero(conditions, k):
    return [(*row[:k], 0, *row[k + 1 :]) for row in conditions]


@mutant("u08.eliminate")
def multiplied_by_the_wrong_one(conditions, k):
    rest = [row for row in conditions if row[k] == 0]
    for a, b in _pairs(conditions, k):
        new = [a[k] * x - b[k] * y for x, y in zip(a, b, strict=True)]
        new[k] = 0
        rest.append(tuple(new))
    return rest


@mutant("u08.eliminate")
def neighbours_only(conditions, k):
    """Each lower bound with one upper bound."""
    rest = [row for row in conditions if row[k] == 0]
    low = [row for row in conditions if row[k] > 0]
    high = [row for row in conditions if row[k] < 0]
    for a, b in zip(low, high, strict=False):
        rest.append(tuple(a[k] * y - b[k] * x for x, y in zip(a, b, strict=True)))
    return rest


@mutant("u08.eliminate")
def the_column_is_cut_out(conditions, k):
    rest = [row for row in conditions if row[k] == 0] + only_the_pairs(conditions, k)
    return [(*row[:k], *row[k + 1 :]) for row in rest]


@mutant("u08.eliminate")
def rounded_to_whole_numbers(conditions, k):
    """As if the variable had to be whole: 2*x >= 1 and 2*x <= 1 would contradict each other."""
    rest = [tuple(row) for row in conditions if row[k] == 0]
    for a, b in _pairs(conditions, k):
        new = [a[k] * y - b[k] * x for x, y in zip(a, b, strict=True)]
        new[-1] -= (a[k] - 1) * (-b[k] - 1)
        rest.append(tuple(new))
    return rest


@mutant("u08.eliminate")
def the_others_have_to_be_whole(conditions, k):
    """2*y >= 1 says y >= 1 of whole numbers, and not of fractions."""
    rest = []
    for row in in_lowest_terms(conditions, k):
        divisor = int(np.gcd.reduce(row[:-1])) or 1
        rest.append(tuple(x // divisor for x in row))
    return rest


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


@alternative("u08.eliminate")
def in_lowest_terms(conditions, k):
    found = {tuple(row) for row in conditions if row[k] == 0}
    for a, b in _pairs(conditions, k):
        new = tuple(a[k] * y - b[k] * x for x, y in zip(a, b, strict=True))
        divisor = int(np.gcd.reduce(new)) or 1
        found.add(tuple(x // divisor for x in new))
    return sorted(found)


for old, new in (
    ("for a in low", "reversed("),
    ("for b in high", "reversed("),
    ("in conditions if", "in reversed("),
    ("found.append(", "found.insert(0,"),
):
    equivalent("u08.eliminate", old, new, because="the conditions may come in any order")
for old, new in (
    ("row[k] > 0", "row[k] >= 0"),
    ("row[k] > 0", "row[k] > -1"),
    ("row[k] < 0", "row[k] <= 0"),
    ("row[k] < 0", "row[k] < 1"),
):
    equivalent("u08.eliminate", old, new, because="a condition without k then comes once more")
