"""Answers to unit 17: plausible mistakes that every check must catch, other right ones that pass.

Here: movement, and a dump. Next room: rows.py.
"""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternatives, mutants
from lessons.u17.rows import TYPES

FOLDED = "symbolic+reduce_collapse+debuf"


# ── windows ──

mutants(
    "u17.windows",
    # Repeats x, without moving the copies.
    rows_of_x=("cut = shrink skew", "cut = shrink rows"),
    # (k, n - k + 1) in place of (n - k + 1, k).
    the_other_way_round=("w = permute cut 1,0", ""),
    # Rows of n - 1: the copies move to the left.
    one_too_few=(
        *("longer = pad flat 0:{k}", "longer = shrink flat 0:{k * (n - 1)}"),
        *("skew = reshape longer", "left = reshape longer", "{n + 1}", "{n - 1}"),
        *("cut = ", r"skew = pad left 0:0,0:1\n    cut = "),
    ),
    # Windows that do not overlap, repeated until the shape is right.
    pieces_without_overlap=(
        lambda n, k: f"a = shrink x 0:{k}\nb = reshape a 1,{k}\nw = expand b {n - k + 1},{k}"
    ),
    # Forgets that the last windows would stick out.
    all_n_rows=("0:{n - k + 1}", "0:{n}"),
    by_addition=("w = permute cut 1,0", r"t = permute cut 1,0\n    w = add t 0"),
    # Repeats x n times in place of k.
    large_on_the_way=(
        *("expand row {k},{n}", "expand row {n + 1},{n}", "rows {k * n}", "rows {(n + 1) * n}"),
        *("pad flat 0:{k}", "pad flat 0:0", "longer {k},{n + 1}", "longer {n},{n + 1}"),
    ),
    of_fewer_than_200=("row = reshape x 1,{n}", "row = reshape x 1,{min(n, 199)}"),
)
alternatives(
    "u17.windows",
    # Cuts the zeros off where they stand: all but the last copy with a row of n + 1.
    without_the_last_copy=(
        *("cut = shrink skew 0:{k},0:{n - k + 1}", "turned = permute skew 1,0"),
        *("permute cut 1,0", "shrink turned 0:{n - k + 1},0:{k}"),
    ),
    # A copy more in place of the zeros.
    one_copy_more=(
        *("expand row {k},{n}", "expand row {k + 1},{n}", "rows {k * n}", "rows {(k + 1) * n}"),
        *("pad flat 0:{k}", "shrink flat 0:{k * (n + 1)}"),
    ),
    # The same trick with an axis more.
    with_three_axes=lambda n, k: (
        f"a = reshape x 1,1,{n}\nb = expand a 1,{k},{n}\nc = reshape b 1,{k * n}\n"
        f"d = pad c 0:0,0:{k}\ne = reshape d 1,{k},{n + 1}\n"
        f"f = shrink e 0:1,0:{k},0:{n - k + 1}\ng = permute f 0,2,1\n"
        f"w = reshape g {n - k + 1},{k}"
    ),
    # Windows from the end of x, turned round at both ends.
    turned_first=(
        *("row = reshape x 1,{n}", r"z = flip x 0\n    row = reshape z 1,{n}"),
        *("w = permute cut 1,0", r"t = permute cut 1,0\n    w = flip t 0,1"),
    ),
)


# ── a dump ──

mutants(
    "u17.culprit",
    the_pass_that_shows_a_kernel=lambda: ("split kernels", "%5", (-128, 127)),
    a_line_of_another_page=lambda: (FOLDED, "%4", (0, 255)),
    the_pass_before=lambda: ("apply rangeify", "%3", (-128, 127)),
    # Its bounds are false, but because of another line.
    the_comparison=lambda: (FOLDED, "%9", (0, 1)),
    the_sum=lambda: (FOLDED, "%8", (-251, 259)),
    the_bounds_of_the_page=lambda: (FOLDED, "%5", (0, 127)),
    as_a_byte=lambda: (FOLDED, "%5", (0, 255)),
    numbered_as_on_the_first_page=lambda: (FOLDED, "%1", (-128, 127)),
)
alternatives(
    "u17.culprit",
    as_a_list=lambda: [FOLDED, "%5", [-128, 127]],
    as_an_array=lambda: (FOLDED, "%5", np.array([-128, 127])),
    from_the_limits_of_the_type=lambda: (FOLDED, "%5", TYPES["int8"]),
    by_all_values=lambda: (FOLDED, "%5", _extremes((x + 128) % 256 - 128 for x in range(256))),
)


def _extremes(values):
    values = list(values)
    return min(values), max(values)
