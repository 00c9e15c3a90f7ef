"""The tables of unit 14 that need a student's answer, and small helpers of the notebook.

    regions_table(merged)       the block: pieces, and the regions that are made of them
    plans_table(chosen)         six programs: simple plans, yours, and the best

Next room: wild.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import cover
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from lessons.bill import bill_of
from lessons.u14.annotate import NPU, block, border, divided
from lessons.u14.offload import FEWEST, programs, total


def source(function: Callable[..., Any]) -> str:
    """The text of a function, without its docstring."""
    text = inspect.getsource(inspect.unwrap(function)).replace("  # fmt: skip", "")
    head, _, rest = text.partition('"""')
    return (head.rstrip() + rest.partition('"""')[2]).rstrip()


def groups(graph: Graph) -> dict[str, list[Node]]:
    """What the chip takes of a graph, to be drawn."""
    return {"chip": [node for match in cover(graph)[0] for node in match.nodes]}


def named(plan: Sequence[Sequence[Node]]) -> dict[str, list[Node]]:
    """The regions of a plan, to be drawn."""
    return {f"region {k}": list(region) for k, region in enumerate(plan)}


def pieces() -> list[list[Node]]:
    """The matches of our chip's table in the block."""
    return [list(match.nodes) for match in cover(block(), partial(refused, chip=NPU))[0]]


def bytes_of(graph: Graph, plan: Sequence[Sequence[Node]]) -> int:
    """Bytes between processor and chip without weights: each value once for each region that reads
    it, and once if it leaves."""
    users, moved = graph.users(), 0
    for region in plan:
        reads = {i for node in region for i in node.inputs if i not in region}
        moved += sum(i.type.nbytes for i in reads if i.op != "constant")
        leaves = (n for n in region if n in graph.outputs or set(users[n]) - set(region))
        moved += sum(node.type.nbytes for node in leaves)
    return moved


def regions_table(merged: Callable[..., Any]) -> Picture:
    """The block: each piece alone, joined by an answer, and in the parts of our compiler."""
    graph, given = block(), pieces()
    regions = merged(graph, [list(piece) for piece in given])
    ours = divided()
    rows: list[list[str | int]] = [
        ["each piece alone", len(given), bytes_of(graph, given)],
        ["your regions", len(regions), bytes_of(graph, regions)],
        ["our compiler's parts", sum(p.device == "chip" for p in ours.parts), border(ours)],
    ]
    heads = ["transformer block", "starts of the chip", "bytes between processor and chip"]
    return table(rows, heads, exact=heads[1:])


def plans_table(chosen: Callable[..., Any] | None = None) -> Picture:
    """Clocks of six programs with simple plans, with those of an answer, and the fewest."""
    rows: list[list[str | int]] = []
    for number, case in enumerate(programs()):
        graph, chip, host = case
        faster = {node for node in chip if chip[node] < host[node]}
        plans = [set(), set(chip), faster, one_at_a_time(*case)]
        plans += [set(chosen(graph, dict(chip), dict(host)))] if chosen else []
        rows.append([str(number), *(total(*case, plan) for plan in plans), FEWEST[number]])
    heads = ["program", "nothing", "all that the chip can do", "what is faster there",
             "one at a time", *(["yours"] if chosen else []), "fewest"]  # fmt: skip
    return table(rows, heads, "Clocks of plans", exact=heads[1:])


def one_at_a_time(graph: Graph, chip: dict[Node, int], host: dict[Node, int]) -> set[Node]:
    """A plan that grows and shrinks by one operation while that saves clocks."""
    plan: set[Node] = set()
    while True:
        best = min(({node} for node in chip), key=lambda g: total(graph, chip, host, plan ^ g))
        if total(graph, chip, host, plan ^ best) >= total(graph, chip, host, plan):
            return plan
        plan ^= best


def bill(rows: Callable[..., Any], merged: Callable[..., Any]) -> Picture:
    """What the pieces of this unit changed."""
    graph, given = block(), pieces()
    joined = bytes_of(graph, merged(graph, [list(piece) for piece in given]))
    lines: list[list[str | int]] = [
        ["your rows: bytes between processor and chip", border(divided()),
         border(divided(rows())), 327_680],
        ["your regions of neighbours: the same bytes", bytes_of(graph, given), joined, 655_360],
    ]  # fmt: skip
    return bill_of(lines, ["", "before", "with yours", "best known"])
