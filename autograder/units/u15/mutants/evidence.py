"""Mutants and alternatives of unit 15: a kernel of Inductor. Next room: tests/units/test_u15.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternatives, mutants

RIGHT = {"mean": (2, "tmp3"), "deviation": (3, "tmp5"), "variance": (4, "tmp8"),
         "normalized": (4, "tmp13"), "result": (4, "tmp17")}  # fmt: skip

mutants(
    "u15.annotated",
    # A sum of the row, which nothing has divided yet.
    the_mean_is_the_sum=lambda: (RIGHT | {"mean": (1, "tmp_acc0")}, 4),
    the_mean_where_it_is_read=lambda: (RIGHT | {"mean": (3, "tmp3")}, 4),
    the_mean_in_all_lanes=lambda: (RIGHT | {"mean": (3, "tmp4")}, 4),
    the_last_deviation=lambda: (RIGHT | {"deviation": (4, "tmp5")}, 4),
    the_squares_are_the_variance=lambda: (RIGHT | {"variance": (3, "tmp6")}, 4),
    # It is not divided by 256 before the fourth loop.
    the_variance_is_stored=lambda: (RIGHT | {"variance": (3, "tmp_acc0")}, 4),
    with_the_small_number=lambda: (RIGHT | {"variance": (4, "tmp10")}, 4),
    normalized_with_the_weight=lambda: (RIGHT | {"normalized": (4, "tmp15")}, 4),
    the_root_is_normalized=lambda: (RIGHT | {"normalized": (4, "tmp11")}, 4),
    without_the_bias=lambda: (RIGHT | {"result": (4, "tmp15")}, 4),
    h_is_computed_once=lambda: (RIGHT, 1),
    h_in_this_kernel_alone=lambda: (RIGHT, 3),
    h_in_every_loop=lambda: (RIGHT, 5),
    no_number=lambda: (RIGHT, "four"),
    one_is_missing=lambda: ({k: v for k, v in RIGHT.items() if k != "mean"}, 4),
)
alternatives(
    "u15.annotated",
    as_lists=lambda: [{name: [*place] for name, place in RIGHT.items()}, 4],
    in_another_order=lambda: (dict(reversed(RIGHT.items())), 4),
    of_numpy=lambda: ({n: (np.int64(k), v) for n, (k, v) in RIGHT.items()}, np.int64(4)),
)
