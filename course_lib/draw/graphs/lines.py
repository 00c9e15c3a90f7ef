"""The text of a graph line by line, with what each line says; and two such texts compared by nodes.

    changed_lines(before, after)        after `dce`, when %3 was dead:

      %2 = exp(%x) : f32[4]
    − %3 = relu(%x) : f32[4]
      %3 = add(%2, %x) : f32[4]        it only got another number, so it is not marked

Next room: `dot.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from course_lib.draw.base.diff import diff
from course_lib.draw.base.picture import Picture
from course_lib.draw.graphs.compare import Changes, changes
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node


def node_lines(graph: Graph) -> list[tuple[str, Hashable]]:
    """Each line of the printed graph, and its node; for the lines around nodes, what they close."""
    lines = print_graph(graph).splitlines()
    return list(zip(lines, ["graph", *_owners(graph, "graph")], strict=True))


def _owners(graph: Graph, owner: Hashable) -> Iterator[Hashable]:
    """What the lines under the first line of a graph say, in the order in which it is printed."""
    for node in graph.nodes:
        if node.op == "input":
            continue
        yield node
        for body in node.attrs.values():
            if isinstance(body, Graph):
                yield from _owners(body, node)
    yield ("return", owner)
    yield ("end", owner)


def changed_lines(
    before: Graph,
    after: Graph,
    title: str,
    longest: int | None = None,
    known: Changes | None = None,
) -> Picture:
    """The text of `after`, with the lines of nodes that went and came since `before` marked.

    longest   lines that are shown; the rest is only counted
    found     what `changes` says of the two, if that is known
    """
    was = (known or changes(before, after)).was

    def same(what: Hashable) -> Hashable:
        """One key for a line of both graphs: the old node, or what a group computes."""
        if isinstance(what, tuple):
            return (what[0], same(what[1]))
        if not isinstance(what, Node):
            return what
        body = what.attrs.get("body")
        return print_graph(body) if isinstance(body, Graph) else was.get(what, what)

    old, new = node_lines(before), node_lines(after)
    keys = [same(what) for _, what in old], [same(what) for _, what in new]
    texts = "\n".join(line for line, _ in old), "\n".join(line for line, _ in new)
    return Picture(title, *diff(*texts, keys=keys, longest=longest))
