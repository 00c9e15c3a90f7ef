"""Dead-code elimination: remove what no output needs.

    %0 = exp(%x) : f32[4]
    %1 = relu(%x) : f32[4]      ==>     %0 = relu(%x) : f32[4]
    return %1                           return %0

Next room: `cse.py`, which makes dead code.
"""

from __future__ import annotations

from dataclasses import replace

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph


def keep(graph: Graph) -> Graph:
    """The compiler without this pass: the graph as it is."""
    return graph


@exercise("passes.dce", unit=2, points=2, baseline=keep)
def dce(graph: Graph) -> Graph:
    """Remove every node that no output depends on.

    A node is live if it is an output, or if a live node reads it. The result holds the live nodes
    of `graph` and all of its inputs, and nothing else, as the same objects. Its name, its inputs
    and its outputs are those of `graph`. Any order in which the nodes can be computed will do.

    - An input stays even if nothing reads it: the inputs are the signature that callers rely on.
    - Having a user is not enough: in a chain of dead nodes, every one but the last has a user.
    - Constants are nodes like any other: a dead constant goes.
    - No op of this IR has side effects.

    Linear time: each node and each edge is looked at once, without recursion.

    >>> from course_lib.ir.graph.graph import print_graph
    >>> from course_lib.ir.graph.parse import parse_graph
    >>> graph = parse_graph('''
    ... graph @f(%x: f32[4]) -> (f32[4]) {
    ...   %0 = exp(%x) : f32[4]
    ...   %1 = neg(%0) : f32[4]
    ...   %2 = relu(%x) : f32[4]
    ...   return %2
    ... }''')
    >>> print(print_graph(dce(graph)))
    graph @f(%x: f32[4]) -> (f32[4]) {
      %0 = relu(%x) : f32[4]
      return %0
    }
    <BLANKLINE>
    """
    live = set(graph.outputs) | set(graph.inputs)
    for node in reversed(graph.nodes):
        if node in live:
            live.update(node.inputs)
    return replace(graph, nodes=tuple(node for node in graph.nodes if node in live))
