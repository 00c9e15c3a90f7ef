"""Answers to unit 0: the shape of an array that does all products in the fewest clocks."""

import math

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.accelerator.systolic import SystolicArray, cycles


@mutant("u00.shape")
def always_a_square(parts, cells):
    side = math.isqrt(cells)
    while cells % side:
        side -= 1
    return side, cells // side


@mutant("u00.shape")
def only_wide_ones(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] <= s[1]])


@mutant("u00.shape")
def only_tall_ones(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] >= s[1]])


@mutant("u00.shape")
def the_longest_product_alone(parts, cells):
    """The most that one of them takes, not the sum."""

    def longest(shape):
        return max(clocks_on([part], *shape) for part in parts)

    return min(divisors(cells), key=longest)


@mutant("u00.shape")
def only_powers_of_two(parts, cells):
    return fastest(parts, [s for s in divisors(cells) if s[0] & (s[0] - 1) == 0])


@mutant("u00.shape")
def forgets_the_count(parts, cells):
    return fastest([(1, m, k, n) for _, m, k, n in parts], divisors(cells))


@mutant("u00.shape")
def only_the_first_product(parts, cells):
    return fastest(parts[:1], divisors(cells))


@mutant("u00.shape")
def counts_the_drain(parts, cells):
    return fastest(parts, divisors(cells), drain=True)


@mutant("u00.shape")
def fewer_cells(parts, cells):
    side = math.isqrt(cells)
    return side, side


def divisors(cells):
    return [(d, cells // d) for d in range(1, cells + 1) if cells % d == 0]


def clocks_on(parts, rows, cols, drain=False):
    one = rows + cols - 2 + rows * drain
    return sum(c * -(-m // rows) * -(-n // cols) * (k + one) for c, m, k, n in parts)


def fastest(parts, shapes, drain=False):
    return min(shapes, key=lambda s: clocks_on(parts, *s, drain=drain))


@alternative("u00.shape")
def from_tall_to_wide(parts, cells):
    """The last of equally fast shapes."""
    return fastest(parts, divisors(cells)[::-1])


@alternative("u00.shape")
def as_a_list_of_two(parts, cells):
    best = None
    for rows, cols in divisors(cells):
        clocks = clocks_on(parts, rows, cols)
        if best is None or clocks < best[0]:
            best = clocks, rows, cols
    return list(best[1:])


@alternative("u00.shape")
def with_the_library(parts, cells):
    """Asks the library's array for its clocks, row by row of the factors."""
    total = {}
    for rows in range(1, cells + 1):
        cols, rest = divmod(cells, rows)
        if not rest:
            array = SystolicArray(rows, cols)
            total[rows] = sum(c * cycles(m, k, n, array) for c, m, k, n in parts)
    rows = min(total, key=total.__getitem__)
    return np.int64(rows), np.int64(cells // rows)


equivalent("u00.shape", "for rows in range(", "reversed(", because="another of equal ones")
equivalent("u00.shape", "(rows, cells // rows)", "(cells // rows, rows)", because="the same shapes")
equivalent("u00.shape", "cells + 1)", "cells + 2)", because="cells + 1 does not divide cells")
