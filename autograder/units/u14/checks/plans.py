"""Visible checks of u14.deadlock and u14.merged: plans that run or get stuck.

`plan_of` judges a plan, here and in the hidden checks. Next room: costs.py.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from autograder.check.programs import graphs
from autograder.check.properties import valid_graph
from autograder.check.shown import returned
from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from lessons.u14.regions import joined, neighbours, started, told, units

# ── a program that deadlocks ──

FEW = "Return a graph of at most 8 operations"
STUCK = "and yet this plan never ends: some of its regions never start"
MOST = 8

background(
    "u14.deadlock",
    "Write a program for which `joined` makes regions that wait for each other",
    because="the title",
)


@checks("u14.deadlock", spec=[FEW, STUCK, "makes convex regions of it", "The chip takes its `add` "
                              "and `relu`, and everything else runs on the processor"])  # fmt: skip
def the_plan_gets_stuck(deadlock):
    """`joined` makes a plan of it that never ends."""
    graph = valid_graph(deadlock(), spec=FEW)
    if len(graph.ops) > MOST:
        raise Wrong(f"The graph must have at most {MOST} operations.", program=graph,
                    got=f"{len(graph.ops)} operations", spec=FEW)  # fmt: skip
    plan = joined(graph, units(graph))
    if len(started(graph, plan)) == pieces_in(graph, plan):
        raise Wrong("This plan runs to its end.", program=graph, got=told(graph, plan), spec=STUCK)
    return f"{len(started(graph, plan))} of {pieces_in(graph, plan)} regions and operations start"


def pieces_in(graph: Graph, regions: Sequence[Sequence[Node]]) -> int:
    """How many pieces a plan has: regions, and operations of the processor."""
    inside = {node for region in regions for node in region}
    return len(regions) + sum(node not in inside for node in graph.ops)


# ── regions ──

WHOLE = "Each piece lies whole in one region, and nothing else is in a region"
NEAR = ("Only neighbours are joined: a region is a piece, or two smaller regions of which one "
        "reads a value of the other")  # fmt: skip
ENDS = "The plan runs to its end"
LEFT = "No two neighbours are left that could be joined without a deadlock"
FORM = "the regions: lists of nodes"
GIVEN = [
    "lists of its nodes, without overlap; the chip computes each piece in one go. Everything "
    "else runs on the processor, one operation at a time",
    "Join the pieces of the chip into regions, so that the plan still runs to its end",
]
ALL = [WHOLE, NEAR, ENDS, LEFT, FORM, *GIVEN]

background("u14.merged", "graph    a program", because="what the argument is")

Pieces = list[list[Node]]


def pieces(graph: Graph, number: int) -> Pieces:
    """What a chip takes of a graph. Number 0: each `add` and `relu` alone; others: one of many
    chips that take some operations, alone or several neighbours in one go, listed in any order."""
    rng = random.Random(number)
    parts = units(graph)
    if number:
        taken = [n for n in graph.ops if rng.random() < (0.9 if n.op in ("add", "relu") else 0.3)]
        parts, most = [[node] for node in taken], rng.choice((1, 2, 3, 3, 5, 8))
        for node in taken:
            for other in [i for i in node.inputs if i in taken]:
                a, b = (next(p for p in parts if n in p) for n in (node, other))
                both = [n for n in taken if n in a or n in b]
                plan = [p for p in parts if p is not a and p is not b] + [both]
                if len(both) <= most and rng.random() < 0.7 and runs(graph, plan):
                    parts = plan
        rng.shuffle(parts)
    return parts


def runs(graph: Graph, plan: Pieces) -> bool:
    return len(started(graph, plan)) == pieces_in(graph, plan)


def listed(graph: Graph, regions: Sequence[Sequence[Node]]) -> str:
    names = value_names(graph)
    texts = [", ".join(f"%{names[node]}" for node in region) for region in regions]
    return " ".join(f"[{text}]" for text in texts) or "none"


def plan_of(merged: Any, graph: Graph, given: Pieces) -> Pieces:
    """The plan of an answer; Wrong if it is none, or not a good one."""
    got = merged(graph, [list(piece) for piece in given])
    wrong = partial(Wrong, program=f"{graph}pieces of the chip: {listed(graph, given)}")
    plan = regions_in(got)
    if plan is None:
        answer = returned(got)
        raise wrong("The answer must be a list of lists of nodes.", got=answer, spec=FORM)
    _whole(graph, given, plan, wrong)
    if not runs(graph, plan):
        problem = "This plan never ends: some of its regions wait for each other."
        raise wrong(problem, got=told(graph, plan), spec=ENDS)
    if not all(_connected(region, given) for region in plan):
        problem = "Pieces that are not neighbours must not be joined."
        raise wrong(problem, got=listed(graph, plan), spec=NEAR)
    names = value_names(graph)
    for a, b in combinations(plan, 2):
        better = [region for region in plan if region is not a and region is not b] + [a + b]
        if neighbours(a, b) and runs(graph, better):
            problem = f"The regions of %{names[a[-1]]} and %{names[b[-1]]} must be joined, because "
            problem += "the plan would still run to its end."
            due = f"{listed(graph, better)}\n{told(graph, better)}"
            raise wrong(problem, got=listed(graph, plan), expected=due, spec=LEFT)
    return plan


def regions_in(got: Any) -> Pieces | None:
    """The regions of an answer, which may be collections of any kind; None if it has others."""
    try:
        plan = [list(region) for region in got]
    except TypeError:
        return None
    return plan if all(isinstance(node, Node) for region in plan for node in region) else None


def _whole(graph: Graph, given: Pieces, plan: Pieces, wrong: Any) -> None:
    got = listed(graph, [[n for n in region if n in graph.nodes] for region in plan])
    names, where = value_names(graph), {}
    for number, region in enumerate(plan):
        for node in region:
            if node in where or not any(node in piece for piece in given):
                name = f"%{names[node]}" if node in names else repr(node)[:80]
                twice = "must be in one region only" if node in where else "must not be in a region"
                raise wrong(f"{name} {twice}.", got=got, spec=WHOLE)
            where[node] = number
    for piece in given:
        if len({where.get(node, -1) for node in piece}) != 1 or piece[0] not in where:
            problem = f"The piece {listed(graph, [piece])} must lie whole in one region."
            raise wrong(problem, got=got, spec=WHOLE)
    if not all(plan):
        raise wrong("No region may be empty.", got=got, spec=FORM)


def _connected(region: Sequence[Node], given: Pieces) -> bool:
    """Do steps from neighbour to neighbour lead from its first piece to all others?"""
    mine = [piece for piece in given if piece[0] in region]
    reached, left = [mine[0]], mine[1:]
    for piece in reached:
        near = [other for other in left if neighbours(piece, other)]
        reached += near
        left = [other for other in left if other not in near]
    return not left


def _chain(x: Node) -> Node:
    """Thirty operations, every fifth of them on the processor."""
    start = x
    for k in range(30):
        x = neg(x) if k % 5 == 4 else x + start if k % 3 else relu(x)
    return x


def _side_by_side(x: Node) -> list[Node]:
    """Fifty chains of two."""
    return [relu(relu(x)) for _ in range(50)]


ONE, TWO, THREE = ["f32[2]"], ["f32[2]"] * 2, ["f32[2]"] * 3
BY_HAND = [
    trace(lambda x: relu(relu(x)), *ONE),
    # at first, the pair (first, last) would wait for the one between; later it is inside
    trace(lambda x: (a := relu(x)) + relu(a), *ONE),
    # the third piece can be joined with the last only after the second one is in its region
    trace(lambda x: (a := relu(x)) + (relu(a) + a), *ONE),
    trace(lambda x: (a := relu(x)) + neg(a), *ONE),
    # each of two regions would wait for the other
    trace(lambda x, y: [relu((a := relu(relu(x))) + neg(b := relu(relu(y)))), relu(b + neg(a))],
          *TWO),
    # three regions may wait for each other, though no two of them do
    trace(lambda x, y, z: [(a := relu(x)) + neg(c := relu(z)), (b := relu(y)) + neg(a),
                           c + neg(b)], *THREE),
    # as many operations of the processor start as there are regions, which wait for each other
    trace(lambda x, y: [(a := relu(x)) + neg(b := relu(y)), b + neg(a), neg(neg(x))], *TWO),
    trace(lambda x: [relu(x), relu(neg(x))], *ONE),
    trace(lambda x: neg(x), *ONE),
]  # fmt: skip
WITH_A_LARGE_PIECE = trace(lambda v, w, x, y: relu(relu(relu(relu(relu(v + w))))) + (x + y),
                           *["f32[2]"] * 4)  # fmt: skip
MANY = [trace(_chain, *ONE), trace(_side_by_side, *ONE)]
OPS = ("relu", "add", "neg", "relu", "add")


def programs(size: int) -> Any:
    """Of few operations or of many kinds, with constants, and how the chip's pieces are drawn."""
    few = graphs(size=size, ops=OPS, constants=False, repeats=False)
    return st.tuples(few | graphs(size=size, ops=(*OPS, "tanh", "max", "sub")), st.integers(0, 99))


@checks("u14.merged", spec=ALL)
def small_programs(merged):
    """Programs of one to ten operations, written by hand."""
    for graph in BY_HAND:
        for number in range(5):
            plan_of(merged, graph, pieces(graph, number))
    return f"{len(BY_HAND)} programs"


@checks("u14.merged", given=programs(10), examples=100, spec=ALL)
def random_programs(merged, case):
    """Programs of up to ten operations, with pieces of one to five."""
    graph, number = case
    plan_of(merged, graph, pieces(graph, number))


@checks("u14.merged", spec=[LEFT, ENDS])
def many_operations(merged):
    """A chain of thirty operations, and fifty chains of two."""
    given = [pieces(graph, 0) for graph in MANY]
    plans = [plan_of(merged, graph, [*each[::2], *each[1::2]])
             for graph, each in zip(MANY, given, strict=True)]  # fmt: skip
    large, most = WITH_A_LARGE_PIECE, len(WITH_A_LARGE_PIECE.ops) - 2
    plan_of(merged, large, [[*large.ops[:most]], *([node] for node in large.ops[most:])])
    return f"30 and 100 operations, {' and '.join(str(len(plan)) for plan in plans)} regions"
