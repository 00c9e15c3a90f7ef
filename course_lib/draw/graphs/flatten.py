"""A graph without its nesting: what is inside fused nodes stands beside everything else.

    %1 = fused(%0) {body = graph @b(%p) { %m = mul(%p, 2.0); return %m }}

    ->  [%0, 2.0, %m]    and %m remembers that it is inside %1

Next room: `layout.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node


@dataclass(frozen=True, eq=False)
class Value:
    """A node as it is drawn: `regions` are the fused nodes around it, outermost first."""

    node: Node
    name: str
    operands: tuple[Value, ...]
    regions: tuple[Node, ...]


def flatten(graph: Graph) -> tuple[list[Value], list[Value]]:
    """Every node, with those inside fused nodes in their place; and the outputs."""
    values: list[Value] = []

    def walk(graph: Graph, known: dict[Node, Value], regions: tuple[Node, ...]) -> None:
        names = value_names(graph)
        for node in graph.nodes:
            if node in known:  # an input of a body is the operand outside
                continue
            operands = tuple(known[i] for i in node.inputs)
            if node.op == "fused":
                body = node.attrs["body"]
                inside = dict(zip(body.inputs, operands, strict=True))
                walk(body, inside, (*regions, node))
                known[node] = inside[body.outputs[0]]
            else:
                known[node] = Value(node, names[node], operands, regions)
                values.append(known[node])
        if not regions:
            outputs.extend(known[n] for n in graph.outputs)

    outputs: list[Value] = []
    walk(graph, {}, ())
    return values, outputs
