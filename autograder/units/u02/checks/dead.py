"""Checks of unit 2 for dead-code elimination. Next room: folding.py."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, diamond, graphs
from autograder.check.properties import valid_graph
from autograder.units.u02.checks.shared import compiles, doubled_often, takes_large
from course_lib.ir.graph.build import abs, cast, concat, exp, neg, relu, select, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.order import topological_order

RESULT = "The result holds the live nodes of `graph` and all of its inputs, and nothing else"
SAME_ENDS = "Its name, its inputs and its outputs are those of `graph`"
ORDER = "Any order in which the nodes can be computed will do"
CHAIN = "Having a user is not enough: in a chain of dead nodes, every one but the last has a user"
NO_OUTPUT = "Remove every node that no output depends on"
ONCE = "Linear time: each node and each edge is looked at once, without recursion"


@checks("passes.dce", spec="An input stays even if nothing reads it")
def dce_keeps_unused_inputs(dce):
    """Inputs stay, in their order, needed or not."""
    before = trace(lambda x, y, z: relu(y), "f32[4]", "f32[4]", "f32[4]")
    after = valid_graph(dce(before), before)
    if after.inputs != before.inputs:
        raise Wrong("The inputs must be those of the program, in the same order.", program=before,
                    got=after)  # fmt: skip
    return "inputs that nothing reads"


def _dead_beside_relu() -> list[tuple[Graph, str]]:
    """relu of x and, before it, what is dead; words of the specification."""
    graph = trace(relu, "f32[4]")
    (x,) = graph.inputs
    dead = [
        ([y := exp(x), neg(y)], CHAIN),
        ([c := const(3.0), x * c], "Constants are nodes like any other: a dead constant goes"),
        ([apply("iota", shape=(4,), axis=0, dtype="f32")], "No op of this IR has side effects"),
        ([replace(exp(x), name="loss"), replace(exp(x), origin=("head",))], RESULT),
    ]
    return [(Graph("main", (x,), (x, *nodes, *graph.ops), graph.outputs), spec)
            for nodes, spec in dead]  # fmt: skip


@for_each("passes.dce", _dead_beside_relu(), "dead chains, dead constants")
def dce_sweeps_chains_and_constants(dce, before, spec):
    """A chain of dead nodes goes all along, with the constants that it reads."""
    _what_is_needed(before, dce(before), spec)


@checks("passes.dce", spec=[RESULT, SAME_ENDS, "A node is live if it is an output, or if a live"])
def dce_keeps_all_that_is_live(dce):
    """Equal nodes, many operands, several outputs, an output that is an input or a constant."""
    for before, why in _live():
        _what_is_needed(before, dce(before), RESULT, why)
    return f"{len(_live())} programs with little that is dead"


@checks("passes.dce", given=graphs(size=8), examples=15, spec=[NO_OUTPUT, RESULT, ORDER])
def dce_keeps_what_is_needed(dce, graph):
    """What the outputs need stays, as the same objects, and the rest goes."""
    _what_is_needed(graph, dce(graph), NO_OUTPUT)


def _two_rows() -> Graph:
    graph = deep(1100)
    dead = [neg(graph.inputs[0])]
    while len(dead) < 400:
        dead.append(neg(dead[-1]))
    return Graph(graph.name, graph.inputs, (*graph.nodes, *dead), graph.outputs)


def _all_returned() -> Graph:
    graph = deep(200)
    return Graph(graph.name, graph.inputs, graph.nodes, graph.ops)


SHARED = "a shared value is looked at once for each path, or for each output"
takes_large("passes.dce", [
    (_two_rows, 100_000, "a chain of 1,100 relu, and one of 400 neg that is dead",
     "one walk is enough", 1100, ONCE),
    (doubled_often, 20_000, "a value that is added to itself, 60 times", SHARED, 60, ONCE),
    (diamond, 20_000, "60 values, each read by two operations", SHARED, 180, ONCE),
    (_all_returned, 20_000, "200 relu in a row, all of them returned", SHARED, 200, ONCE),
], counted=lambda graph: graph.ops)  # fmt: skip
compiles("passes.dce", NO_OUTPUT)


def _what_is_needed(graph: Graph, result: Any, spec: str, why: str = "") -> None:
    """The live nodes and the inputs are there, and they are the very nodes of `graph`."""
    after = valid_graph(result, graph)
    wrong = functools.partial(Wrong, program=graph, got=after)
    needed = {*topological_order(graph.outputs), *graph.inputs}
    new, dead = ([(value_names(after)[n]) for n in after.nodes if n not in known]
                 for known in ({*graph.nodes}, needed))  # fmt: skip
    if new:
        raise wrong(f"dce must only take nodes away, but %{new[0]} is a new object and no node of "
                    f"the program. {why}", marked=tuple(new), spec=RESULT)  # fmt: skip
    if after.name != graph.name:
        raise wrong(f"The program is called @{graph.name}, and it must keep this name; here it is "
                    f"@{after.name}.", spec=SAME_ENDS)  # fmt: skip
    for ends in ("outputs", "inputs"):
        if getattr(after, ends) != getattr(graph, ends):
            problem = f"The {ends} must be those of the program, in the same order. {why}"
            raise wrong(problem, spec=SAME_ENDS)
    if dead:
        raise wrong(f"No dead node may be left, but %{dead[0]} is one: nothing that is returned "
                    f"needs it. {why}", marked=tuple(dead), spec=spec)  # fmt: skip


@functools.cache
def _live() -> list[tuple[Graph, str]]:
    x, y, twin = (inp(name, "f32[4]") for name in "xyx")
    return [
        *((trace(make, *types), why) for make, types, why in LIVE),
        (Graph("turned", (x, y), (y, x, last := neg(y)), (last,)),
         "The inputs are x and y, in this order; the nodes begin with y."),
        (Graph.of([x, twin], [neg(twin)], "alike"),
         "Two inputs have one name, and nothing reads the first."),
    ]  # fmt: skip


_F, _SEVEN = ["f32[4]"], ("relu", "neg", "abs", "exp", "tanh", "sqrt", "log")

# Programs with hardly anything dead: (program, types of its inputs, what is special about it).
LIVE: list[tuple[Any, list[str], str]] = [
    (lambda x: x, _F, "A program without any operation."),
    (lambda x: [a := relu(x), a], _F, "The same value is returned twice."),
    (lambda x: [neg(x), const(2.0), x], ["f32[0]"], "A constant and an input are returned."),
    (lambda x: cast(apply("reshape", x, shape=(2,)), "f32"), ["f32[2]"],
     "What moves nothing stays: removing it is for simplify."),
    (lambda x: neg(replace(neg(x), origin=("fc",))) - neg(x), ["f64[2]"], "Equal nodes stay, and "
     "so do nodes that cancel: merging and simplifying are for other passes."),
    (lambda c, x: select(c, neg(x), abs(x)), ["bool[2]", "i32[2]"],
     "A select reads three operands."),
    (lambda x: concat([apply(op, x) for op in _SEVEN], 0), ["f32[1]"],
     "A concat of seven operands reads all of them."),
    (lambda x: [neg(apply(_SEVEN[k], x)) for k in (3, 0, 6, 1, 5, 2, 4)], ["f32[2]"],
     "Seven values are returned, and each reads another one."),
]  # fmt: skip
