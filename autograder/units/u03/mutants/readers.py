"""Incomplete counts of who reads a value in an ONNX graph, for the wrong answers of unit 3.

Each is what `count_uses` says, without the readers in one kind of subgraph. Next room: surgery.py.
"""

from __future__ import annotations

from collections import Counter

import onnx

from course_lib.frontend.onnx.surgery import count_uses


def without_loops(graph: onnx.GraphProto) -> Counter[str]:
    """Knows the branches of an If; a Loop has a body."""
    return _without(graph, "body")


def without_else(graph: onnx.GraphProto) -> Counter[str]:
    """Knows the branch behind `then`, and the body of a Loop."""
    return _without(graph, "else_branch")


def _without(graph: onnx.GraphProto, subgraph: str) -> Counter[str]:
    uses = count_uses(graph)
    for attribute in [a for node in graph.node for a in node.attribute if a.name == subgraph]:
        uses.subtract(count_uses(attribute.g))
    return uses
