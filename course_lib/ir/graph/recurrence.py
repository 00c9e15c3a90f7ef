"""Making recurrences: a function of a state, and of one element of each sequence, as a `scan`.

    history = scan(lambda h, x: tanh(x + h @ r), h0, [xs])       # h0: f32[1,8], xs: f32[100,1,8]
    last = final(history, h0)

    %0 = scan(%h0, %xs, %r) {body = graph @step(%state, %x0, %w0) {...}} : f32[100,1,8]

What the function reads from outside becomes an operand, and what it computes from nothing but that
is computed before the loop. `Parts` keeps several states as parts of one tensor. Next room:
`verify.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from course_lib.ir.graph.build import concat, reshape
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import TensorType


def scan(
    step: Callable[..., Node], initial: Node, sequences: Sequence[Node], reverse: bool = False
) -> Node:
    """The history of a state. `step(state, *elements)` gives the next one."""
    state = inp("state", initial.type)
    elements = [inp(f"x{k}", s.type.with_shape(s.type.shape[1:])) for k, s in enumerate(sequences)]
    body, outside = closed([state, *elements], step(state, *elements))
    return apply("scan", initial, *sequences, *outside, body=body, sequences=len(sequences),
                 reverse=reverse)  # fmt: skip


def closed(parameters: Sequence[Node], result: Node) -> tuple[Graph, list[Node]]:
    """A graph of `parameters` and of whatever else `result` needs; and what that is, outside.

    Only what depends on a parameter is inside, and constants that are single numbers.
    """
    order = topological_order([result])
    moving = set(parameters)
    for node in order:
        if not moving.isdisjoint(node.inputs):
            moving.add(node)
    inside = {p: p for p in parameters}
    outside: list[Node] = []

    def entry(node: Node) -> Node:
        """What stands for a value inside; one from outside gets a parameter."""
        if node not in inside:
            number = node.op == "constant" and node.value.size == 1
            inside[node] = node if number else inp(f"w{len(outside)}", node.type)
            outside.extend([] if number else [node])
        return inside[node]

    for node in order:
        if node in moving and node not in inside:
            inside[node] = node.with_inputs([entry(i) for i in node.inputs])
    returned = entry(result)
    return Graph.of([*parameters, *(inside[n] for n in outside)], [returned], "step"), outside


def final(history: Node, initial: Node) -> Node:
    """The state after the last step of a history that runs forwards; `initial` without any."""
    return _row(history, -1) if history.type.dims[0] else initial


def first(history: Node, initial: Node) -> Node:
    """The state after the last step of a history that runs in reverse."""
    return _row(history, 0) if history.type.dims[0] else initial


def _row(history: Node, which: int) -> Node:
    steps, *shape = history.type.dims
    row = which % steps
    cut = apply("slice", history, starts=(row, *[0] * len(shape)), stops=(row + 1, *shape))
    return reshape(cut, shape)


@dataclass(frozen=True)
class Parts:
    """Several tensors of one element type as one state.

    If they differ in nothing but their last axis, they lie side by side along it; else each is
    flattened, and they lie one behind the other.
    """

    types: tuple[TensorType, ...]

    @cached_property
    def side_by_side(self) -> bool:
        return all(t.rank and t.shape[:-1] == self.types[0].shape[:-1] for t in self.types)

    @cached_property
    def widths(self) -> list[int]:
        return [t.dims[-1] if self.side_by_side else math.prod(t.dims) for t in self.types]

    def join(self, parts: Sequence[Node]) -> Node:
        """The one state."""
        if not self.side_by_side:
            parts = [reshape(p, (n,)) for p, n in zip(parts, self.widths, strict=True)]
        return parts[0] if len(parts) == 1 else concat(parts, axis=-1)

    def part(self, state: Node, k: int) -> Node:
        """Part `k` of the state, or of its history."""
        start, width = sum(self.widths[:k]), self.widths[k]
        *before, whole = state.type.dims
        if width != whole:
            rows = len(before)
            state = apply(
                "slice", state, starts=(*[0] * rows, start), stops=(*before, start + width)
            )
        shape = self.types[k].shape
        steps = state.type.dims[: state.type.rank - (len(shape) if self.side_by_side else 1)]
        return state if self.side_by_side else reshape(state, (*steps, *shape))
