"""Where a node came from, kept through the passes.

    conv (from layer1.0.conv1), batch_norm (from layer1.0.bn1)
    ==>  conv (from layer1.0.conv1, layer1.0.bn1)

A pass that makes one node out of several names all of them, so that a slice in a profile leads back
to every line of the model that it pays for. Next room:
`passes/infra/rewrite.py`, which does this for all rules.
"""

from __future__ import annotations

from course_lib.ir.graph.node import Node


def origins(*nodes: Node) -> tuple[str, ...]:
    """The origins of all these nodes, each once, in order."""
    return tuple(dict.fromkeys(origin for node in nodes for origin in node.origin))
