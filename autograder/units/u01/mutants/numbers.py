"""Answers to unit 1: a program with few products, the line that is wrong, a number."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import inp

# ── u01.power ──


@mutant("u01.power")
def by_pow():
    return trace(lambda x: x**63.0, "f32[4]")


@mutant("u01.power")
def the_power_64():
    def to_64(x):
        for _ in range(6):
            x = x * x
        return x

    return trace(to_64, "f32[4]")


@mutant("u01.power")
def the_power_64_divided():
    def to_63(x):
        y = x
        for _ in range(6):
            y = y * y
        return y / x

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def one_after_the_other():
    def to_63(x):
        y = x
        for _ in range(62):
            y = y * x
        return y

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def by_binary_digits():
    """Right, and two multiplications too many for all of the points."""

    def to_63(x):
        square, y = x, x
        for _ in range(5):
            square = square * square
            y = y * square
        return y

    return trace(to_63, "f32[4]")


@mutant("u01.power")
def of_integers():
    """The input has a floating type; this one is an i32."""

    def to_63(x):
        x3 = x * x * x
        x7 = x3 * x3 * x
        x56 = (x14 := x7 * x7) * x14 * (x14 * x14)
        return x56 * x7

    return trace(to_63, "i32[4]")


@alternative("u01.power")
def in_f16():
    def to_63(x):
        x3 = x * x * x
        x7 = x3 * x3 * x
        x28 = (x14 := x7 * x7) * x14
        return x28 * x28 * x7

    return trace(to_63, "f16[]")


@alternative("u01.power")
def listed_by_hand():
    x = inp("x", "f64[n]")
    nodes = [x]
    for a, b in ((0, 0), (1, 0), (2, 2), (3, 0), (4, 4), (5, 4), (6, 6), (7, 6)):
        nodes.append(nodes[a] * nodes[b])
    return Graph("power", (x,), tuple(nodes), (nodes[-1],))


@alternative("u01.power")
def the_third_power_of_21():
    def to_63(x):
        two = x * x
        five = two * two * x
        ten = five * five
        twenty_one = ten * ten * x
        return twenty_one * twenty_one * twenty_one

    return trace(to_63, "f64[2,3]")


# ── u01.wrong_line ──


@mutant("u01.wrong_line")
def the_other_change():
    return "%7"


@mutant("u01.wrong_line")
def where_it_shows():
    return "%6"


@mutant("u01.wrong_line")
def both_of_them():
    return ("%5", "%7")


@mutant("u01.wrong_line")
def the_line_itself():
    return "stablehlo.broadcast_in_dim"


@mutant("u01.wrong_line")
def the_bias():
    return "%cst"


@alternative("u01.wrong_line")
def as_it_stands():
    return "%5"


@alternative("u01.wrong_line")
def without_the_sign():
    return "5"


@alternative("u01.wrong_line")
def as_a_number():
    return 5


# ── u01.limit ──


@mutant("u01.limit")
def in_elements():
    return 204.8


@mutant("u01.limit")
def a_multiply_add_is_one():
    return 25.6


@mutant("u01.limit")
def for_k_of_512():
    return 2 * 128 * 512 * 512 / (4 * (128 * 512 + 512 * 512 + 128 * 512))


@mutant("u01.limit")
def of_the_square():
    return 512 / 6


@mutant("u01.limit")
def without_end():
    return float("inf")


@alternative("u01.limit")
def as_a_fraction():
    return 256 / 5


@alternative("u01.limit")
def to_three_digits():
    return np.float64(51.2)


@alternative("u01.limit")
def by_a_long_k():
    k = 10**6
    return np.float32(2 * 128 * 512 * k / (4 * (128 * k + 512 * k + 128 * 512)))
