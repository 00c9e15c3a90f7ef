"""Checks of unit 1 for the definitions of a program.

Programs with a fault are made from right ones, and the place of the fault is known because it was
put there. Next room: recording.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.plugs import in_the_compiler
from autograder.check.programs import diamond, graphs
from autograder.check.steps import with_steps
from autograder.units.u01.checks.order import X, Y
from course_lib.ir.graph.build import neg, relu, select, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.verify import verify


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


FIRST = "The position of the first node that may not stand where it stands; None if all may"
LINES = "`nodes` is a program, from its first line (position 0) to its last"
ONCE = "it stands nowhere before it: every value is defined once"
BEFORE = "all of its operands stand before it: a value is defined before it is read"
SECOND = "Of a value that is defined twice, the second position is the wrong one"
OBJECTS = "Nodes are the same value only if they are the same object"
NAMES = "Names do not count: they may be empty, and two nodes may share one"
ONE_WALK = "One walk is enough. Comparing all pairs would mean 50 million comparisons"


def small_nodes() -> dict[str, Node]:
    """Nodes by a letter: a program is then a word, "xab"."""
    x, y, two, w = X, Y, const(2.0), inp("x", "f32[4]")
    a, twin = relu(x), relu(x)
    named, also = replace(relu(x), name="x"), replace(neg(x), name="x")  # as the input is called
    chosen = select(apply("lt", x, y), a, twin)  # no operand stands in another one
    return {
        "x": x, "y": y, "a": a, "b": neg(a), "t": twin, "u": neg(twin), "c": two, "k": const(2.0),
        "s": a + x, "m": a * twin, "q": a * a, "o": a + y, "d": x * two,
        "w": w, "v": x + w, "n": named, "l": also, "p": named + also, "r": neg(also),
        "f": chosen.inputs[0], "z": chosen,
    }  # fmt: skip


# the sentence, and programs with the position of what is misplaced
PLACES: dict[str, dict[str, int | None]] = {
    FIRST: {"xab": None, "xasb": None, "": None, "x": None, "xayo": None, "xcakb": None,
            "xaau": 2, "xuaa": 1, "xaaubb": 2},
    OBJECTS: {"xatm": None},
    NAMES: {"xwv": None, "xnlp": None, "xnr": 2},
    BEFORE: {"xaq": None, "xba": 1, "ax": 0, "a": 0, "xau": 2, "xoy": 1, "xdc": 1, "xyatfz": None,
             "xyafzt": 4, "xytfza": 4, "xyatzf": 4},
    SECOND: {"xaba": 3},
    ONCE: {"xayby": 4, "xx": 1, "xcdc": 3, "xaxb": 2},
}  # fmt: skip


@checks("ir.verify.misplaced", spec=[FIRST, LINES, ONCE, BEFORE, SECOND, OBJECTS, NAMES])
def finds_the_first_of_them(misplaced):
    """Right programs, a value read too early, defined twice, defined nowhere."""
    nodes = small_nodes()
    for spec, programs in PLACES.items():
        for word, place in programs.items():
            placed_at(misplaced, [nodes[letter] for letter in word], place, spec)
    return f"{sum(map(len, PLACES.values()))} small programs"


@checks("ir.verify.misplaced", given=faulty(), examples=15, what="random lists of nodes",
        spec=[FIRST, ONCE, BEFORE])  # fmt: skip
def finds_faults_in_random_programs(misplaced, example):
    """A value moved below its first reader, written twice, or left out."""
    nodes, place = example
    placed_at(misplaced, nodes, place, FIRST)


@checks("ir.verify.misplaced", spec=[ONE_WALK, FIRST])
def takes_long_programs(misplaced):
    """2,000 operations and one of them again; a value that is doubled 60 times."""
    nodes = [X, *(relu(X) for _ in range(LONG))]
    few = with_steps(misplaced, 200_000, f"{LONG:,} operations", "are all pairs compared?")
    got = few([*nodes, nodes[900]])
    if got != len(nodes):
        raise Wrong(f"{LONG:,} operations are in order; then one of them comes again.",
                    program=f"an input, {LONG:,} relu of it, the one at position 900 again",
                    got=repr(got), expected=str(len(nodes)), spec=FIRST)  # fmt: skip
    doubled = [X]
    for _ in range(60):
        doubled.append(doubled[-1] + doubled[-1])
    few = with_steps(misplaced, 20_000, "180 operations", "it is enough to look at the operands")
    shared = "60 values, each read by two operations", list(diamond().nodes)
    for what, program in (("a value that is doubled 60 times", doubled), shared):
        if few(program) is not None:
            raise Wrong("Nothing is misplaced here.", program=what, spec=FIRST)
    return f"{LONG:,} operations in a row"


LONG = 2000


@checks("ir.verify.misplaced", spec=[FIRST, BEFORE])
def verifies_what_passes_make(misplaced):
    """With your function, the compiler accepts what is right and refuses what is not."""
    graph = trace(lambda x: neg(relu(x)) * 2.0, "f32[4]")
    turned = replace(graph, nodes=graph.nodes[::-1])
    with in_the_compiler("ir.verify.misplaced", misplaced):
        if error := _refusal(graph):
            raise Wrong(f"This graph is well formed. The verifier says: {error}", program=graph,
                        spec=FIRST)  # fmt: skip
        if not _refusal(turned):
            raise Wrong("These nodes are out of order: the verifier must refuse them, and it "
                        "accepts them.", program=listed([*turned.nodes]), spec=BEFORE)  # fmt: skip
    return "programs verified with your function"


def _refusal(graph: Graph) -> str:
    try:
        verify(graph)
    except ValueError as error:
        return str(error)
    return ""


def placed_at(misplaced: Any, nodes: list[Node], place: int | None, spec: str) -> None:
    got = misplaced(list(nodes))
    is_place = isinstance(got, (int, np.integer)) and not isinstance(got, (bool, np.bool_))
    if got is not None and not is_place:
        raise Wrong("The result must be a position or None.", got=repr(got), spec=FIRST)
    if got != place:
        there = f"The first node that may not stand where it stands is at position {place}."
        raise Wrong("Nothing is misplaced in this program." if place is None else there,
                    program=listed(nodes), got=repr(got), expected=repr(place),
                    spec=spec)  # fmt: skip


def listed(nodes: list[Node]) -> str:
    """The program with positions; it may be one that no Graph can be."""
    names: dict[Node, str] = {}
    for node in [*nodes, *(i for n in nodes for i in n.inputs)]:
        names.setdefault(node, f"%{node.name or len(names)}")
    lines = [f"{place}: {names[node]} = {node.op}({', '.join(names[i] for i in node.inputs)})"
             for place, node in enumerate(nodes)]  # fmt: skip
    return "\n".join(lines) or "(no nodes)"
