"""Random recurrences at every level: numpy = loops = scheduled loops = machine code.

The bodies hold what cells are made of, and what is awkward in them: reshapes, which are views
elsewhere; values that are read twice; constants; results that are operands; a loop inside.
"""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.levels import MACHINES, levels_agree
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.recurrence import Parts, final, first, scan

Step = Callable[[DrawFn, Node], Node]


def numbers(draw: DrawFn, shape: tuple[int, ...]) -> Node:
    """Small numbers, as a constant or computed."""
    values = np.random.default_rng(draw(st.integers(0, 9))).integers(-3, 4, shape) / 8
    node = const(values.astype(np.float32))
    return node if draw(st.booleans()) else apply("neg", node)


def product(draw: DrawFn, x: Node) -> Node:
    width = draw(st.sampled_from([x.type.dims[1], 1, 8, 16]))
    there = b.matmul(x, numbers(draw, (x.type.dims[1], width)))
    return (
        there
        if width == x.type.dims[1]
        else b.matmul(there, numbers(draw, (width, x.type.dims[1])))
    )


def turned(draw: DrawFn, x: Node) -> Node:
    return b.transpose(b.reshape(x, (x.type.dims[1], x.type.dims[0])), (1, 0))


def flat(draw: DrawFn, x: Node) -> Node:
    return b.reshape(b.tanh(b.reshape(x, (-1,))), x.type.dims)


def swapped(draw: DrawFn, x: Node) -> Node:
    rows, width = x.type.dims
    cut = draw(st.integers(0, width))
    parts = [apply("slice", x, starts=(0, a), stops=(rows, z)) for a, z in ((cut, width), (0, cut))]
    return b.concat(parts, 1)


def normal(draw: DrawFn, x: Node) -> Node:
    return b.softmax(x, axis=draw(st.integers(0, 1)))


def scaled(draw: DrawFn, x: Node) -> Node:
    return x * b.reduce_max(x, [draw(st.integers(0, 1))], keepdims=True)


def gated(draw: DrawFn, x: Node) -> Node:
    return b.select(apply("gt", x, 0.1), x, numbers(draw, x.type.dims))


def looped(draw: DrawFn, x: Node) -> Node:
    """A loop over the rows, inside a step."""
    start = numbers(draw, x.type.dims[1:])
    history = scan(lambda h, row: b.tanh(h + row), start, [x], draw(st.booleans()))
    return x + history


STEPS: list[Step] = [product, turned, flat, swapped, normal, scaled, gated, looped]


@st.composite
def recurrences(draw: DrawFn) -> Graph:
    rows, width, steps = draw(st.integers(1, 3)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    h = inp("h", f"f32[{rows},{width}]")
    x = inp("x", f"f32[{steps},{rows},{width}]")
    chosen = draw(st.lists(st.sampled_from(STEPS), max_size=3))
    reverse = draw(st.booleans())
    parts = Parts((h.type,) * draw(st.integers(1, 2)))
    outside = numbers(draw, (rows, width))

    def body(state: Node, element: Node) -> Node:
        old = [parts.part(state, k) for k in range(len(parts.types))]
        value = draw(st.sampled_from([old[0], element, old[0] + element * outside]))
        for step in chosen:
            value = step(draw, value)
        new = value if draw(st.booleans()) else b.tanh(value + old[-1])
        return parts.join([new, *old[:-1]])

    start = parts.join([h] * len(parts.types))
    history = scan(body, start, [x], reverse)
    end = (first if reverse else final)(history, start)
    return Graph.of([h, x], [parts.part(history, 0), end * 2.0], "recurrence")


@given(graph=recurrences(), seed=st.integers(0, 99))
def test_random_recurrences(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = [rng.uniform(-1, 1, n.type.dims).astype(np.float32) for n in graph.inputs]
    levels_agree(graph, inputs, machines=[MACHINES[seed % len(MACHINES)]])
