"""Passes inside loops: the body of a `scan` is a graph, and what is true of graphs is true of it.

    on_bodies(graph, dce)       %0 = scan(%h, %xs) {body = graph @step(...) { ... }}
                                                                  ^ dce of this

A fused group is the result of a pass, and no pass looks into it. Next room: `manager.py`, which
gives every pass the bodies first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node


def on_bodies(graph: Graph, one: Callable[[Graph], Graph]) -> Graph:
    """The graph with `one(body)` in place of the body of each scan; itself if it has none."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.op != "scan":
            return None
        attrs = MappingProxyType({**node.attrs, "body": one(node.attrs["body"])})
        return replace(node, inputs=inputs, attrs=attrs)

    return graph.rebuild(visit) if any(n.op == "scan" for n in graph.nodes) else graph


def everywhere(graph: Graph, one: Callable[[Graph], Graph]) -> Graph:
    """`one` of the graph, after it was applied to all bodies in it, however deep they stand."""
    return one(on_bodies(graph, lambda body: everywhere(body, one)))
