"""Checks of unit 2 for the additions of zero: which may go, and which are seen.

Every bit counts, so a small program has a largest number of additions that may go: ours. More may
go where no bit changes. Next room: signs.py, every op of the table.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, background, checks
from autograder.check.steps import with_steps
from autograder.units.u02.checks.shared import becomes, on_deep, same_bits
from course_lib.ir.graph.build import abs, exp, relu, reshape, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const

HIDDEN = "That sign is *hidden* if the addition is not an output and each of its users hides it"
ADDS = "`add(y, c)` or `add(c, y)` hides it if c is a constant, and no element of c is -0.0"
PASSES = "An operation in PASSES_ON, such as any `add`, hides it if the sign of its own result"
FULL = "a constant full of 0.0"
SHOWS = "Every other operation may show it"
GOES = "The addition goes if the sign is hidden, if either operand is a constant full of 0.0"
BITS = "Every bit of every result stays the same"
MORE = "If you know more than these three lines say, more additions may go"
DEAD = "What is dead afterwards is left for `dce`"

background("u02.drop_zeros", "The two differ only for x = -0.0, and ... sign of a zero",
           because="about arithmetic, not about the function")  # fmt: skip
background("u02.drop_zeros", MORE, because="an offer: the checks look at bits, and at what is left")

AWKWARD = np.array([0.0, -0.0, 1.5, -2.0, np.inf, np.nan], np.float32)
COUNT = len(AWKWARD) ** 2
F, WIDE = f"f32[{COUNT}]", np.zeros((2, COUNT), np.float32)
ZEROS = np.zeros(COUNT, np.float32)
MIXED = np.where(np.arange(COUNT) % 2, np.float32(-0.0), np.float32(3.0))


def pairs(graph: Graph) -> list[np.ndarray]:
    """Every pair of awkward numbers, for two inputs; for one of another shape, as many as fit."""
    x, y = np.repeat(AWKWARD, len(AWKWARD)), np.tile(AWKWARD, len(AWKWARD))
    return [np.resize(v, i.type.dims) for v, i in zip((y, x), graph.inputs, strict=False)]


def _after(y: Node) -> Node:
    """What follows a convolution without bias: a factor, and a number is added."""
    factor, number = (const(np.resize(v, COUNT), "f32") for v in ([2.0, -5.0], [0.5, 0.0, 2.0]))
    return y * factor + number


def _left_and_right(x: Node) -> Node:
    y = x + 0.0
    return (y * 2.0 + reshape(y, (COUNT,))) - 1.0 + 3.0


# Programs in which additions of 0.0 go: (before, after, why, words of the specification).
GONE: list[tuple[Any, Any, str, str]] = [
    (lambda x: _after(x + 0.0), _after, "0.5, 0.0 or 2.0 is added further down, -0.0 nowhere: no "
     "zero is left whose sign could be seen.", PASSES),
    (lambda x: (x + 0.0) + 1.0, lambda x: x + 1.0, "0.0 + 1.0 is -0.0 + 1.0.", ADDS),
    (lambda x: apply("add", 1.0, x + 0.0), lambda x: apply("add", 1.0, x), "The constant may stand "
     "on either side.", ADDS),
    (lambda x: (x + 0.0) + relu(x) + 1.0, lambda x: x + relu(x) + 1.0, "The sum "
     "with relu(x) adds no constant; it passes the sign on to the next one, which hides it.",
     PASSES),
    (lambda x: ((x + 0.0) + const(MIXED)) + 1.0, lambda x: (x + const(MIXED)) + 1.0,
     "The constant in the middle has elements that are -0.0, so the first of the two lines does "
     "not apply to it. The second one does.",
     "A user hides it if one of the first two lines says so"),
    (lambda x: (x + 0.0) + const(-3.0), lambda x: x + const(-3.0), "0.0 - 3.0 is -0.0 - 3.0.",
     ADDS),
    (lambda x: (x + 0.0) + const(ZEROS), lambda x: x + const(ZEROS), "The second addition turns "
     "both zeros into 0.0. One of the two is enough.", "Both zeros of y give the same sum"),
    (lambda x: _after(apply("add", const(ZEROS), relu(x))), lambda x: _after(relu(x)),
     "The 0.0 may stand on either side, and may fill a tensor.", GOES),
    (_left_and_right, lambda x: (x * 2.0 + reshape(x, (COUNT,))) - 1.0 + 3.0,
     "Both users hide the sign, further down.", HIDDEN),
    (lambda x: transpose(reshape(x + 0.0, (2, COUNT // 2)), (1, 0)) + 7.0,
     lambda x: transpose(reshape(x, (2, COUNT // 2)), (1, 0)) + 7.0,
     "Moving a zero keeps its sign.", PASSES),
    (lambda x: [_after(x + 0.0), exp(x)], lambda x: [_after(x), exp(x)],
     "It does not count that others read x: they do not read the sum.", HIDDEN),
]  # fmt: skip

# Programs in which all additions are seen: (program, why, words of the specification).
SEEN: list[tuple[Any, str, str]] = [
    (lambda x: x + 0.0, "It is returned: 0.0 and -0.0 are two results.", HIDDEN),
    (lambda x: [y := x + 0.0, _after(y)], "One user hides it, but it is returned as well.", HIDDEN),
    (lambda x: apply("div", 1.0, x + 0.0) + 1.0, "1 / 0.0 is inf, and 1 / -0.0 is -inf.", SHOWS),
    (lambda x: [_after(y := x + 0.0), apply("reciprocal", y) + 1.0],
     "One user hides it, but the other divides by it.", HIDDEN),
    (lambda x: (x + 0.0) * 2.0, "The product is returned, and has the sign of its zero.", PASSES),
    (lambda x: (x + 0.0) + const(MIXED), "Where -0.0 is added, 0.0 stays 0.0, and -0.0 stays -0.0.",
     ADDS),
    (lambda x: (x + 0.0) + const(-ZEROS), "Adding -0.0 leaves every zero as it is.", ADDS),
    (lambda x: apply("add", x, const(WIDE)) + 1.0, "This addition also stretches x to f32[2,36].",
     "the other has the type of the result"),
    (lambda x: (x + const(np.abs(MIXED))) + 1.0, "Only half of these numbers are 0.0.",
     FULL),
    (lambda x: (x + const(np.resize([1.0, -1.0], COUNT), "f32")) + 1.0, "Their sum is 0.0.",
     FULL),
    (lambda x: (x + 1e-7) + 1.0, "A small number is no zero.", FULL),
    (lambda x: (x + 0.0) - 0.0, "0.0 - 0.0 is 0.0, and -0.0 - 0.0 is -0.0.", ADDS),
    (lambda x: (x + 0.0) * 0.0, "0.0 * 0.0 is 0.0, and -0.0 * 0.0 is -0.0.", ADDS),
    (lambda x: (x + const(MIXED)) + 1.0, "This is not an addition of zeros.",
     FULL),
]  # fmt: skip

# Programs in which one addition may go, and the other must then stay: (program, why, words).
EITHER: list[tuple[Any, str, str]] = [
    (lambda x, y: (x + 0.0) + (y + 0.0), "-0.0 + -0.0 is -0.0: of these two additions one is "
     "needed.", BITS),
    (lambda x, y: relu((x + 0.0) * 1.5 + (y + 0.0)), "Of these two additions one is needed.", BITS),
    (lambda x, y: apply("div", y, abs(x + 0.0) + 0.0), "abs makes 0.0 of both zeros; what divides "
     "sees the rest.", BITS),
]  # fmt: skip


@for_each("u02.drop_zeros", [*SEEN, *EITHER], "{} programs whose outputs can show the sign of a "
          "zero", spec=BITS)  # fmt: skip
def keeps_what_can_be_seen(drop_zeros, make, why, spec):
    """An addition stays where an output can show the sign of its zero."""
    before = trace(make, *[F] * make.__code__.co_argcount)
    try:
        same_bits(before, drop_zeros(before), spec=BITS, given=pairs)
    except Wrong as error:
        error.problem, error.spec = f"{error.problem.removesuffix('.')}. {why}", spec
        raise


@for_each("u02.drop_zeros", GONE, "{} programs in which nothing shows it", spec=BITS)
def drops_what_cannot_be_seen(drop_zeros, make, wanted, why, spec):
    """An addition of 0.0 goes where nothing shows the sign of its zero."""
    problem = f"An addition of 0.0 must go here. {why}"
    becomes(drop_zeros, trace(make, F), trace(wanted, F), problem, spec, pairs)


@checks("u02.drop_zeros", spec=HIDDEN)
def looks_at_no_dead_user(drop_zeros):
    """A sum that is read by what is returned, and by an operation that nothing reads."""
    graph = trace(lambda x: (x + 0.0) + 1.0, F)
    before = Graph("main", graph.inputs, (*graph.nodes, -graph.ops[0]), graph.outputs)
    problem = "An addition of 0.0 must go here. What is dead shows nothing: it has no users."
    becomes(drop_zeros, before, trace(lambda x: x + 1.0, F), problem, HIDDEN, pairs)
    return "an operation that is dead"


@checks("u02.drop_zeros", spec=[
    "Replace `add(x, 0.0)` by x wherever no output can show the difference", DEAD])  # fmt: skip
def cleans_a_small_network(drop_zeros):
    """A convolution without bias, its batch norm, a residual addition, and pooling."""
    before, wanted = _network(zeros=True), _network(zeros=False)
    becomes(drop_zeros, before, wanted, "Each convolution is followed by an addition "
            "of 0.0 that nothing shows: both must go.", GOES)  # fmt: skip
    return "a small network"


def _network(zeros: bool) -> Graph:
    weights = const(np.linspace(-1, 1, 2 * 2 * 9, dtype=np.float32).reshape(2, 2, 3, 3))
    scale, shift = (const(np.reshape(v, (1, 2, 1, 1)), "f32") for v in ([2.0, -3.0], [0.5, 1.0]))

    def layer(x: Node) -> Node:
        y = apply("conv", x, weights, pads=[1, 1, 1, 1])
        y = y + const(np.zeros((1, 2, 1, 1), np.float32)) if zeros else y
        return y * scale + shift

    def network(x: Node) -> Node:
        y = relu(layer(x))
        return apply("max_pool", relu(layer(y) + x), kernel=[2, 2])

    return trace(network, "f32[1,2,4,4]")


@checks("u02.drop_zeros", spec="Linear time: each node and each edge is looked at once")
def looks_at_each_value_once(drop_zeros):
    """60 values that two operations read: 2**60 paths lead down from the first addition."""
    why = "each user is looked at once for each path"
    few = with_steps(drop_zeros, 30_000, "180 operations", why)
    after = on_deep(few, _diamond(True))
    becomes(lambda _: after, _diamond(True), _diamond(False), "The addition of 0.0 must go: 1.0 is "
            "added to all of it at the end.", GOES)  # fmt: skip
    return "a program with 2**60 paths"


@functools.cache
def _diamond(zero: bool) -> Graph:
    """With an addition of zero at its beginning, or without, and of 1.0 at its end."""

    def shared(x: Node) -> Node:
        x = x + 0.0 if zero else x
        for _ in range(60):
            x = apply("max", relu(x), -x)
        return x + 1.0

    return trace(shared, "f32[2]")
