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
from operator import mul

from course_lib.ir.graph.build import as_type, concat, reshape
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import DType, TensorType, f64, i64, u64


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
    """Several tensors as one state.

    If they differ in nothing but their last axis, they lie side by side along it; else each is
    flattened, and they lie one behind the other. If they have several element types, the state is
    f64, which holds every number of the others exactly; a 64-bit integer takes two.
    """

    types: tuple[TensorType, ...]

    @cached_property
    def dtype(self) -> DType:
        """The element type of the state."""
        kinds = {t.dtype for t in self.types}
        return kinds.pop() if len(kinds) == 1 else f64

    @cached_property
    def side_by_side(self) -> bool:
        return all(t.rank and t.shape[:-1] == self.types[0].shape[:-1] for t in self.types)

    @cached_property
    def words(self) -> list[int]:
        """How many elements of the state each number of a part takes."""
        return [2 if t.dtype in (i64, u64) and self.dtype == f64 else 1 for t in self.types]

    @cached_property
    def widths(self) -> list[int]:
        """How many elements each part has along the last axis, once for each word."""
        return [t.dims[-1] if self.side_by_side else math.prod(t.dims) for t in self.types]

    def join(self, parts: Sequence[Node]) -> Node:
        """The one state."""
        joined: list[Node] = []
        for part, width, words in zip(parts, self.widths, self.words, strict=True):
            part = part if self.side_by_side else reshape(part, (width,))
            joined += halves(part) if words == 2 else [part]
        joined = [as_type(word, self.dtype) for word in joined]
        return joined[0] if len(joined) == 1 else concat(joined, axis=-1)

    def part(self, state: Node, k: int) -> Node:
        """Part `k` of the state, or of its history."""
        type, width, words = self.types[k], self.widths[k], self.words[k]
        start = sum(map(mul, self.widths[:k], self.words[:k]))
        pieces = [
            as_type(_columns(state, start + n * width, width), type.dtype) for n in range(words)
        ]
        value = whole(*pieces) if words == 2 else pieces[0]
        if self.side_by_side:
            return value
        return reshape(value, (*value.type.dims[:-1], *type.shape))


def halves(x: Node) -> list[Node]:
    """64-bit integers as 2**32 * high + low, with low in 0..2**32: f64 holds both exactly."""
    low = apply("bit_and", x, const(2**32 - 1, x.type.dtype))
    return [(x - low) / const(2**32, x.type.dtype), low]


def whole(high: Node, low: Node) -> Node:
    """The way back of `halves`."""
    return high * const(2**32, high.type.dtype) + low


def _columns(x: Node, start: int, width: int) -> Node:
    """So many elements along the last axis."""
    *before, all = x.type.dims
    if width == all:
        return x
    starts, stops = (*[0] * len(before), start), (*before, start + width)
    return apply("slice", x, starts=starts, stops=stops)
