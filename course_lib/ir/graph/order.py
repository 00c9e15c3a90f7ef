"""In which order the nodes of a program can be computed.

    y * y + x   ==>   x, y, y * y, y * y + x        // each after its operands

Next room: `graph.py`, a program in such an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from course_lib.exercises import exercise
from course_lib.ir.graph.node import Node


def from_the_top(roots: Iterable[Node], done: Set[Node] = frozenset()) -> list[Node]:
    """The slow way: walk down to a node whose operands are all there, then start again on top."""
    order: dict[Node, None] = {}
    for root in roots:
        while root not in order and root not in done:
            node = root
            while waits := [i for i in node.inputs if i not in order and i not in done]:
                node = waits[0]
            order[node] = None
    return list(order)


@exercise("ir.graph.topological_order", unit=1, points=3, baseline=from_the_top)
def topological_order(roots: Iterable[Node], done: Set[Node] = frozenset()) -> list[Node]:
    """Every node that `roots` need, each after its operands.

    A root needs itself, its operands, their operands, and so on. The list holds each of these
    nodes once, the same objects, and nothing else. Any order in which every node comes after all
    of its operands is right.

    - Roots may need each other, share nodes, or be given twice.
    - Nodes in `done` are placed already: they are not listed, nor is what only they need. `done`
      itself is not changed.
    - A node may read the same operand twice, as in `x * x`.
    - A model can be thousands of nodes deep, and Python's recursion ends at a thousand calls.
    - A node with many users is not walked through again for each of them: the work grows with the
      number of edges, not of paths.

    >>> from course_lib.ir.graph.build import relu
    >>> from course_lib.ir.graph.node import inp
    >>> x = inp("x", "f32[4]")
    >>> y = relu(x)
    >>> [node.op for node in topological_order([y * y])]
    ['input', 'relu', 'mul']
    >>> [node.op for node in topological_order([y * y], done={y})]
    ['mul']
    """
    order: dict[Node, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, operands_placed = stack.pop()
            if node in order or node in done:
                continue
            if operands_placed:
                order[node] = None
                continue
            stack.append((node, True))
            stack.extend((i, False) for i in reversed(node.inputs))
    return list(order)
