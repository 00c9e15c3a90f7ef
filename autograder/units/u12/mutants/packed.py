"""Answers to u12.pack, wrong and right."""

from __future__ import annotations

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.accelerator.array import closed


def _cycles(g, channels, m, window, array, ragged=True):
    whole, left = divmod(channels, g)
    last = closed.cycles(m, left * window, left, array) if left and ragged else 0
    return whole * closed.cycles(m, g * window, g, array) + last


@mutant("u12.pack")
def each_for_itself(channels, m, window, array):
    return 1


@mutant("u12.pack")
def all_together(channels, m, window, array):
    return channels


@mutant("u12.pack")
def as_many_as_fit_into_the_rows(channels, m, window, array):
    return min(channels, max(1, array.rows // window))


@mutant("u12.pack")
def as_many_as_there_are_columns(channels, m, window, array):
    return min(channels, array.cols)


@mutant("u12.pack")
def forgets_those_that_are_left(channels, m, window, array):
    return min(range(1, channels + 1), key=lambda g: _cycles(g, channels, m, window, array, False))


@mutant("u12.pack")
def one_column_for_all(channels, m, window, array):
    """As if the channels of a product added up into one column."""
    return min(range(1, channels + 1), key=lambda g: -(-channels // g)
               * closed.cycles(m, g * window, 1, array))  # fmt: skip


@mutant("u12.pack")
def window_for_each_is_shared(channels, m, window, array):
    """As if all channels of a product had the same rows."""
    return min(range(1, channels + 1), key=lambda g: -(-channels // g)
               * closed.cycles(m, window, g, array))  # fmt: skip


@mutant("u12.pack")
def the_products_and_not_the_channels(channels, m, window, array):
    best = min(range(1, channels + 1), key=lambda g: _cycles(g, channels, m, window, array))
    return -(-channels // best)


def _among(values, channels, m, window, array):
    some = [g for g in values if 1 <= g <= channels]
    return min(some or [1], key=lambda g: _cycles(g, channels, m, window, array))


@mutant("u12.pack")
def never_more_than_columns(channels, m, window, array):
    return _among(range(1, array.cols + 1), channels, m, window, array)


@mutant("u12.pack")
def never_one_alone(channels, m, window, array):
    return _among(range(2, channels + 1), channels, m, window, array) if channels > 1 else 1


@mutant("u12.pack")
def never_more_than_256(channels, m, window, array):
    return _among(range(1, 257), channels, m, window, array)


@mutant("u12.pack")
def only_what_leaves_no_rest(channels, m, window, array):
    whole = [g for g in range(1, channels + 1) if channels % g == 0]
    return _among(whole, channels, m, window, array)


@alternative("u12.pack")
def the_largest_of_the_best(channels, m, window, array):
    counts = {g: _cycles(g, channels, m, window, array) for g in range(1, channels + 1)}
    return max(g for g in counts if counts[g] == min(counts.values()))


@alternative("u12.pack")
def with_a_loop(channels, m, window, array):
    best, fewest = 1, None
    for g in range(1, channels + 1):
        total, to_do = 0, channels
        one = closed.cycles(m, g * window, g, array)
        while to_do >= g:
            total, to_do = total + one, to_do - g
        if to_do:
            total += closed.cycles(m, to_do * window, to_do, array)
        if fewest is None or total < fewest:
            best, fewest = g, total
    return best


@alternative("u12.pack")
def sorted_by_cycles(channels, m, window, array):
    found = sorted((_cycles(g, channels, m, window, array), g) for g in range(1, channels + 1))
    return float(found[0][1])


equivalent("u12.pack", "channels + 1)", "channels + 2)", because="one more is one product of all")
