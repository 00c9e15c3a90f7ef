"""Checks of unit 1 for the order of a program and for the definitions in it.

An order is judged by what it says of each node: its operands stand before it, somebody needs it.
So no check needs an algorithm of its own. Programs with a fault are made from right ones, and the
place of the fault is known because it was put there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.programs import graphs
from autograder.units.u01.checks.plugs import in_the_compiler
from course_lib.ir.graph.build import neg, relu, select, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.verify import verify

X, Y = inp("x", "f32[4]"), inp("y", "f32[4]")

# ── ir.graph.topological_order ──


@checks("ir.graph.topological_order", spec="Any order in which every node comes after all")
def orders_small_programs(topological_order):
    """A chain, a value that is read twice, two users, roots that need each other."""
    a = relu(X)
    b = a * a
    c = neg(a)
    same_name = inp("x", "f32[4]")
    twins = replace(relu(X), name="y") - replace(relu(X), name="y")
    low, high = neg(b), a + b  # b is needed at two depths
    programs = (
        [X], [a], [b], [a + c], [c + a], [a * b - c], [b + c],
        [b, c], [c, a, b], [b, b], [a, X], [Y, b], [X + same_name], [twins],
        [select(apply("lt", c, b), const(2.0), a), select(apply("lt", a, X), X, Y)],
        [low, high, low - high], [b, const(3.0)],
        [high + low, a], [neg(const(1.0)), neg(const(1.0))],
    )  # fmt: skip
    for roots in programs:
        in_order(topological_order, roots, None)
    if list(topological_order([])):
        raise Wrong("Without roots nothing is needed.", got="nodes", expected="[]")
    return f"{len(programs)} small programs"


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
        ([b, Y - b], {b, relu(Y)}),
        ([replace(relu(X), name="x")], {X}),
        ([neg(const(1.0)) + a], {a}),
    ):
        in_order(topological_order, roots, frozenset(done))
    return "what is done"


@checks("ir.graph.topological_order", given=graphs(size=12), examples=15)
def orders_random_programs(topological_order, graph):
    """Every node after its operands, each once, and nothing that is not needed."""
    in_order(topological_order, graph.outputs, None)


@checks("ir.graph.topological_order", spec="Python's recursion ends at a thousand calls")
def takes_deep_programs(topological_order):
    """1,500 operations in a row."""
    node = X
    for _ in range(1500):
        node = relu(node)
    try:
        found = topological_order([node])
    except Crashed as error:
        if not error.error.startswith("RecursionError"):
            raise
        raise Wrong("Of 1,500 operations in a row, Python's recursion takes a thousand.",
                    program="a chain of 1,500 relu", got=error.error) from None  # fmt: skip
    if len(nodes_of(found)) != 1501:
        raise Wrong("A chain of 1,500 relu needs 1,501 nodes.", got=f"{len(found)} nodes")
    return "1,500 operations in a row"


@checks("ir.graph.topological_order", spec="is not walked through again")
def takes_values_with_many_users(topological_order):
    """A value that is doubled 60 times, and 60 sums of the two before: 2**60 paths to the input."""
    node, older, newer = X, X, relu(X)
    before, other = X, relu(X)  # the same, with the operands the other way round
    for _ in range(60):
        node, older, newer = node + node, newer, older + newer
        before, other = other, other + before
    for root, count in ((node, 61), (newer, 62), (other, 62)):
        found = nodes_of(topological_order([root]))
        if len(found) != count:
            raise Wrong(f"This needs {count} nodes.", got=f"{len(found)} nodes",
                        expected=f"{count} nodes", program="60 sums of the one or the two before",
                        spec="The list holds each of these")  # fmt: skip
    return "2**60 paths"


@checks("ir.graph.topological_order")
def works_in_the_compiler(topological_order):
    """With your function, a graph can be built anew, and computes the same."""
    graph = trace(lambda x, y: (neg(x + y) * 2.0, y - x), "f32[4]", "f32[4]")

    def other(node: Node, inputs: tuple[Node, ...]) -> Node:
        return neg(neg(node.with_inputs(inputs))) if node.op == "neg" else node.with_inputs(inputs)

    with in_the_compiler("ir.graph.topological_order", topological_order):
        try:
            made = verify(graph.rebuild(other))
        except ValueError as error:
            problem = "A pass builds a graph anew with your function, and it is not well formed"
            raise Wrong(
                f"{problem}: {error}", program=graph, spec="each after its operands"
            ) from None
    if len(made.nodes) != len(graph.nodes) + 2:
        raise Wrong(f"A pass that adds two nodes leaves {len(graph.nodes) + 2}.", program=graph,
                    got=made, spec="and nothing else")  # fmt: skip
    return "in the compiler"


def in_order(topological_order: Any, roots: Any, given: frozenset[Node] | None) -> None:
    """What `topological_order(roots, given)` lists is what roots need, each after its operands.
    `given` None: nothing is said of `done`."""
    found = nodes_of(
        topological_order(list(roots))
        if given is None
        else topological_order(list(roots), set(given))
    )
    done = given or frozenset()
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
    named = replace(relu(X), name="x")  # as the input is called
    also = replace(neg(X), name="x")
    three = select(apply("lt", X, y), y, twin)
    two = const(2.0)
    names = "Names do not\ncount: they may be empty, and two nodes may share one"
    programs = (
        ([X, y, z], None, "None if all may"),
        ([X, y, y + X, z], None, "None if all may"),
        ([], None, "None if all may"),
        ([X], None, "None if all may"),
        ([X, y, twin, y * twin], None, objects),
        ([X, X2 := inp("x", "f32[4]"), X + X2], None, names),
        ([X, named, also, named + also], None, names),
        ([X, named, neg(also)], 2, names),
        ([X, y, y * y], None, nowhere),
        ([X, z, y], 1, nowhere),
        ([y, X], 0, nowhere),
        ([y], 0, nowhere),
        ([X, y, neg(twin)], 2, nowhere),
        ([X, y + Y, Y], 1, nowhere),
        ([X, X * two, two], 1, nowhere),
        ([X, y, twin, three.inputs[0], three], None, nowhere),
        ([X, y, three.inputs[0], three, twin], 3, nowhere),
        ([X, y, z, y], 3, twice),
        ([X, X], 1, twice),
        ([X, two, X * two, two], 3, twice),
        ([X, y, X, z], 2, twice),
        ([X, y, y, neg(twin)], 2, "The position of the first node"),
        ([X, neg(twin), y, y], 1, "The position of the first node"),
        ([X, y, y, neg(twin), z, z], 2, "The position of the first node"),
    )  # fmt: skip
    for nodes, place, spec in programs:
        placed_at(misplaced, nodes, place, spec)
    return f"{len(programs)} small programs"


@checks("ir.verify.misplaced", given=faulty(), examples=15, what="random lists of nodes")
def finds_faults_in_random_programs(misplaced, example):
    """A value moved below its first reader, written twice, or left out."""
    nodes, place = example
    placed_at(misplaced, nodes, place, "")


@checks("ir.verify.misplaced", spec="One walk is enough")
def takes_long_programs(misplaced):
    """2,000 operations and one of them again; a value that is doubled 60 times."""
    nodes = [X, *(relu(X) for _ in range(LONG))]
    got = misplaced([*nodes, nodes[900]])
    if got != len(nodes):
        raise Wrong(f"{LONG:,} operations are in order; then one of them comes again.",
                    program=f"an input, {LONG:,} relu of it, the one at position 900 again",
                    got=repr(got)[:200], expected=str(len(nodes)))  # fmt: skip
    doubled = [X]
    for _ in range(60):
        doubled.append(doubled[-1] + doubled[-1])
    if misplaced(doubled) is not None:
        raise Wrong("Nothing is misplaced here.", program="a value that is doubled 60 times",
                    spec="None if all may")  # fmt: skip
    return f"{LONG:,} operations"


LONG = 2000


@checks("ir.verify.misplaced")
def verifies_what_passes_make(misplaced):
    """With your function, the compiler accepts what is right and refuses what is not."""
    graph = trace(lambda x: neg(relu(x)) * 2.0, "f32[4]")
    turned = replace(graph, nodes=graph.nodes[::-1])
    with in_the_compiler("ir.verify.misplaced", misplaced):
        for one, right in ((graph, True), (turned, False)):
            try:
                verify(one)
            except ValueError as error:
                if right:
                    raise Wrong(f"This graph is well formed. The verifier says: {error}",
                                program=one, spec="None if all may") from None  # fmt: skip
            else:
                if not right:
                    raise Wrong("These nodes are out of order, and the verifier accepts them.",
                                program=listed(list(one.nodes)),
                                spec="a value is defined before it is read")  # fmt: skip
    return "in the verifier"


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
