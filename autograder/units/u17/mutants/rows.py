"""Mutants and alternatives of unit 17: bounds, and laws. Next room: kernels.py."""

from __future__ import annotations

from itertools import product

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from lessons.u17.rows import TYPES, computed, reads, wrapped
from lessons.u17.rules import RULES, side

equivalent("u17.bounds", "products = (low * a, low * b", "products =",
           because="their order is of no importance")  # fmt: skip


# ── bounds ──

MOD, CAST = "_around(low, high, 0, args[1])", "_around(low, high, least, most - least + 1)"
HULL, DIVIDED = "(min(products), max(products))", "(low // args[1], high // args[1])"
SQUARE = "(max(0, min(products)), max(products))"
ANY, ENDS = "(0, args[1] - 1)", "[low % args[1], high % args[1]]"

mutants(
    "u17.bounds",
    # Lowest times lowest, highest times highest.
    the_product_of_the_ends=(HULL, "(low * a, high * b)"),
    # What tinygrad 0.14.0 does: numbers that do not fit stop at the limit.
    a_cast_cuts_off=(CAST, "(max(low, least), min(high, most))"),
    # Right, but wider than need be for 130 to 140.
    a_cast_keeps_what_fits_and_nothing_else=(
        CAST,
        "(low, high) if least <= low and high <= most else (least, most)",
    ),
    a_cast_wraps_both_ends=(
        CAST,
        "tuple((x - least) % (most - least + 1) + least for x in (low, high))",
    ),
    a_remainder_is_anything=(MOD, ANY),
    a_small_remainder_is_the_number=(MOD, f"(low, high) if high < args[1] else {ANY}"),
    # As if so many numbers always wrapped around.
    a_remainder_of_a_hundred_numbers_is_anything=(MOD, f"{MOD} if high - low < 100 else {ANY}"),
    # From 2 to 10 there are nine numbers, one more than remainders of 8.
    a_remainder_of_more_numbers_than_it_has=(
        MOD,
        f"{ENDS} if high - low <= args[1] and {ENDS} == sorted({ENDS}) else {ANY}",
    ),
    division_as_in_c=(DIVIDED, "(int(low / args[1]), int(high / args[1]))"),
    # Right below 2**53.
    division_by_floats=(DIVIDED, "(int(low / args[1] // 1), int(high / args[1] // 1))"),
    a_comparison_is_unknown=("(int(high < a), int(low < b))", "(0, 1)"),
    less_or_equal=("high < a", "high <= a", "low < b", "low <= b"),
    nothing_is_less_than_itself=("int(low < b)", "int(low < b and args[0] != args[1])"),
    the_larger_highest=("max(low, a)", "min(low, a)"),
    # But the two operands are independent, even if they are one row.
    a_square_is_not_negative=(HULL, f"{HULL} if args[0] != args[1] else {SQUARE}"),
    in_32_bits=(
        "return pairs",
        "return [(max(-2 ** 31, x), min(2 ** 31 - 1, y)) for x, y in pairs]",
    ),
    only_the_last_row=("return pairs", "return pairs[-1:]"),
)
alternatives(
    "u17.bounds",
    truths_as_they_come=("(int(high < a), int(low < b))", "(high < a, low < b)"),
    as_lists=("return pairs", "return [list(pair) for pair in pairs]"),
    # Where they fit.
    as_numbers_of_numpy=lambda rows: [
        tuple(np.int64(x) if abs(x) < 2**62 else x for x in pair) for pair in by_a_table(rows)
    ],
)


@alternative("u17.bounds")
def by_a_table(rows):
    """One function for each operation."""
    rules = {
        "add": lambda p, q: (p[0] + q[0], p[1] + q[1]),
        "mul": lambda p, q: _hull(x * y for x in p for y in q),
        "max": lambda p, q: (max(p[0], q[0]), max(p[1], q[1])),
        "lt": lambda p, q: (int(p[1] < q[0]), int(p[0] < q[1])),
        "floordiv": lambda p, c: (p[0] // c, p[1] // c),
        "mod": lambda p, c: (p[0] % c, p[1] % c) if p[0] // c == p[1] // c else (0, c - 1),
        "cast": _cast,
    }
    pairs = []
    for op, *args in rows:
        if op == "between":
            pairs.append(tuple(args))
        else:
            last = args[1] if op in ("floordiv", "mod", "cast") else pairs[args[1]]
            pairs.append(rules[op](pairs[args[0]], last))
    return pairs


def _hull(values):
    values = list(values)
    return min(values), max(values)


def _cast(p, kind):
    low, high = wrapped(p[0], kind), wrapped(p[1], kind)
    return (low, high) if high - low == p[1] - p[0] else TYPES[kind]


@alternative("u17.bounds")
def by_all_values_of_small_operands(rows):
    """Tries every value where there are few, and only the ends where there are many."""
    bounds = []
    for row in rows:
        if row[0] == "between":
            bounds.append(row[1:])
            continue
        pairs = [bounds[one] for one in reads(row)]
        low, high = tried = pairs[0]
        if row[0] in ("cast", "mod") and high - low < 2000:
            tried = range(low, high + 1)
        elif row[0] in ("cast", "mod"):
            least, most = TYPES[row[2]] if row[0] == "cast" else (0, row[2] - 1)
            turn = most - least + 1
            first = low + turn - (low - least) % turn  # where the second turn begins
            tried = [x for x in (low, first - 1, first, high) if low <= x <= high]
        values = product(tried, *pairs[1:])
        bounds.append(_hull(computed(row, operands) for operands in values))
    return bounds


# ── laws ──

FALSE = {2: {"x": 7, "y": 1}, 3: {"x": 12}, 7: {"x": 1, "y": -1}, 8: {"x": 0, "y": 1}, 9: {"x": 2}}


mutants(
    "u17.laws",
    none_is_false=lambda: {},
    forgets_the_division_of_c=("7: {'x': 1, 'y': -1}, ", ""),
    forgets_the_sign_of_a_factor=("8: {'x': 0, 'y': 1}, ", ""),
    forgets_that_eight_bits_wrap=(", 9: {'x': 2}", ""),
    distrusts_two_divisions=lambda: {**FALSE, 5: {"x": -7}},
    distrusts_what_wraps_twice=lambda: {**FALSE, 10: {"x": 9}},
    a_value_on_which_both_sides_agree=lambda: {**FALSE, 2: {"x": 8, "y": 8}},
    a_variable_that_the_rule_has_not=lambda: {**FALSE, 3: {"x": 12, "z": 0}},
    a_variable_without_a_value=lambda: {**FALSE, 2: {"x": 7}},
    numbers_that_are_too_large=lambda: {**FALSE, 9: {"x": 2000}},
)
alternatives(
    "u17.laws",
    other_values=lambda: {2: {"x": -1, "y": -1}, 3: {"x": 13}, 7: {"x": 2, "y": -3},
                          8: {"x": -3, "y": 3}, 9: {"x": 7}},
    with_numbers_of_numpy=lambda: {np.int64(number): {x: np.int32(v) for x, v in values.items()}
                                   for number, values in FALSE.items()},
    with_both_variables_everywhere=lambda: {**FALSE, 3: {"x": 12, "y": 0}},
    in_another_order=lambda: dict(reversed(FALSE.items())),
)  # fmt: skip


@alternative("u17.laws")
def by_search():
    examples = {}
    for number, (left, right) in RULES.items():
        names = [name for name in "xy" if name in (left + right).replace("max", "")]
        for values in product(range(-20, 21), repeat=len(names)):
            given = dict(zip(names, values, strict=True))
            if side(left, given) != side(right, given):
                examples[number] = given
                break
    return examples
