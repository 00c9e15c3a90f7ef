"""Checks of unit 1 for the order of a program.

An order is judged by what it says of each node: its operands stand before it, and it is needed.
So no check needs an algorithm of its own. Next room: defined.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.check.framework import Changed, Crashed, Wrong, checks
from autograder.check.plugs import in_the_compiler
from autograder.check.programs import diamond, graphs
from autograder.check.properties import recursion_ends
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from course_lib.ir.graph.build import neg, relu, select, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.verify import verify

X, Y = inp("x", "f32[4]"), inp("y", "f32[4]")


NEEDED = "Every node that `roots` need, each after its operands"
ITSELF = "A root needs itself, its operands, their operands, and so on"
ONCE = "The list holds each of these nodes once, the same objects, and nothing else"
ANY = "Any order in which every node comes after all of its operands is right"
SHARED = "Roots may need each other, share nodes, or be given twice"
DONE = "Nodes in `done` are placed already: they are not listed, nor is what only they need"
ONLY = "nor is what only they need"
UNCHANGED = "`done` itself is not changed"
TWICE = "A node may read the same operand twice, as in `x * x`"
DEEP = "A model can be thousands of nodes deep, and Python's recursion ends at a thousand calls"
MANY = "A node with many users is not walked through again for each of them"
EDGES = "the work grows with the number of edges, not of paths"
ORDER = [NEEDED, ITSELF, ONCE, ANY]  # what `in_order` asks


@checks("ir.graph.topological_order", spec=[*ORDER, SHARED, TWICE])
def orders_small_programs(topological_order):
    """A chain, a value that is read twice, two users, roots that need each other."""
    a = relu(X)
    b = a * a
    c = neg(a)
    same_name = inp("x", "f32[4]")
    twins = replace(relu(X), name="y") - replace(relu(X), name="y")
    low, high = neg(b), a + b  # b is needed at two depths
    programs = (
        [X], [a], [X * X], [X, Y], [X + Y], [a, X], [a + X], [X + a], [b],
        [a + c], [c + a], [a * b - c], [b + c], [b, c], [c, a, b], [b, b], [Y, b],
        [X + same_name], [twins],
        [select(apply("lt", c, b), const(2.0), a), select(apply("lt", a, X), X, Y)],
        [low, high, low - high], [b, const(3.0)],
        [high + low, a], [neg(const(1.0)), neg(const(1.0))],
    )  # fmt: skip
    for roots in programs:
        in_order(topological_order, roots, None)
    if list(topological_order([])):
        problem = "Without roots nothing is needed, so the result must be empty."
        raise Wrong(problem, got="nodes", expected="[]", spec=ONCE)
    return f"{len(programs)} small programs"


@checks("ir.graph.topological_order", spec=UNCHANGED)
def leaves_done_alone(topological_order):
    """`done` is afterwards what it was before, and may be a frozenset, which cannot be changed."""
    a = relu(X)
    for roots, done in (([neg(a)], {a}), ([a + Y], {X, Y}), ([a], {a})):
        for kind in (frozenset, set):
            try:
                topological_order(roots, kind(done))
            except Changed as error:
                error.spec = UNCHANGED
                raise
            except Crashed as error:
                if not error.error.startswith(("AttributeError", "TypeError")):
                    raise
                raise Wrong("Here `done` is a frozenset: your function must not change it.",
                            got=error.error, program=Graph.of([X, Y], roots, "needed"),
                            spec=UNCHANGED) from None  # fmt: skip
    return "`done` unchanged after the call"


@checks("ir.graph.topological_order", spec=[DONE, ONLY, *ORDER])
def leaves_out_what_is_done(topological_order):
    """Nodes in `done`, and what only they need, are not listed."""
    a = relu(X)
    b = neg(a)
    for roots, done in (
        ([b], {a}), ([b + Y], {a}), ([b], {b}), ([b + a], {b}), ([b * b], {X}), ([b, a], {a, X}),
        ([b, Y - b], {b, relu(Y)}), ([replace(relu(X), name="x")], {X}),
        ([neg(const(1.0)) + a], {a}),
    ):  # fmt: skip
        in_order(topological_order, roots, frozenset(done))
    return "nodes in `done` left out"


@checks("ir.graph.topological_order", given=graphs(size=12), examples=15, spec=ORDER)
def orders_random_programs(topological_order, graph):
    """Every node after its operands, each once, and nothing that is not needed."""
    in_order(topological_order, graph.outputs, None)


CHAIN = "a chain of 1,500 relu"


@checks("ir.graph.topological_order", spec=[DEEP, EDGES])
def takes_deep_programs(topological_order):
    """1,500 operations in a row."""
    node = X
    for _ in range(1500):
        node = relu(node)
    few = with_steps(topological_order, 150_000, "1,500 operations in a row",
                     "is the walk begun again for each node?")  # fmt: skip
    with recursion_ends(CHAIN, DEEP):
        count = len(nodes_of(few([node])))
    if count != 1501:
        raise Wrong(f"{CHAIN} needs 1,501 nodes.".capitalize(), got=f"{count} nodes", spec=DEEP)
    return "1,500 operations in a row"


@checks("ir.graph.topological_order", spec=[MANY, EDGES])
def takes_values_with_many_users(topological_order):
    """A value that is doubled 60 times, and 60 sums of the two before: 2**60 paths to the input."""
    node, older, newer = X, X, relu(X)
    before, other = X, relu(X)  # the same, with the operands the other way round
    for _ in range(60):
        node, older, newer = node + node, newer, older + newer
        before, other = other, other + before
    few = with_steps(topological_order, 20_000, "180 operations",
                     "a shared node is walked through for each path")  # fmt: skip
    for root, count in ((node, 61), (newer, 62), (other, 62), (diamond().outputs[0], 181)):
        if (got := len(nodes_of(few([root])))) != count:
            raise Wrong(f"This needs {count} nodes.", got=f"{got} nodes", expected=f"{count} nodes",
                        program="60 sums of the one or the two before", spec=MANY)  # fmt: skip
    return "60 values in a row, each read twice"


@checks("ir.graph.topological_order", spec=[NEEDED, ONCE])
def works_in_the_compiler(topological_order):
    """With your function, a graph can be built anew, and computes the same."""
    graph = trace(lambda x, y: (neg(x + y) * 2.0, y - x), "f32[4]", "f32[4]")

    def other(node: Node, inputs: tuple[Node, ...]) -> Node:
        return neg(neg(node.with_inputs(inputs))) if node.op == "neg" else node.with_inputs(inputs)

    with in_the_compiler("ir.graph.topological_order", topological_order):
        try:
            rebuilt = verify(graph.rebuild(other))
        except ValueError as error:
            problem = "A pass made a new graph with your function, and it is not well formed"
            raise Wrong(f"{problem}: {error}", program=graph, spec=NEEDED) from None
    if len(rebuilt.nodes) != len(graph.nodes) + 2:
        raise Wrong(f"A pass that adds two nodes must leave {len(graph.nodes) + 2}.", program=graph,
                    got=rebuilt, spec=ONCE)  # fmt: skip
    return "a graph rebuilt with your function"


def in_order(topological_order: Any, roots: Any, given: frozenset[Node] | None) -> None:
    """What `topological_order(roots, given)` lists is what roots need, each after its operands.
    `given` None: nothing is said of `done`."""
    more = [] if given is None else [set(given)]
    ordered, done = nodes_of(topological_order(list(roots), *more)), given or frozenset()
    inputs = [n for n in Graph.of([], roots).nodes if n.op == "input"]
    program = Graph.of(inputs, roots, "needed")
    name = names_in(program)
    if fault := _fault(ordered, roots, done, program.nodes, name):
        asked = f"roots: {', '.join(map(name, roots))}"
        asked += f"; done: {', '.join(sorted(map(name, done)))}" if done else ""
        got = f"{asked}\nyours: {', '.join(map(name, ordered))}"
        raise Wrong(fault[0], program=program, got=got, spec=fault[1])


def _fault(
    ordered: list[Node], roots: Any, done: frozenset[Node], nodes: Any, name: Callable[[Node], str]
) -> tuple[str, str] | None:
    """What is wrong with this list first, and the sentence that says so."""
    placed = set(done)
    for node in ordered:
        if node in placed:
            return (f"{name(node)} is in done already.", DONE) if node in done else (
                f"{name(node)} is listed twice.", ONCE)  # fmt: skip
        if missing := [i for i in node.inputs if i not in placed]:
            return f"{name(node)} comes before its operand {name(missing[0])}, or without it.", ANY
        placed.add(node)
    if absent := [r for r in roots if r not in placed]:
        return f"The root {name(absent[0])} is missing.", ITSELF
    read = {i for node in ordered for i in node.inputs} | set(roots)
    for node in ordered:
        if node not in read:
            readers = [name(n) for n in nodes if node in n.inputs and n in done]
            only = f"{name(node)} is needed only by {''.join(readers[:1])}, which is in `done`."
            return (only, ONLY) if readers else (f"No root needs {name(node)}.", ONCE)
    return None


def names_in(program: Graph) -> Callable[[Node], str]:
    """What a message calls a node, which need not be one of the program's."""
    names = value_names(program)
    return lambda node: f"%{names[node]}" if node in names else repr(node)


def nodes_of(answer: Any) -> list[Node]:
    if not isinstance(answer, (list, tuple)) or not all(isinstance(n, Node) for n in answer):
        got = returned(answer)
        raise Wrong("The result must be a list of nodes.", got=got, spec=ONCE)
    return list(answer)
