"""Checks of unit 2 for simplify: every op of the table beside every other one.

    exp(x) > 0             # not always: it is 0 for -infinity
    not (x < y)            # is not x >= y if one of them is NaN
    sign(x) * abs(x)       # is not x for infinity * 0

One program of some thousand expressions for each element type; only those that an answer changes
are computed. Next room: squares.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from autograder.check.framework import checks
from autograder.units.u02.checks.simplify import EXACT, WHOLE
from autograder.units.u02.checks.untouched import (
    BINARY,
    UNARY,
    applied,
    every_pair,
    keeps_bits,
    lengths_of_one,
    number,
    of_two,
    program,
    twice,
)
from course_lib.ir.graph.node import Node, apply, const

EITHER_WAY = ("add", "mul", "max", "min", "eq", "ne", "and", "or", "xor", "bit_and", "bit_or",
              "bit_xor")  # fmt: skip
SCHOOL = ("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "sinh", "cosh", "tanh",
          "sigmoid", "sign", "abs", "relu", "neg")  # fmt: skip
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
ARITHMETIC = ("add", "sub", "mul", "div", "mod", "fmod", "pow", "max", "min")


@checks("passes.simplify", spec=[EXACT, WHOLE])
def simplify_keeps_the_bits_of_what_is_near(simplify):
    """Two and three ops of the table in a row, and what could be chosen: every bit stays."""
    for kind in ("f32", "i32", "bool"):
        keeps_bits(simplify, program(kind, _one_then_two, _two_in_a_row), every_pair)
    keeps_bits(simplify, program("u8", twice, of_two, lengths_of_one), every_pair)
    keeps_bits(simplify, program("f32", _chosen, _identities), every_pair)
    return "every operation after every other"


def _one_then_two(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An op of two operands after one of one operand."""
    numbers = [number(value, kind) for value in (0, 1)]
    for inner in UNARY:
        for fx, fy in zip(applied(inner, x), applied(inner, y), strict=True):
            for op in BINARY:
                for a, b in ((fx, x), (fx, fy), *((fx, n) for n in numbers)):
                    yield from applied(op, a, b)
                if op not in EITHER_WAY:
                    for a, b in ((x, fx), *((n, fx) for n in numbers)):
                        yield from applied(op, a, b)


def _two_in_a_row(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An op of two operands after another one."""
    for inner in BINARY:
        for node in applied(inner, x, y):
            for op in BINARY:
                for a, b in ((node, y), (x, node), (node, x), (y, node)):
                    yield from applied(op, a, b)


def _chosen(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """select after a comparison, and what could be chosen by it."""
    zero, one = number(0, kind), number(1, kind)
    for op in COMPARE:
        for a, b in ((x, y), (x, zero), (y, one)):
            for c in applied(op, a, b):
                values = [(x, y), (y, x), (x, zero), (zero, x), (one, zero), (zero, one)]
                values += [(x, -x), (-x, x)] if x.type.dtype.kind in ("float", "int") else []
                for yes, no in values:
                    yield from applied("select", c, yes, no)
                    yield from applied("select", apply("not", c), yes, no)
    for first, second in itertools.product(COMPARE, repeat=2):
        for a, b in zip(applied(first, x, y), applied(second, x, y), strict=True):
            yield from (apply(op, a, b) for op in ("and", "or", "xor", "eq"))


def _identities(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """What the school knows of two functions of one number, and of one of two."""
    of_x = [node for op in SCHOOL for node in applied(op, x)]
    for a, b in itertools.combinations_with_replacement(of_x, 2):
        yield from (made for op in ("mul", "div") for made in applied(op, a, b))
    for one in UNARY:
        for inner in applied(one, -x):
            yield from applied("neg", inner)
            yield from applied("sub", const(1.0), inner)
        for op in ARITHMETIC:
            for node in applied(op, x, y):
                yield from (made for part in applied(one, node) for made in applied(op, part, y))
    more, less = apply("max", x, y), apply("min", x, y)
    yield from (apply(op, more, less) for op in ("add", "sub", "mul", "max", "min", "eq"))
    yield from (apply(op, x + 0.5) for op in ("floor", "ceil", "round"))
