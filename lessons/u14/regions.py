"""Partition: pieces of the chip joined into regions, and a wrong rule for it.

    units(graph)                what the small chip of these sections takes: add, relu
    joined(graph, pieces)       neighbours joined while each region is convex; the fault
    started(graph, regions)     a plan while it runs: what starts, in order

A plan is a list of regions, each of which starts when all that it reads is there. All other
operations run one by one on the processor. Next room: reports.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node

Regions = Sequence[Sequence[Node]]
ON_CHIP = ("add", "relu")


def units(graph: Graph) -> list[list[Node]]:
    """The pieces that a chip with `add` and `relu` takes: one for each of these operations."""
    return [[node] for node in graph.ops if node.op in ON_CHIP]


def neighbours(a: Sequence[Node], b: Sequence[Node]) -> bool:
    """Does one of two pieces or regions read a value of the other?"""
    return any(i in b for node in a for i in node.inputs) or any(
        i in a for node in b for i in node.inputs
    )


def convex(graph: Graph, nodes: Sequence[Node]) -> bool:
    """Does no path leave these nodes and come back?"""
    behind: set[Node] = set()  # outside, but it needs something from inside
    for node in graph.ops:
        if node in nodes and behind & set(node.inputs):
            return False
        if node not in nodes and (behind | set(nodes)) & set(node.inputs):
            behind.add(node)
    return True


def started(graph: Graph, regions: Regions) -> list[Sequence[Node]]:
    """The regions and the processor's single operations in the order in which they start. What is
    missing waits for ever."""
    inside = {node for region in regions for node in region}
    waiting: list[Sequence[Node]] = [*regions, *([n] for n in graph.ops if n not in inside)]
    there = {*graph.inputs, *graph.constants}
    order: list[Sequence[Node]] = []
    while ready := [
        piece for piece in waiting
        if all(i in there or i in piece for node in piece for i in node.inputs)
    ]:  # fmt: skip
        order += ready
        waiting = [piece for piece in waiting if piece not in ready]
        there |= {node for piece in ready for node in piece}
    return order


def joined(graph: Graph, pieces: Regions) -> list[list[Node]]:
    """Join neighbours for as long as the result is convex."""
    regions = [list(piece) for piece in pieces]
    while True:
        pairs = [(a, b) for a, b in combinations(regions, 2)
                 if neighbours(a, b) and convex(graph, a + b)]  # fmt: skip
        if not pairs:
            return regions
        a, b = pairs[0]
        regions = [region for region in regions if region is not a and region is not b] + [a + b]


def told(graph: Graph, regions: Regions) -> str:
    """A plan while it runs, in words: what starts, and what the rest waits for."""
    names, order = value_names(graph), started(graph, regions)
    inside = {node for region in regions for node in region}

    def text(piece: Sequence[Node]) -> str:
        listed = ", ".join(f"%{names[n]} = {n.op}" for n in piece)
        return f"chip [{listed}]" if piece[0] in inside else f"processor {listed}"

    lines = [f"{k}. {text(piece)}" for k, piece in enumerate(order, 1)]
    there = {*graph.inputs, *graph.constants, *(n for piece in order for n in piece)}
    left = [*regions, *([n] for n in graph.ops if n not in inside)]
    for piece in left:
        if piece not in order:
            missing = [i for n in piece for i in n.inputs if i not in there and i not in piece]
            wanted = ", ".join(dict.fromkeys(f"%{names[i]}" for i in missing))
            lines.append(f"-  {text(piece)} waits for {wanted}")
    return "\n".join(lines)
