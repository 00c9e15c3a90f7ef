"""The verifier: is this graph well formed? The pass manager asks after every pass.

    %1 = add(%0, %x) : f32[4]        // but the op table says f32[8,4]
    ==>  ValueError: %1 = add: declared f32[4], but its operands give f32[8,4]

What holds afterwards: every value is defined once and before it is used, every op is in the table
with the right number of operands and attributes, every type is what the op's rule says.
Next room: `text.py`, how a graph is printed and read.
"""

from __future__ import annotations

import numpy as np

from course_lib.ir.graph import Graph, Node
from course_lib.ir.ops import op as op_row
from course_lib.ir.types import type_of


def verify(graph: Graph) -> Graph:
    """Return the graph if it is well formed; else raise ValueError naming the first bad node."""
    seen: set[Node] = set()
    for node in graph.nodes:
        if node in seen:
            raise ValueError(f"@{graph.name}: {_label(node)} stands in the graph twice")
        for operand in node.inputs:
            if operand not in seen:
                where = "later in" if operand in graph.nodes else "nowhere in"
                raise ValueError(
                    f"@{graph.name}: {_label(node)} uses {_label(operand)}, "
                    f"which is defined {where} the graph"
                )
        _verify_node(node, graph.name)
        seen.add(node)
    for name, group in (("input", graph.inputs), ("output", graph.outputs)):
        for node in group:
            if node not in seen:
                raise ValueError(f"@{graph.name}: the {name} {_label(node)} is not in the graph")
    listed = set(graph.inputs)
    for node in graph.nodes:
        if node.op == "input" and node not in listed:
            raise ValueError(f"@{graph.name}: {_label(node)} is not among the graph's inputs")
    if len(listed) != len(graph.inputs) or any(n.op != "input" for n in graph.inputs):
        raise ValueError(f"@{graph.name}: the inputs must be distinct nodes with op 'input'")
    return graph


def _verify_node(node: Node, graph: str) -> None:
    if node.op == "input":
        return
    try:
        row = op_row(node.op)
        row.check_arity(len(node.inputs))
        if row.complete(node.attrs) != dict(node.attrs) and node.op != "constant":
            raise ValueError(f"needs all of its attributes: {', '.join(row.attrs)}")
        if node.op == "constant":
            _verify_constant(node)
        inferred = row.infer([i.type for i in node.inputs], node.attrs)
        if "body" in node.attrs:
            verify(node.attrs["body"])
    except ValueError as error:
        raise ValueError(f"@{graph}: {_label(node)}: {error}") from None
    if (inferred.dtype, inferred.shape) != (node.type.dtype, node.type.shape):
        raise ValueError(
            f"@{graph}: {_label(node)}: declared {node.type}, but its operands give {inferred}"
        )


def _verify_constant(node: Node) -> None:
    value = node.attrs.get("value")
    if not isinstance(value, np.ndarray):
        raise ValueError(f"a constant needs a numpy array, got {type(value).__name__}")
    if type_of(value).shape != node.type.shape:
        raise ValueError(f"holds an array of shape {value.shape}, declared {node.type}")


def _label(node: Node) -> str:
    where = f" (from {', '.join(node.origin)})" if node.origin else ""
    return f"%{node.name} = {node.op}{where}" if node.name else f"{node.op}{where}"
