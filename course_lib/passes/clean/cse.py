"""Common-subexpression elimination: compute each value once.

    %0 = add(%x, %y) : f32[4]
    %1 = add(%y, %x) : f32[4]       ==>     %0 = add(%x, %y) : f32[4]
    %2 = mul(%0, %1) : f32[4]               %1 = mul(%0, %0) : f32[4]

Next room: `fold.py`, which computes values before the program runs.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.match import COMMUTATIVE


@contract(gives=["no duplicates"])
@exercise("passes.cse", unit=2, points=3, baseline=keep)
def cse(graph: Graph) -> Graph:
    """Merge nodes that compute the same value: of several equal ones, the first is kept as it is.

    Two nodes are equal if they have the same op, equal operands (after merging) and equal
    attributes. So two equal chains merge from end to end, in one walk from the inputs.

    - The operands of an op in `COMMUTATIVE` may stand in either order. `sub`, `div` and `matmul`
      are not commutative; `max` and `min` are not in the set, since max(0.0, -0.0) may be either.
    - Constants are equal if they have the same element type, shape and *bytes*. (So -0.0 is not
      0.0, and NaN is NaN.)
    - Attributes count: softmax along axis 0 is not softmax along axis 1, and a pad with -0.0 is not
      a pad with 0.0. Names and origins do not.
    - Inputs are never merged with each other. Outputs may be: both then return the same node.
    - Nodes that were merged away are not in the result; other dead nodes of `graph` stay.

    Near-linear time: do not compare all pairs.

    >>> from course_lib.ir.graph.build import exp, trace
    >>> cse(trace(lambda x, y: exp(x + y) - exp(y + x), "f32[4]", "f32[4]"))
    graph @main(%x0: f32[4], %x1: f32[4]) -> (f32[4]) {
      %0 = add(%x0, %x1) : f32[4]
      %1 = exp(%0) : f32[4]
      %2 = sub(%1, %1) : f32[4]
      return %2
    }
    <BLANKLINE>
    """
    number: dict[Node, int] = {node: k for k, node in enumerate(graph.inputs)}
    first: dict[Hashable, Node] = {}

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        rebuilt = node.with_inputs(inputs)
        operands = [number[i] for i in inputs]
        if node.op in COMMUTATIVE:
            operands.sort()
        attrs = tuple((name, exactly(value)) for name, value in node.attrs.items())
        kept = first.setdefault((node.op, tuple(operands), attrs), rebuilt)
        number.setdefault(kept, len(number))
        return kept

    return graph.rebuild(visit)


class Bytes:
    """What an array holds, as a key. All bytes are compared, but only where two hashes agree, and
    a hash looks at few of them: weights are large, and most differ somewhere soon."""

    SAMPLES = 64

    def __init__(self, array: np.ndarray) -> None:
        self.bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def __hash__(self) -> int:
        return hash(self.bytes[:: self.bytes.size // self.SAMPLES + 1].tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bytes) and np.array_equal(self.bytes, other.bytes)

    def __repr__(self) -> str:
        return repr(self.bytes.tobytes())


def exactly(value: Any) -> Hashable:
    """A key that is equal only for values that no program can tell apart."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, Bytes(value)
    if isinstance(value, Graph):
        return id(value)
    return repr(value)  # unlike ==, it separates 0.0 from -0.0 and 1 from True
