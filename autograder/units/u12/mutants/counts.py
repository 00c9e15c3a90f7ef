"""Answers to the counts of unit 12 and to u12.pack, wrong and right."""

from __future__ import annotations

import math

import numpy as np

from autograder.check.framework import alternative, alternatives, equivalent, mutant, mutants
from course_lib.accelerator.array import closed
from course_lib.accelerator.systolic import SystolicArray

PARTS, ALONE = "load, stream = ", "folds * (load + stream)"
mutants(
    "u12.clocks",
    forgets_the_wait=("wait * array.rows", "array.rows"),
    # Forgets that weights may be late.
    streams_always_follow_each_other=("max(time, load)", "time"),
    the_fill_is_paid_for_each_fold=("max(time, load)", "max(stream, load)"),
    shadow_loads_before_everything=("max(time, load)", "time", ALONE, "folds * load + stream"),
    one_fill_without_shadow_too=(ALONE, "folds * (load + time) + array.rows + array.cols - 2"),
    one_load_is_hidden=("load + (folds - 1)", "(folds - 1)"),
    output_stationary=lambda folds, time, array, wait: (
        folds * (time + array.rows + array.cols - 2)
    ),
    rows_and_columns_exchanged=("wait * array.rows", "wait * array.cols"),
    no_more_than_a_million_folds=(PARTS, f"folds = min(folds, 10**6); {PARTS}"),
    no_more_than_100_000_rows_of_operands=(PARTS, f"time = min(time, 10**5); {PARTS}"),
    a_wait_of_16_bits=(PARTS, f"wait = min(wait, 2**16); {PARTS}"),
    # By the formula only where a walk would take very long.
    a_walk_up_to_a_million_folds=(
        ALONE, f"{ALONE} if folds > 10**6 else sum((load + stream for _ in range(folds)))"),
    through_floats=(PARTS, f"folds = float(folds); {PARTS}"),
    through_floats_and_back=("max(time, load)", "int(max(float(time), load))",
                             ALONE, "int(float(folds) * (load + stream))"),
)  # fmt: skip


@mutant("u12.clocks")
def fold_by_fold(folds, time, array, wait):
    load, stream = wait * array.rows, time + array.rows + array.cols - 2
    total = load if array.shadow else 0
    for number in range(folds):
        hidden = array.shadow and number + 1 < folds
        total += max(time, load) if hidden else stream + (0 if array.shadow else load)
    return total


@alternative("u12.clocks")
def from_start_to_start(folds, time, array, wait):
    load = wait * array.rows
    last = time + (array.rows - 1) + (array.cols - 1)
    between = max(time, load) if array.shadow else last + load
    return load + between * (folds - 1) + last


@alternative("u12.clocks")
def by_the_library(folds, time, array, wait):
    """What the library counts, and what slow weights add."""
    count = closed.cycles(time, array.rows * folds, array.cols, array)
    extra = (wait - 1) * array.rows
    if not array.shadow:
        return count + folds * extra
    late = max(time, wait * array.rows) - max(time, array.rows)
    return count + extra + (folds - 1) * late


@alternative("u12.clocks")
def the_number_of_the_last_clock(folds, time, array, wait):
    first = wait * array.rows + 1
    stream = time - 1 + array.rows - 1 + array.cols - 1
    if array.shadow:
        starts = first + (folds - 1) * (time if time > wait * array.rows else wait * array.rows)
    else:
        starts = first + (folds - 1) * (stream + 1 + wait * array.rows)
    return np.int64(starts + stream)


JOINED = "''.join((letter for letter, cycles in counts.items() if cycles == reported))"
mutants(
    "u12.which",
    only_the_first=(JOINED, f"{JOINED}[:1]"),
    rounds_down=("-(-m * k * n // (rows * cols))", "m * k * n // (rows * cols)"),
    one_less_for_each_fold=("sums - 1", "sums - blocks"),
    drains_once=("sums + blocks * rows", "sums + rows"),
    drains_by_columns=("sums + blocks * rows", "sums + blocks * cols"),
    shadow_hides_all_loads=("clocks(folds, m, shadow, 1)", "clocks(folds, m, shadow, 1) - rows"),
    one_fold=("across = ", "m, n = (min(m, rows), min(n, cols)); across = "),
    fills_once=("blocks * (k + rows + cols - 2)", "blocks * k + rows + cols - 2"),
    folds_along_the_sum=("blocks * (k + rows + cols - 2)", "folds * (k + rows + cols - 2)"),
    weights_are_cut_like_sums=("clocks(folds, m, plain, 1)", "clocks(blocks, m, plain, 1)"),
    operands_stream_along_k=("clocks(folds, m, shadow, 1)", "clocks(folds, k, shadow, 1)"),
    as_if_there_were_always_one=(JOINED, f"{JOINED} or 'A'"),
)
alternatives("u12.which", from_the_back_with_commas=(JOINED, f"', '.join(reversed({JOINED}))"))


@alternative("u12.which")
def by_hand(m, k, n, rows, cols, reported):
    down, across, deep = -(-m // rows), -(-n // cols), -(-k // rows)
    a = down * across * (k + rows + cols - 2)
    e = (deep * across - 1) * max(m, rows) + m + 2 * rows + cols - 2
    counts = (a, a - 1, a + down * across * rows, deep * across * (m + 2 * rows + cols - 2), e,
              math.ceil(m * k * n / (rows * cols)))  # fmt: skip
    return "".join(x for x, cycles in zip("ABCDEF", counts, strict=True) if cycles == reported)


@alternative("u12.which")
def one_question_after_the_other(m, k, n, rows, cols, reported):
    count, letters = closed.cycles, ""
    outputs = count(m, k, n, SystolicArray(rows, cols))
    letters += "a" if outputs == reported else ""
    letters += "b" if outputs == reported + 1 else ""
    letters += "c" if count(m, k, n, SystolicArray(rows, cols, drain=True)) == reported else ""
    for letter, shadow in (("d", False), ("e", True)):
        array = SystolicArray(rows, cols, dataflow="ws", shadow=shadow)
        letters += letter if count(m, k, n, array) == reported else ""
    cells = rows * cols
    return letters + ("f" if (reported - 1) * cells < m * k * n <= reported * cells else "")


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

STRIPS, IMAGE = "-(-height // columns)", "height + strips * (window - 1)"
mutants(
    "u12.rows",
    each_pixel_of_a_window=lambda channels, height, width, window, columns: (
        channels * height * width * window**2, channels * -(-height // columns) * window**2),
    each_row_of_the_image_once=(IMAGE, "height + window - 1"),
    no_border=("(width + window - 1)", "width"),
    strips_are_rounded_down=(STRIPS, "max(1, height // columns)"),
    every_strip_is_whole=(IMAGE, "strips * (columns + window - 1)"),
    the_weights_are_read_once=("channels * strips * window", "channels * window"),
    a_row_of_weights=("strips * window * window", "strips * window"),
    one_channel=("channels * pixels, channels", "pixels, 1"),
    weights_for_each_row=("channels * strips * window", "channels * height * window"),
    strips_of_the_image=(STRIPS, "-(-(height + window - 1) // columns)"),
    exchanged=lambda channels, height, width, window, columns: (
        channels * -(-height // columns) * window**2,
        channels * (height + -(-height // columns) * (window - 1)) * (width + window - 1)),
)  # fmt: skip


@alternative("u12.rows")
def strip_by_strip(channels, height, width, window, columns):
    pixels = weights = 0
    for top in range(0, height, columns):
        rows = min(columns, height - top) + window - 1
        pixels += rows * (width + window - 1)
        weights += window**2
    return [np.int64(channels * pixels), channels * weights]


@alternative("u12.rows")
def every_row_that_is_needed(channels, height, width, window, columns):
    pixels = weights = 0
    for top in range(0, height, columns):
        strip = range(top, min(top + columns, height))
        pixels += len({row + i for row in strip for i in range(window)}) * (width + window - 1)
        weights += window * window
    return tuple(np.array([pixels, weights]) * channels)


@alternative("u12.rows")
def whole_strips_and_the_rest(channels, height, width, window, columns):
    whole, left = divmod(height, columns)
    image = whole * (columns + window - 1) + (left + window - 1 if left else 0)
    strips = math.ceil(height / columns)
    return channels * image * (window - 1 + width), channels * window**2 * strips
