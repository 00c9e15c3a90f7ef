"""Programs for the checks of `passes.horizontal`: random families of products, and what is none.

Next room: horizontal.py, the checks.
"""

from __future__ import annotations

import functools

import numpy as np
from hypothesis import strategies as st

from autograder.units.u03.checks.results import Case
from course_lib.ir.graph.build import add, expand, relu, reshape, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp


def product(x: Node, width: int, seed: int, bias: bool = False, axes: int = 1) -> Node:
    """x times a constant, plus perhaps a bias, which has `axes` axes."""
    rng, kind = np.random.default_rng(seed), x.type.dtype
    parts = 3 if kind.name == "f64" else 1  # numbers that are no f32
    y = x @ const(rng.integers(-4, 5, (x.type.dims[-1], width)) / parts, kind)
    if not bias:
        return y
    numbers = const(rng.integers(-4, 5, (*[1] * (axes - 1), width)) / parts, kind)
    return add(numbers, y) if seed % 2 else y + numbers


def flat(y: Node) -> Node:
    return reshape(y, (y.type.numel,))


def first(y: Node) -> Node:
    """The first column."""
    return apply("slice", y, starts=(0,) * y.type.rank, stops=(*y.type.dims[:-1], 1))


def moved(y: Node) -> Node:
    return transpose(y, (*range(y.type.rank - 2), y.type.rank - 1, y.type.rank - 2))


_ENDS = (moved, moved, flat, first, relu)


@st.composite
def families(draw: st.DrawFn, most: int = 4) -> Graph:
    """Two operands, each read by some products, with and without a bias, most of them moved."""
    rank, kind = draw(st.sampled_from((2, 3, 4))), draw(st.sampled_from(("f32", "f64", "i32")))
    shape = ",".join(map(str, (2, 1, 3, 5)[-rank:]))
    operands = [inp("x", f"{kind}[{shape}]"), inp("x", f"{kind}[{shape}]")]  # a name is no value
    ends: list[Node] = []
    for index in range(draw(st.integers(2, most))):
        x = operands[draw(st.integers(0, 1))]
        bias, axes = draw(st.booleans()), draw(st.integers(1, rank))
        y = product(x, draw(st.integers(1, 4)), index, bias, axes)
        ends.append(draw(st.sampled_from(_ENDS))(y))
    return Graph.of(operands, ends, "families")


SAME, BIASED = "Those are merged that read the same node", "all have a bias or all have none"
CONSTANT = "products by a constant matrix"
MOVED = "whose results are only moved next"
BIAS = "with the constant bias if"


@functools.cache
def left_alone() -> list[Case]:
    """Programs in which nothing may be merged."""
    x, y, w, b = map(inp, "xywb", ("f32[4,6]", "f32[4,6]", "f32[6,3]", "f32[3]"))
    one, two, biased = product(x, 2, 1), product(x, 3, 2), product(x, 2, 1, bias=True)
    square = product(x, 6, 3)
    chained = product(relu(square), 2, 4)
    number, column = const(np.float32(2)), const(np.ones((4, 1), np.float32))
    cubes = const(np.arange(36, dtype=np.float32).reshape(2, 6, 3))
    cases: list[tuple[list[Node], str, str]] = [
        ([moved(one), moved(product(y, 2, 2))], "They read two operands.", SAME),
        ([moved(one), moved(product(x, 3, 2, bias=True))], "Only one has a bias.", BIASED),
        ([moved(one), moved(x @ w)], "A weight is an input.", CONSTANT),
        ([relu(one), relu(two)], "Each would lose its epilogue.", MOVED),
        ([moved(one), moved(chained)], "Of the two products of x, one goes into a relu; the third "
         "product reads that relu.", SAME),
        ([moved(one)], "There is only one.", "n >= 2"),
        ([moved(product(relu(x), 2, k)) for k in (1, 2)],
         "Two relus compute the same, but are two nodes.", SAME),
        # One product can be merged; the other one is nothing that `branches` finds.
        ([moved(one), two], "One product is returned.", MOVED),
        ([moved(one), moved(two), two], "One is returned, and moved.", MOVED),
        ([moved(one), moved(two), relu(two)], "One is moved, and read by a relu.", MOVED),
        ([moved(one), expand(two, (2, 4, 3))], "An expand is no movement of elements.", MOVED),
        ([moved(one), two * 2.0], "One is multiplied.", MOVED),
        ([moved(biased), moved(two + number)], "One adds one number for all columns.", BIAS),
        ([moved(biased), moved(two + column)], "One adds a number for each row.", BIAS),
        ([moved(biased), moved(two + b)], "One bias is an input.", BIAS),
        ([moved(biased), moved(two - number)], "One subtracts a number.", BIAS),
        ([moved(one), moved(x @ relu(const(np.ones((6, 3), np.float32))))],
         "The weight is computed.", CONSTANT),
        ([moved(one), moved(x @ cubes)], "One weight is a batch of matrices.", CONSTANT),
        ([moved(square), moved(const(np.ones((3, 4), np.float32)) @ x)],
         "The matrix stands on the left.", CONSTANT),
    ]  # fmt: skip
    graphs = [(Graph.of([x, y, w, b], ends), why, spec) for ends, why, spec in cases]
    dead = Graph.of([x], [moved(one)], also=[two])
    return [*graphs, (dead, "Nothing reads the second.", MOVED)]
