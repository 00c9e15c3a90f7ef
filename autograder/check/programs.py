"""Random programs for checks and tests: small graphs that Hypothesis can make smaller still.

    @given(graphs(size=8))
    def test_pass_keeps_the_meaning(graph): ...

    graph @random(%a: f32[2,3]) -> (f32[2,3]) {
      %0 = constant dense<2.0> : f32[]
      %1 = mul(%a, %0) : f32[2,3]
      %2 = mul(%a, %0) : f32[2,3]      // repeats, identities, dead code and constant operands
      %3 = add(%1, %2) : f32[2,3]      // come up often: they are what passes look for
      return %3
    }

`deep()` and `diamond()` are for walks: too deep for recursion, too many paths to walk them all.
The ops keep values small, so that a right answer which computes in another order still compares
equal. The same seed gives the same programs.

Next room: autograder/units/u02/checks, which draws from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

UNARY = ("neg", "relu", "abs", "tanh", "sigmoid")
BINARY = ("add", "sub", "mul", "max", "min")
SCALED = ("half", "square", "double", "plus_zero", "times_one", "minus_itself")
SHAPED = ("reduce_sum", "reduce_max", "transpose", "reshape", "matmul", "softmax")
ALL = (*UNARY, *BINARY, *SCALED, *SHAPED)
NUMBERS = (0.0, 1.0, 2.0, 0.5, -1.0, 3.0)


@st.composite
def graphs(
    draw: DrawFn,
    size: int = 8,
    ops: Sequence[str] = ALL,
    inputs: int = 2,
    outputs: int = 2,
    constants: bool = True,
    repeats: bool = True,
) -> Graph:
    """A graph of 1 to `size` operations. Some of them may be dead, repeated, or constant."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    parameters = [
        inp("abcdef"[k], f"f32[{','.join(map(str, _shrunk(draw, shape)))}]")
        for k in range(draw(st.integers(1, inputs)))
    ]
    values: list[Node] = list(parameters)
    steps: list[Node] = []
    while not steps or (len(steps) < size and draw(st.integers(0, size))):  # 0, the simplest: stop
        node = _step(draw, values, steps, ops, constants, repeats)
        new = [i for i in node.inputs if i not in values]
        values += [*new, node]
        steps.append(node)
    wanted = draw(st.integers(1, min(outputs, len(steps))))
    ends = [steps[-1], *draw(st.lists(st.sampled_from(steps), max_size=wanted - 1))]
    return Graph("random", tuple(parameters), tuple(values), tuple(dict.fromkeys(ends)))


def deep(count: int = 2000) -> Graph:
    """A chain of `count` relu: a walk that calls itself for each node goes too deep on it."""

    def chain(x: Node) -> Node:
        for _ in range(count):
            x = relu(x)
        return x

    return trace(chain, "f32[2]")


def diamond(levels: int = 60) -> Graph:
    """Values that two nodes share, `levels` times in a row: 3 * levels operations, and 2**levels
    paths from the output to the input. A walk that goes along each path never ends on it."""

    def shared(x: Node) -> Node:
        for _ in range(levels):
            x = apply("max", relu(x), neg(x))
        return x

    return trace(shared, "f32[2]")


def _step(
    draw: DrawFn,
    values: list[Node],
    steps: list[Node],
    ops: Sequence[str],
    constants: bool,
    repeats: bool,
) -> Node:
    if repeats and steps and draw(st.integers(0, 3)) == 3:
        twin = draw(st.sampled_from(steps))
        return apply(twin.op, *twin.inputs, **twin.attrs)
    op = draw(st.sampled_from(tuple(ops)))
    x = draw(st.sampled_from(values))
    if op in BINARY:
        others: list[Node] = [v for v in values if _broadcasts(x, v)]
        if constants and draw(st.booleans()):
            others = [const(np.float32(n)) for n in NUMBERS]
        pair = [x, draw(st.sampled_from(others))]
        return apply(op, *(reversed(pair) if draw(st.booleans()) else pair))
    if op in _MAKERS:
        return _MAKERS[op](draw, x, values)
    return apply(op, x)


def _reduce(op: str) -> Callable[[DrawFn, Node, list[Node]], Node]:
    def make(draw: DrawFn, x: Node, values: list[Node]) -> Node:
        if not x.type.rank:
            return apply("neg", x)
        axis = draw(st.integers(0, x.type.rank - 1))
        return apply(op, x, axes=(axis,), keepdims=draw(st.booleans()))

    return make


def _transpose(draw: DrawFn, x: Node, values: list[Node]) -> Node:
    perm = draw(st.permutations(range(x.type.rank)))
    return apply("transpose", x, perm=tuple(perm))


def _reshape(draw: DrawFn, x: Node, values: list[Node]) -> Node:
    flat, same = (x.type.numel,), tuple(x.type.dims)
    return apply("reshape", x, shape=draw(st.sampled_from([flat, (1, *same), same])))


def _matmul(draw: DrawFn, x: Node, values: list[Node]) -> Node:
    partners = [v for v in values if v.type.rank == 2 and x.type.rank == 2]
    partners = [v for v in partners if v.type.dims[0] == x.type.dims[1]]
    if not partners:
        return apply("relu", x)
    return apply("matmul", x, draw(st.sampled_from(partners)))


def _softmax(draw: DrawFn, x: Node, values: list[Node]) -> Node:
    return apply("softmax", x, axis=-1) if x.type.rank else apply("tanh", x)


_MAKERS: dict[str, Callable[[DrawFn, Node, list[Node]], Node]] = {
    "half": lambda draw, x, values: apply("div", x, 2.0),
    "square": lambda draw, x, values: apply("pow", x, 2.0),
    "double": lambda draw, x, values: apply("add", x, x),
    "plus_zero": lambda draw, x, values: apply("add", x, 0.0),
    "times_one": lambda draw, x, values: apply("mul", x, 1.0),
    "minus_itself": lambda draw, x, values: apply("sub", x, x),
    "reduce_sum": _reduce("reduce_sum"),
    "reduce_max": _reduce("reduce_max"),
    "transpose": _transpose,
    "reshape": _reshape,
    "matmul": _matmul,
    "softmax": _softmax,
}


def _broadcasts(x: Node, y: Node) -> bool:
    try:
        apply("add", x, y)
    except ValueError:
        return False
    return True


def _shrunk(draw: DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The shape itself, or with a size made 1, so that operands broadcast."""
    if not draw(st.booleans()):
        return shape
    axis = draw(st.integers(0, len(shape) - 1))
    return (*shape[:axis], 1, *shape[axis + 1 :])
