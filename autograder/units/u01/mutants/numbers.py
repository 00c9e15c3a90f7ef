"""Answers to unit 1: a program with few products, the line that is wrong, a number."""

from __future__ import annotations

from functools import reduce

import numpy as np

from autograder.check.framework import alternatives, mutants
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp

# ── u01.power ──


def _to_64(x):
    return reduce(lambda y, _: y * y, range(6), x)


def _products(type, *pairs):
    """Node k + 1 is the product of the k-th pair of nodes; node 0 is the input."""
    nodes = [inp("x", type)]
    for a, b in pairs:
        nodes.append(nodes[a] * nodes[b])
    return Graph("power", (nodes[0],), tuple(nodes), (nodes[-1],))


mutants(
    "u01.power",
    by_pow=lambda: trace(lambda x: x**63.0, "f32[4]"),
    the_power_64=lambda: trace(_to_64, "f32[4]"),
    the_power_64_divided=lambda: trace(lambda x: _to_64(x) / x, "f32[4]"),
    one_after_the_other=lambda: trace(lambda x: reduce(lambda y, _: y * x, range(62), x), "f32[4]"),
    # right, and two multiplications too many for all of the points
    by_binary_digits=lambda: _products(
        "f32[4]", (0, 0), (0, 1), (1, 1), (2, 3), (3, 3), (4, 5), (5, 5), (6, 7), (7, 7), (8, 9)
    ),
    of_integers=("f32[4]", "i32[4]"),  # the input has a floating type
)
alternatives(
    "u01.power",
    in_f16=("f32[4]", "f16[]"),
    listed_by_hand=lambda: _products(
        "f64[n]", (0, 0), (1, 0), (2, 2), (3, 0), (4, 4), (5, 4), (6, 6), (7, 6)
    ),
    the_third_power_of_21=lambda: _products(
        "f64[2,3]", (0, 0), (1, 1), (2, 0), (3, 3), (4, 4), (5, 0), (6, 6), (7, 6)
    ),
)


# ── u01.wrong_line, u01.limit ──

mutants(
    "u01.wrong_line",
    the_other_change=lambda: "%7",
    where_it_shows=lambda: "%6",
    both_of_them=lambda: ("%5", "%7"),
    the_line_itself=lambda: "stablehlo.broadcast_in_dim",
    the_bias=lambda: "%cst",
)
alternatives(
    "u01.wrong_line", as_it_stands=lambda: "%5", without_the_sign=lambda: "5", as_a_number=lambda: 5
)


def _with(k):
    return 2 * 128 * 512 * k / (4 * (128 * k + 512 * k + 128 * 512))


mutants(
    "u01.limit",
    in_elements=lambda: 204.8,
    a_multiply_add_is_one=lambda: 25.6,
    for_k_of_512=lambda: _with(512),
    of_the_square=lambda: 512 / 6,
    without_end=lambda: float("inf"),
)
alternatives(
    "u01.limit",
    as_a_fraction=lambda: 256 / 5,
    to_three_digits=lambda: np.float64(51.2),
    by_a_long_k=lambda: np.float32(_with(10**6)),
)
