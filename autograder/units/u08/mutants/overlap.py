"""Answers about overlapped tiles, wrong and right. Next room: ../hidden.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutants

HALO = "tiles * (window - stride)"

mutants(
    "u08.overlapped",
    each_value_once=(HALO, "window - stride"),
    only_what_the_tiles_write=(f" + {HALO}", ""),
    half_the_overlap=(HALO, "tiles * (window - stride) // 2"),
    on_both_sides=(HALO, "2 * tiles * (window - stride)"),
    as_if_the_stride_were_one=("stride * size", "size", HALO, "tiles * (window - 1)"),
    one_less_in_the_overlap=(HALO, "tiles * (window - 1)"),
    whole_tiles_only=("-(-size // part)", "size // part"),
    the_last_tile_as_large_as_the_others=("stride * size", "stride * tiles * part"),
    rows_and_columns_exchanged=("in zip((height, width)", "in zip((width, height)"),
    the_sum_of_rows_and_columns=("total *=", "total +="),
    only_what_is_computed_again=(
        "return total",
        "return total - (stride * (height - 1) + window) * (stride * (width - 1) + window)",
    ),
    square_tiles=("tile, strict=True", "(tile[0], tile[0]), strict=True"),
    square_results=("(height, width)", "(height, height)"),
    no_tile_is_larger_than_64=("tiles = ", "part = min(part, 64)\n        tiles = "),
)


@alternative("u08.overlapped")
def tile_after_tile(height, width, tile, window, stride):
    total = 0
    for i in range(0, height, tile[0]):
        for j in range(0, width, tile[1]):
            rows, columns = min(tile[0], height - i), min(tile[1], width - j)
            total += ((rows - 1) * stride + window) * ((columns - 1) * stride + window)
    return total


@alternative("u08.overlapped")
def with_whole_tiles_and_a_rest(height, width, tile, window, stride):
    def along(size, part):
        whole, rest = divmod(size, part)
        return whole * ((part - 1) * stride + window) + (rest > 0) * ((rest - 1) * stride + window)

    return along(height, tile[0]) * along(width, tile[1])


@alternative("u08.overlapped")
def every_row_and_column(height, width, tile, window, stride):
    def along(size, part):
        ends = [(at, min(at + part, size)) for at in range(0, size, part)]
        return sum(len(range(a * stride, (b - 1) * stride + window)) for a, b in ends)

    return np.int64(along(height, tile[0])) * along(width, tile[1])


equivalent("u08.overlapped", "for size, part in zip(", "in reversed(list(zip(",
           because="rows times columns is columns times rows")  # fmt: skip
