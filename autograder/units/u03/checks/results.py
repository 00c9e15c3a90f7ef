"""What the checks of unit 3 say about a graph that a pass gave back. Next room: fold.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.check.framework import Wrong
from autograder.check.properties import live_ops, same_meaning, valid_graph
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node

Case = tuple[Graph, str, str]  # a program, what is special, words of the specification


def wrong(problem: str, before: Graph, after: Graph, spec: str = "", *nodes: Node) -> Wrong:
    """`nodes` are marked."""
    names = value_names(after)
    marked = tuple(names[node] for node in nodes)
    return Wrong(problem, program=before, got=after, spec=spec, marked=marked)


def ops_of(graph: Graph) -> Counter[str]:
    return Counter(node.op for node in live_ops(graph))


def counted(ops: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {op}" for op, count in ops.items() if count)


def leaves(answer: Any, cases: Iterable[Case], so: str) -> None:
    """Each of these programs stays, for the reason that is told; `so` is what follows from it."""
    for before, problem, spec in cases:
        after = valid_graph(answer(before), before, spec=spec)
        mine, ours = ops_of(after), ops_of(before)
        if mine != ours:
            problem = f"{problem} {so}: {counted(ours)}. The result has {counted(mine)}."
            raise wrong(problem, before, after, spec)
        same_meaning(before, after, spec=spec)


def keeps_origins(before: Graph, after: Graph, wanted: set[str], node: Node, spec: str) -> None:
    if not wanted <= set(node.origin):
        names, origin = ", ".join(sorted(wanted)), ", ".join(node.origin) or "nothing"
        problem = f"This {node.op} must name where it came from, {names}; it says {origin}."
        raise wrong(problem, before, after, spec, node)
