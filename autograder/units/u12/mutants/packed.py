"""Answers to u12.pack, wrong and right."""

from __future__ import annotations

from autograder.check.framework import alternative, alternatives, equivalent, mutants
from course_lib.accelerator.array import closed

EVERY, BEST = "range(1, channels + 1)", "min(range(1, channels + 1), key=cycles)"
CYCLES = "whole * closed.cycles(m, g * window, g, array) + last"
ALIKE = "(whole + (left > 0)) * closed.cycles(m, "  # no product is smaller than the others
mutants(
    "u12.pack",
    each_for_itself=lambda channels, *layer: 1,
    all_together=lambda channels, *layer: channels,
    as_many_as_fit_into_the_rows=lambda channels, m, window, array: min(
        channels, max(1, array.rows // window)
    ),
    as_many_as_there_are_columns=lambda channels, m, window, array: min(channels, array.cols),
    forgets_those_that_are_left=(CYCLES, CYCLES.removesuffix(" + last")),
    # As if the channels of a product added up into one column.
    one_column_for_all=(CYCLES, f"{ALIKE}g * window, 1, array)"),
    # As if all channels of a product had the same rows.
    window_for_each_is_shared=(CYCLES, f"{ALIKE}window, g, array)"),
    the_products_and_not_the_channels=(BEST, f"-(-channels // {BEST})"),
    never_more_than_columns=(EVERY, "range(1, min(channels, array.cols) + 1)"),
    never_one_alone=(EVERY, "range(min(channels, 2), channels + 1)"),
    never_more_than_256=(EVERY, "range(1, min(channels, 256) + 1)"),
    only_what_leaves_no_rest=(EVERY, f"[g for g in {EVERY} if channels % g == 0]"),
)
alternatives(
    "u12.pack",
    the_largest_of_the_best=(BEST, "max(range(1, channels + 1), key=lambda g: (-cycles(g), g))"),
    sorted_by_cycles=(BEST, "float(sorted(range(1, channels + 1), key=cycles)[0])"),
)


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


equivalent("u12.pack", "channels + 1)", "channels + 2)", because="one more is one product of all")
