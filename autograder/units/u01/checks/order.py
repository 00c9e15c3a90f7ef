"""Checks of unit 1 for the order of a program and for the definitions in it.

An order is judged by what it says of each node: its operands stand before it, somebody needs it.
So no check needs an algorithm of its own. Programs with a fault are made from right ones, and the
place of the fault is known because it was put there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.programs import graphs
from course_lib.ir.graph.build import neg, relu
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, inp

X, Y = inp("x", "f32[4]"), inp("y", "f32[4]")

# ── ir.graph.topological_order ──


@checks("ir.graph.topological_order", spec="Any order in which every node comes after all")
def orders_small_programs(topological_order):
    """A chain, a value that is read twice, two users, roots that need each other."""
    a = relu(X)
    b = a * a
    c = neg(a)
    for roots in ([X], [a], [b], [b + c], [b, c], [c, a, b], [b, b], [a, X], [Y, b]):
        in_order(topological_order, roots, frozenset())
    if list(topological_order([])):
        raise Wrong("Without roots nothing is needed.", got="nodes", expected="[]")
    return "nine small programs"


@checks("ir.graph.topological_order", spec="they are not listed, nor is what only they need")
def leaves_out_what_is_done(topological_order):
    """Nodes in `done`, and what only they need, are not listed."""
    a = relu(X)
    b = neg(a)
    for roots, done in (
        ([b], {a}),
        ([b + Y], {a}),
        ([b], {b}),
        ([b + a], {b}),
        ([b * b], {X}),
        ([b, a], {a, X}),
    ):
        in_order(topological_order, roots, frozenset(done))
    return "what is done"


@checks("ir.graph.topological_order", given=graphs(size=8), examples=60)
def orders_random_programs(topological_order, graph):
    """Every node after its operands, each once, and nothing that is not needed."""
    in_order(topological_order, graph.outputs, frozenset())


@checks("ir.graph.topological_order", spec="Python's recursion ends at a thousand calls")
def takes_deep_programs(topological_order):
    """2,000 operations in a row."""
    node = X
    for _ in range(2000):
        node = relu(node)
    try:
        found = topological_order([node])
    except Crashed as error:
        if not error.error.startswith("RecursionError"):
            raise
        raise Wrong("Of 2,000 operations in a row, Python's recursion takes a thousand.",
                    program="a chain of 2,000 relu", got=error.error) from None  # fmt: skip
    if len(nodes_of(found)) != 2001:
        raise Wrong("A chain of 2,000 relu needs 2,001 nodes.", got=f"{len(found)} nodes")
    return "2,000 operations in a row"


@checks("ir.graph.topological_order", spec="is not walked through again")
def takes_values_with_many_users(topological_order):
    """A value that is doubled 60 times: 2**60 paths lead to the input."""
    node = X
    for _ in range(60):
        node = node + node
    found = nodes_of(topological_order([node]))
    if len(found) != 61:
        raise Wrong("A value that is doubled 60 times needs 61 nodes.", got=f"{len(found)} nodes",
                    expected="61 nodes", spec="The list holds each of these")  # fmt: skip
    return "2**60 paths"


def in_order(topological_order: Any, roots: Any, done: frozenset[Node]) -> None:
    """What `topological_order(roots, done)` lists is what roots need, each after its operands."""
    found = nodes_of(topological_order(list(roots), set(done)))
    inputs = [n for n in Graph.of([], roots).nodes if n.op == "input"]
    program = Graph.of(inputs, roots, "needed")
    names = value_names(program)

    def name(node: Node) -> str:
        return f"%{names[node]}" if node in names else repr(node)

    said = f"roots: {', '.join(map(name, roots))}"
    said += f"; done: {', '.join(sorted(map(name, done)))}" if done else ""
    got = f"{said}\nyours: {', '.join(map(name, found))}"

    def wrong(problem: str, spec: str) -> Wrong:
        return Wrong(problem, program=program, got=got, spec=spec)

    placed = set(done)
    for node in found:
        if node in done:
            raise wrong(f"{name(node)} is in done already.", "they are not listed")
        if node in placed:
            raise wrong(f"{name(node)} is listed twice.", "The list holds each of these nodes once")
        missing = [i for i in node.inputs if i not in placed]
        if missing:
            raise wrong(
                f"{name(node)} comes before its operand {name(missing[0])}, or without it.",
                "Any order in which every node comes after all of its operands is right",
            )
        placed.add(node)
    absent = [r for r in roots if r not in placed]
    if absent:
        raise wrong(f"The root {name(absent[0])} is missing.", "A root needs itself")
    read = {i for node in found for i in node.inputs} | set(roots)
    for node in found:
        if node not in read:
            raise wrong(f"No root needs {name(node)}.", "and nothing else")


def nodes_of(found: Any) -> list[Node]:
    if not isinstance(found, (list, tuple)) or not all(isinstance(n, Node) for n in found):
        got = "nothing (is a `return` missing?)" if found is None else repr(found)[:200]
        raise Wrong("The result is a list of nodes.", got=got, spec="The list holds each of these")
    return list(found)


# ── ir.verify.misplaced ──


@st.composite
def faulty(draw: Any, size: int = 8) -> tuple[list[Node], int | None]:
    """A program, and the position of its first misplaced node (None: there is none)."""
    nodes = list(draw(graphs(size=size)).nodes)
    kind = draw(st.sampled_from(["none", "twice", "gone", "late"]))
    reads = [(n, min(k for k, r in enumerate(nodes) if n in r.inputs))
             for n in nodes if any(n in r.inputs for r in nodes)]  # fmt: skip
    if kind == "twice":
        first = draw(st.integers(0, len(nodes) - 1))
        place = draw(st.integers(first + 1, len(nodes)))
        return [*nodes[:place], nodes[first], *nodes[place:]], place
    if kind == "none" or not reads:
        return nodes, None
    node, reader = draw(st.sampled_from(reads))
    rest = [n for n in nodes if n is not node]
    if kind == "gone":
        return rest, reader - 1
    later = draw(st.integers(reader, len(rest)))
    return [*rest[:later], node, *rest[later:]], reader - 1


@checks("ir.verify.misplaced")
def finds_the_first_of_them(misplaced):
    """Right programs, a value read too early, defined twice, defined nowhere."""
    y = relu(X)
    z = neg(y)
    twin = relu(X)
    nowhere = "all of its operands stand before it: a value is defined before it is read"
    twice = "it stands nowhere before it: every value is defined once"
    objects = "two nodes that compute the same are two values"
    for nodes, place, spec in (
        ([X, y, z], None, "None if all may"),
        ([X, y, y + X, z], None, "None if all may"),
        ([], None, "None if all may"),
        ([X, y, twin, y * twin], None, objects),
        ([X, z, y], 1, nowhere),
        ([y, X], 0, nowhere),
        ([X, y, neg(twin)], 2, nowhere),
        ([X, y, z, y], 3, twice),
        ([X, X], 1, twice),
        ([X, y, y, neg(twin)], 2, "The position of the first node"),
        ([X, neg(twin), y, y], 1, "The position of the first node"),
    ):
        placed_at(misplaced, nodes, place, spec)
    return "eleven small programs"


@checks("ir.verify.misplaced", given=faulty(), examples=60)
def finds_faults_in_random_programs(misplaced, example):
    """A value moved below its first reader, written twice, or left out."""
    nodes, place = example
    placed_at(misplaced, nodes, place, "")


@checks("ir.verify.misplaced", spec="One walk is enough")
def takes_long_programs(misplaced):
    """45,000 operations, and then one of them again."""
    nodes = [X, *(relu(X) for _ in range(45_000))]
    got = misplaced([*nodes, nodes[2500]])
    if got != len(nodes):
        raise Wrong("Forty-five thousand operations are in order; then one of them comes again.",
                    program="an input, 45,000 relu of it, the one at position 2,500 again",
                    got=repr(got)[:200], expected="45001")  # fmt: skip
    return "45,000 operations"


def placed_at(misplaced: Any, nodes: list[Node], place: int | None, spec: str) -> None:
    got = misplaced(list(nodes))
    is_place = isinstance(got, (int, np.integer)) and not isinstance(got, (bool, np.bool_))
    if got is not None and not is_place:
        raise Wrong("The result is a position or None.", got=repr(got)[:200])
    if got != place:
        raise Wrong(
            "Nothing is misplaced in this program."
            if place is None
            else f"The first node that may not stand where it stands is at position {place}.",
            program=listed(nodes),
            got=repr(got),
            expected=repr(place),
            spec=spec or "a value is defined before it is read",
        )


def listed(nodes: list[Node]) -> str:
    """The program with positions; it may be one that no Graph can be."""
    names: dict[Node, str] = {}
    for node in [*nodes, *(i for n in nodes for i in n.inputs)]:
        names.setdefault(node, f"%{node.name or len(names)}")
    lines = []
    for place, node in enumerate(nodes):
        operands = ", ".join(names[i] for i in node.inputs)
        lines.append(f"{place}: {names[node]} = {node.op}({operands})")
    return "\n".join(lines) or "(no nodes)"
