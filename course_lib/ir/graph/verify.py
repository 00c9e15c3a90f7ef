"""The verifier: is this graph well formed? The pass manager runs it after every pass.

    %1 = add(%0, %x) : f32[4]        // but the op table says f32[8,4]
    ==>  ValueError: %1 = add: declared f32[4], but its operands give f32[8,4]

What holds afterwards: every value is defined once and before it is used, every op is in the table
with the right number of operands and attributes, every type is what the op's rule says.
Next room: `parse.py`, which reads a graph's text.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.arguments import takes
from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import WELL_FORMED, Node, checked


@takes
def verify(graph: Graph) -> Graph:
    """Return the graph if it is well formed; else raise ValueError naming the first bad node."""
    place = misplaced(graph.nodes)
    if place is not None:
        raise ValueError(f"@{graph.name}: {_why(graph.nodes, place)}")
    for node in graph.nodes:
        _verify_node(node, graph.name)
    seen = set(graph.nodes)
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


def undefined(nodes: Sequence[Node]) -> int | None:
    """The position of the first node that reads a value which stands nowhere; None without one."""
    known = set(nodes)
    return next((k for k, node in enumerate(nodes) if not known.issuperset(node.inputs)), None)


@exercise("ir.verify.misplaced", unit=1, points=2, baseline=undefined, further=True)
def misplaced(nodes: Sequence[Node]) -> int | None:
    """The position of the first node that may not stand where it stands; None if all may.

    `nodes` is a program, from its first line (position 0) to its last. A node may stand at its
    position if

    - it stands nowhere before it: every value is defined once;
    - all of its operands stand before it: a value is defined before it is read.

    Of a value that is defined twice, the second position is the wrong one. Nodes are the same value
    only if they are the same object: two nodes that compute the same are two values. Names do not
    count: they may be empty, and two nodes may share one.

    One walk is enough. Comparing all pairs would mean 50 million comparisons for 10,000 nodes.

    >>> from course_lib.ir.graph.build import relu
    >>> from course_lib.ir.graph.node import inp
    >>> x = inp("x", "f32[4]")
    >>> y = relu(x)
    >>> print(misplaced([x, y, y + x]))
    None
    >>> misplaced([y, x]), misplaced([x, y, y]), misplaced([x, relu(y)])
    (0, 2, 1)
    """
    seen: set[Node] = set()
    for place, node in enumerate(nodes):
        if node in seen or not seen.issuperset(node.inputs):
            return place
        seen.add(node)
    return None


def _why(nodes: Sequence[Node], place: int) -> str:
    """What is wrong with the node at this position, in words."""
    node, above = nodes[place], set(nodes[:place])
    if node in above:
        return f"{_label(node)} stands in the graph twice"
    missing = next((i for i in node.inputs if i not in above), None)
    if missing is None:
        return f"{_label(node)} is called misplaced, and nothing is wrong with its position {place}"
    where = "later in" if missing in nodes[place:] else "nowhere in"
    return f"{_label(node)} uses {_label(missing)}, which is defined {where} the graph"


def _verify_node(node: Node, graph: str) -> None:
    if node.op == "input" or node in WELL_FORMED:
        return
    try:
        full = checked(node.op, node.inputs, node.attrs, node.type).attrs
        if len(full) != len(node.attrs):
            raise ValueError(f"needs all of its attributes: {', '.join(full)}")
        if "body" in node.attrs:
            verify(node.attrs["body"])
    except ValueError as error:
        raise ValueError(f"@{graph}: {_label(node)}: {error}") from None
    WELL_FORMED.add(node)


def _label(node: Node) -> str:
    where = f" (from {', '.join(node.origin)})" if node.origin else ""
    return f"%{node.name} = {node.op}{where}" if node.name else f"{node.op}{where}"
