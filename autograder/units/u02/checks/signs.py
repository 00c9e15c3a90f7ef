"""Checks of unit 2 for the additions of zero: every op of the table after one of them.

    y = x + 0.0;  y - 0.0       # 0.0 or -0.0, as y is: no constant hides a sign in a `sub`
    y = x + 0.0;  tanh(y) + 1   # tanh is not in PASSES_ON, so this may stay, or go

Next room: machinery.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.units.u02.checks.untouched import (
    BINARY,
    UNARY,
    each_of,
    keeps_bits,
    steps_of,
    windows,
)
from autograder.units.u02.checks.zeros import ADDS, BITS, COUNT, PASSES, SHOWS, F, pairs
from autograder.units.u02.exercises import PASSES_ON
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order

SIDE = round(COUNT**0.5)
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5)


def users(y: Node, z: Node) -> Iterator[Node]:
    """Every op of y, where y is an addition of zero; `z` is another value."""
    others = [z, *map(const, CONSTANTS)]
    yield from each_of(UNARY, (y,))
    yield from each_of(BINARY, (y, y), *((y, o) for o in others), *((o, y) for o in others))
    yield from (apply("select", apply("lt", z, 0.0), *two) for two in ((y, z), (z, y)))
    square = apply("reshape", y, shape=(SIDE, SIDE))
    yield from (*steps_of(y, SIDE), *steps_of(square, SIDE), *windows(square))
    for op in ("reduce_min", "reduce_prod"):
        yield apply(op, square, axes=(0,))
    yield apply("log_softmax", square, axis=0)
    yield apply("matmul", apply("reshape", y, shape=(COUNT, 1)), const(np.ones((1, 1)), "f32"))


@functools.cache
def _after_zeros(zeros: bool, then: float | None, passing: bool) -> Graph:
    """Each user of an addition of zero, which has no other user. A number may be added to it."""
    x, z = (inp(name, F) for name in "xz")
    outputs = []
    for user in users(x, z):
        if passing and (user.op == "add" or not _passes_on(user, x)):
            continue
        value = _of(apply("add", x, const(0.0)), user, x) if zeros else user
        floats = then is not None and value.type.dtype == x.type.dtype
        outputs.append(apply("add", value, const(then)) if floats else value)
    return Graph.of([x, z], outputs, "after_zeros")


def _of(y: Node, node: Node, x: Node) -> Node:
    """`node` with y in the place of x."""
    return y if node is x else node.with_inputs([_of(y, i, x) for i in node.inputs])


def _passes_on(user: Node, x: Node) -> bool:
    """Is everything between x and this user in PASSES_ON?"""
    above = [i for i in user.inputs if _reads(i, x)]
    return user is x or (user.op in PASSES_ON and all(_passes_on(i, x) for i in above))


def _reads(node: Node, x: Node) -> bool:
    return node is x or any(_reads(i, x) for i in node.inputs)


@checks("u02.drop_zeros", spec=[BITS, SHOWS, ADDS])
def knows_which_operations_show_a_sign(drop_zeros):
    """Every op of the table after an addition of zero: no result changes a bit."""
    for then in (None, 1.0):
        keeps_bits(drop_zeros, _after_zeros(True, then, False), pairs, SHOWS)
    return "every operation, returned and with 1.0 added"


@checks("u02.drop_zeros", spec=[PASSES, BITS])
def knows_which_operations_pass_it_on(drop_zeros):
    """Each op in PASSES_ON, with 1.0 added to its result: all additions of zero go."""
    before, wanted = (_after_zeros(zeros, 1.0, True) for zeros in (True, False))
    after = keeps_bits(drop_zeros, before, pairs, BITS)
    for mine, best, row in zip(after.outputs, wanted.outputs, before.outputs, strict=True):
        if _operations(mine) > _operations(best):
            program, got, expected = (Graph.of(g.inputs, [node], "part") for g, node in (
                (before, row), (after, mine), (wanted, best)))  # fmt: skip
            raise Wrong("The addition of 0.0 must go: 1.0 is added further down.", program=program,
                        got=got, expected=expected, spec=PASSES)  # fmt: skip
    return "every operation that passes a sign on"


def _operations(node: Node) -> int:
    return sum(n.op not in ("input", "constant") for n in topological_order([node]))
