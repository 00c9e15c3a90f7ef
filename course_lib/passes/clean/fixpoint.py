"""Fixpoint: run passes round after round until they find nothing more to do.

    fixpoint(graph, [simplify, fold, dce])

One pass makes work for another: folding makes the 1.0 that simplification looks for. The other
answer to the question of the right order is a fixed list with repeats. Next room:
`passes/pipeline.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.exercises import exercise
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.passes.clean.cse import exactly
from course_lib.passes.infra.manager import Pass, pass_name, run_passes


def once(graph: Graph, passes: Sequence[Pass], limit: int = 20) -> Graph:
    """The compiler without iteration: each pass runs a single time."""
    return run_passes(graph, passes)


@exercise("passes.fixpoint", unit=2, points=2, baseline=once, further=True)
def fixpoint(graph: Graph, passes: Sequence[Pass], limit: int = 20) -> Graph:
    """Run `passes` in order, again and again, until a round changes nothing.

    A round runs all the passes, in order, and `run_passes` verifies each of them.
    `same_program(before, after)` tells whether the round changed anything. Passes may build every
    node anew, so `is` and == on nodes say nothing, and different programs may have the same number
    of nodes.

    Passes that undo in each round what they did in the one before never come to rest. After `limit`
    rounds that all changed something, raise ValueError; no pass runs in more rounds than that.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.passes.clean.dce import dce
    >>> from course_lib.passes.clean.fold import fold
    >>> from course_lib.passes.clean.simplify import simplify
    >>> two_steps = trace(lambda x: x * ((x - x) * 0 + 1), "i32[4]")
    >>> fixpoint(two_steps, [simplify, fold, dce])
    graph @main(%x0: i32[4]) -> (i32[4]) {
      return %x0
    }
    <BLANKLINE>
    """
    for _ in range(limit):
        before, graph = graph, run_passes(graph, passes)
        if same_program(before, graph):
            return graph
    names = ", ".join(pass_name(one) for one in passes)
    raise ValueError(f"after {limit} rounds of {names}, the last one still changed something")


def same_program(a: Graph, b: Graph) -> bool:
    """Do two graphs list the same computations in the same order, whatever their names?"""
    return _numbered(a) == _numbered(b)


def _attrs(node: Node) -> list[object]:
    return [
        (name, _numbered(value) if isinstance(value, Graph) else exactly(value))
        for name, value in node.attrs.items()
    ]


def _numbered(graph: Graph) -> list[object]:
    number = {node: k for k, node in enumerate(graph.nodes)}
    body: list[object] = [
        (node.op, node.type, [number[i] for i in node.inputs], _attrs(node)) for node in graph.nodes
    ]
    return [*body, [number[node] for node in graph.inputs], [number[n] for n in graph.outputs]]
