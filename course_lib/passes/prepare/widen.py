"""Widening: f16 is a format to store numbers in; what is computed is computed in f32.

    %0 = matmul(%x, %w) : f16[1,8]              %0 = cast(%x) {dtype = "f32"} : f32[1,4]
    %1 = add(%0, %b) : f16[1,8]                 %1 = matmul(%0, %w) : f32[1,8]     // w, b: f32 now
    %2 = relu(%1) : f16[1,8]            ==>     %2 = add(%1, %b) : f32[1,8]
                                                %3 = relu(%2) : f32[1,8]
                                                %4 = cast(%3) {dtype = "f16"} : f16[1,8]

f16 has three digits, and rounding every value to it loses most of the last one in a deep model.
Here a value is rounded where it leaves the graph, and where the model itself says `cast`. It costs
memory for the values in between, and no time: a processor widens each number in any case, for few
can add two of f16. Next room: `passes/layout/layout.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, checked, const
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import TensorType, f16, f32


@takes
def widen(graph: Graph) -> Graph:
    """The graph, of the same inputs and outputs, with all that it computes of f16 in f32.

    What only moves numbers (a transpose, a gather from a table) stays as narrow as they are;
    weights become f32 once and for all.

    >>> from course_lib.ir.graph.build import relu, trace
    >>> widen(trace(lambda x: relu(x + x), "f16[4]"))
    graph @main(%x0: f16[4]) -> (f16[4]) {
      %0 = cast(%x0) {dtype = "f32"} : f32[4]
      %1 = add(%0, %0) : f32[4]
      %2 = relu(%1) : f32[4]
      %3 = cast(%2) {dtype = "f16"} : f16[4]
      return %3
    }
    <BLANKLINE>
    """
    if all(node.type.dtype != f16 for node in graph.nodes):
        return graph
    outputs = _outputs(graph, graph.inputs)
    narrow = (as_type(new, old.type.dtype) for new, old in zip(outputs, graph.outputs, strict=True))
    return Graph.of(graph.inputs, narrow, graph.name)


def _outputs(graph: Graph, inputs: tuple[Node, ...]) -> list[Node]:
    """The outputs, computed of these inputs, each as narrow or as wide as it comes out."""
    new: dict[Node, Node] = dict(zip(graph.inputs, inputs, strict=True))
    wide = functools.cache(_wide)
    for node in graph.nodes:
        if node.op == "constant":
            new[node] = node
        elif node.op != "input":
            new[node] = _computed(node, [new[i] for i in node.inputs], wide)
    return [new[node] for node in graph.outputs]


def _wide(node: Node) -> Node:
    if node.type.dtype != f16:
        return node
    if node.op == "constant":
        return replace(const(node.value.astype(np.float32), name=node.name), origin=node.origin)
    return replace(as_type(node, f32), origin=node.origin)


def _computed(node: Node, inputs: list[Node], wide: Callable[[Node], Node]) -> Node:
    """The node, of what has become of its operands."""
    attrs = dict(node.attrs)
    narrow = [i.type for i in inputs] == [i.type for i in node.inputs]
    weights = all(i.op == "constant" for i in inputs)
    if not (narrow and _moves(node)) or weights:
        inputs = [wide(i) for i in inputs]
    if "body" in attrs:
        attrs["body"] = _body(attrs["body"])
    return checked(node.op, inputs, attrs, None, node.name, node.origin)


def _moves(node: Node) -> bool:
    """Are the numbers of the result those of the operands?"""
    return op_row(node.op).kind == "movement" and node.attrs.get("reduction", "none") == "none"


def _body(graph: Graph) -> Graph:
    """The graph inside a node: f32 where it had f16, its inputs and outputs, too."""
    inputs = tuple(
        replace(n, type=TensorType(f32, n.type.shape)) if n.type.dtype == f16 else n
        for n in graph.inputs
    )
    return Graph.of(inputs, map(_wide, _outputs(graph, inputs)), graph.name)
