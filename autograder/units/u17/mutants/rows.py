"""Mutants and alternatives of unit 17: bounds, and laws. Next room: kernels.py."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from lessons.u17.rows import TYPES, computed, reads, wrapped
from lessons.u17.rules import RULES, side

equivalent("u17.bounds", "products = (low * a, low * b", "products =",
           because="their order is of no importance")  # fmt: skip


def _ranges(rows, **other):
    """Bounds by one function for each operation, some of them replaced."""
    rules = {
        "add": lambda p, q: (p[0] + q[0], p[1] + q[1]),
        "mul": lambda p, q: _hull(x * y for x in p for y in q),
        "max": lambda p, q: (max(p[0], q[0]), max(p[1], q[1])),
        "lt": lambda p, q: (int(p[1] < q[0]), int(p[0] < q[1])),
        "floordiv": lambda p, c: (p[0] // c, p[1] // c),
        "mod": lambda p, c: (p[0] % c, p[1] % c) if p[0] // c == p[1] // c else (0, c - 1),
        "cast": _cast,
    } | other
    found = []
    for op, *args in rows:
        if op == "between":
            found.append(tuple(args))
        elif op in ("floordiv", "mod", "cast"):
            found.append(rules[op](found[args[0]], args[1]))
        else:
            found.append(rules[op](found[args[0]], found[args[1]]))
    return found


def _hull(values):
    values = list(values)
    return min(values), max(values)


def _cast(p, kind):
    low, high = wrapped(p[0], kind), wrapped(p[1], kind)
    return (low, high) if high - low == p[1] - p[0] else TYPES[kind]


@mutant("u17.bounds")
def the_product_of_the_ends(rows):
    """Lowest times lowest, highest times highest."""
    return _ranges(rows, mul=lambda p, q: (p[0] * q[0], p[1] * q[1]))


@mutant("u17.bounds")
def a_cast_cuts_off(rows):
    """What tinygrad 0.14.0 does: numbers that do not fit stop at the limit."""
    return _ranges(
        rows, cast=lambda p, kind: (max(p[0], TYPES[kind][0]), min(p[1], TYPES[kind][1]))
    )


@mutant("u17.bounds")
def a_cast_keeps_what_fits_and_nothing_else(rows):
    """Right, but wider than need be for 130 to 140."""

    def cast(p, kind):
        low, high = TYPES[kind]
        return p if low <= p[0] and p[1] <= high else (low, high)

    return _ranges(rows, cast=cast)


@mutant("u17.bounds")
def a_cast_wraps_both_ends(rows):
    return _ranges(rows, cast=lambda p, kind: (wrapped(p[0], kind), wrapped(p[1], kind)))


@mutant("u17.bounds")
def a_remainder_is_anything(rows):
    return _ranges(rows, mod=lambda p, c: (0, c - 1))


@mutant("u17.bounds")
def a_small_remainder_is_the_number(rows):
    return _ranges(rows, mod=lambda p, c: p if p[1] < c else (0, c - 1))


@mutant("u17.bounds")
def division_as_in_c(rows):
    return _ranges(rows, floordiv=lambda p, c: (int(p[0] / c), int(p[1] / c)))


@mutant("u17.bounds")
def a_comparison_is_unknown(rows):
    return _ranges(rows, lt=lambda p, q: (0, 1))


@mutant("u17.bounds")
def less_or_equal(rows):
    return _ranges(rows, lt=lambda p, q: (int(p[1] <= q[0]), int(p[0] <= q[1])))


@mutant("u17.bounds")
def the_larger_highest(rows):
    return _ranges(rows, max=lambda p, q: (min(p[0], q[0]), max(p[1], q[1])))


@mutant("u17.bounds")
def division_by_floats(rows):
    """Right below 2**53."""
    return _ranges(rows, floordiv=lambda p, c: (math.floor(p[0] / c), math.floor(p[1] / c)))


@mutant("u17.bounds")
def a_remainder_of_more_numbers_than_it_has(rows):
    """From 2 to 10 there are nine numbers, one more than remainders of 8."""

    def mod(p, c):
        low, high = p[0] % c, p[1] % c
        return (low, high) if p[1] - p[0] <= c and low <= high else (0, c - 1)

    return _ranges(rows, mod=mod)


@mutant("u17.bounds")
def a_square_is_not_negative(rows):
    """But the two operands are independent, even if they are one row."""
    return [(max(0, low), high) if row[0] == "mul" and row[1] == row[2] else (low, high)
            for row, (low, high) in zip(rows, _ranges(rows), strict=True)]  # fmt: skip


@mutant("u17.bounds")
def in_32_bits(rows):
    return [(max(-(2**31), low), min(2**31 - 1, high)) for low, high in _ranges(rows)]


@mutant("u17.bounds")
def only_the_last_row(rows):
    return _ranges(rows)[-1:]


@alternative("u17.bounds")
def by_a_table(rows):
    return _ranges(rows)


@alternative("u17.bounds")
def by_all_values_of_small_operands(rows):
    """Tries every value where there are few, and only the ends where there are many."""
    found = []
    for row in rows:
        if row[0] == "between":
            found.append(row[1:])
            continue
        pairs = [found[one] for one in reads(row)]
        if row[0] in ("cast", "mod"):
            low, high = pairs[0]
            turn = row[2] if row[0] == "mod" else TYPES[row[2]][1] - TYPES[row[2]][0] + 1
            tried = [range(low, min(high, low + turn) + 1)]
        else:
            tried = pairs
        found.append(_hull(computed(row, operands) for operands in product(*tried)))
    return found


@alternative("u17.bounds")
def truths_as_they_come(rows):
    return _ranges(rows, lt=lambda p, q: (p[1] < q[0], p[0] < q[1]))


@alternative("u17.bounds")
def as_numbers_of_numpy(rows):
    """Where they fit."""
    return [tuple(np.int64(x) if abs(x) < 2**62 else x for x in pair) for pair in _ranges(rows)]


@alternative("u17.bounds")
def as_lists(rows):
    return [list(pair) for pair in _ranges(rows)]


# ── laws ──

FALSE = {2: {"x": 7, "y": 1}, 3: {"x": 12}, 7: {"x": 1, "y": -1}, 8: {"x": 0, "y": 1}, 9: {"x": 2}}


@mutant("u17.laws")
def none_is_false():
    return {}


@mutant("u17.laws")
def forgets_the_division_of_c():
    return {number: values for number, values in FALSE.items() if number != 7}


@mutant("u17.laws")
def forgets_that_eight_bits_wrap():
    return {number: values for number, values in FALSE.items() if number != 9}


@mutant("u17.laws")
def forgets_the_sign_of_a_factor():
    return {number: values for number, values in FALSE.items() if number != 8}


@mutant("u17.laws")
def distrusts_two_divisions():
    return {**FALSE, 5: {"x": -7}}


@mutant("u17.laws")
def distrusts_what_wraps_twice():
    return {**FALSE, 10: {"x": 9}}


@mutant("u17.laws")
def a_value_on_which_both_sides_agree():
    return {**FALSE, 2: {"x": 8, "y": 8}}


@mutant("u17.laws")
def a_variable_that_the_rule_has_not():
    return {**FALSE, 3: {"x": 12, "y": 0}}


@mutant("u17.laws")
def numbers_that_are_too_large():
    return {**FALSE, 9: {"x": 2000}}


@alternative("u17.laws")
def other_values():
    return {2: {"x": -1, "y": -1}, 3: {"x": 13}, 7: {"x": 2, "y": -3}, 8: {"x": -3, "y": 3},
            9: {"x": 7}}  # fmt: skip


@alternative("u17.laws")
def with_numbers_of_numpy():
    return {np.int64(number): {name: np.int32(x) for name, x in values.items()}
            for number, values in FALSE.items()}  # fmt: skip


@alternative("u17.laws")
def in_another_order():
    return dict(reversed(FALSE.items()))


@alternative("u17.laws")
def by_search():
    found = {}
    for number, (left, right) in RULES.items():
        names = [name for name in "xy" if name in (left + right).replace("max", "")]
        for values in product(range(-20, 21), repeat=len(names)):
            given = dict(zip(names, values, strict=True))
            if side(left, given) != side(right, given):
                found[number] = given
                break
    return found
