"""Checks of unit 2 for dead-code elimination. Next room: folding.py."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from autograder.check.framework import Wrong, background, checks
from autograder.check.programs import deep, diamond, graphs
from autograder.check.properties import valid_graph
from autograder.check.steps import with_steps
from autograder.units.u02.checks.shared import doubled_often, in_the_compiler, on_deep
from course_lib.ir.graph.build import exp, neg, relu, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.parse import parse_graph

RESULT = (
    "The result holds the live nodes of `graph` and all of its inputs, and nothing else, as the "
    "same objects"
)
SAME_ENDS = "Its name, its inputs and its outputs are those of `graph`"
ORDER = "Any order in which the nodes can be computed will do"
CHAIN = "Having a user is not enough: in a chain of dead nodes, every one but the last has a user"
CONSTANTS = "Constants are nodes like any other: a dead constant goes"
ALONE = "No op of this IR has side effects"
ONCE = "Linear time: each node and each edge is looked at once, without recursion"

background("passes.dce", "In a language with stores, prints or random numbers ... like outputs",
           because="about other languages")  # fmt: skip


@checks("passes.dce", spec="An input stays even if nobody reads it")
def dce_keeps_unused_inputs(dce):
    """Inputs stay, in their order, needed or not."""
    before = trace(lambda x, y, z: relu(y), "f32[4]", "f32[4]", "f32[4]")
    after = valid_graph(dce(before), before)
    if after.inputs != before.inputs:
        raise Wrong(
            "The inputs must be those of the program, in the same order.", program=before, got=after
        )
    return "inputs that nobody reads"


@checks("passes.dce", spec=[CHAIN, CONSTANTS, ALONE, RESULT])
def dce_sweeps_chains_and_constants(dce):
    """A chain of dead nodes goes all along, with the constants that it reads."""
    graph = trace(lambda x: relu(x), "f32[4]")
    (x,) = graph.inputs
    for dead, spec in (
        ([y := exp(x), neg(y)], CHAIN),
        ([c := const(3.0), x * c], CONSTANTS),
        ([apply("iota", shape=(4,), axis=0, dtype="f32")], ALONE),
        ([replace(exp(x), name="loss"), replace(exp(x), origin=("head",))], RESULT),
    ):
        before = Graph("main", graph.inputs, (x, *dead, *graph.ops), graph.outputs)
        _what_is_needed(before, dce(before), spec)
    return "dead chains, dead constants"


@checks(
    "passes.dce",
    spec=[RESULT, SAME_ENDS, "A node is live if it is an output, or if a live node reads it"],
)
def dce_keeps_all_that_is_live(dce):
    """Equal nodes, many operands, several outputs, an output that is an input or a constant."""
    for before, why in _live():
        _what_is_needed(before, dce(before), RESULT, why)
    return f"{len(_live())} programs with little that is dead"


@checks("passes.dce", given=graphs(size=8), examples=15,
        spec=["Remove every node that no output depends on", RESULT, ORDER])  # fmt: skip
def dce_keeps_what_is_needed(dce, graph):
    """What the outputs need stays, as the same objects, and the rest goes."""
    _what_is_needed(graph, dce(graph), "Remove every node that no output depends on")


@checks("passes.dce", spec=ONCE)
def dce_takes_deep_programs(dce):
    """1,100 operations in a row that are needed, and 400 that are not."""
    few = with_steps(dce, 100_000, "1,500 operations in two rows", "one walk is enough")
    if len(on_deep(few, _two_rows()).ops) != 1100:
        raise Wrong("Of 1,500 operations, the last 400 are dead, and 1,100 must be left.",
                    program="a chain of 1,100 relu, one of 400 neg that is dead")  # fmt: skip
    return "1,500 operations in two rows"


@functools.cache
def _two_rows() -> Graph:
    graph = deep(1100)
    dead = [neg(graph.inputs[0])]
    while len(dead) < 400:
        dead.append(neg(dead[-1]))
    return Graph(graph.name, graph.inputs, (*graph.nodes, *dead), graph.outputs)


@checks("passes.dce", spec="each node and each edge is looked at once")
def dce_takes_values_with_many_users(dce):
    """Values with many users: 2**60 paths lead to the input, or 200 outputs need it."""
    few = with_steps(
        dce,
        20_000,
        "at most 200 operations",
        "a shared value is looked at once for each path, or for each output",
    )
    for graph, what in ((doubled_often(), "a value that is added to itself, 60 times"),
                        (diamond(), "60 values, each read by two operations"),
                        (_all_returned(), "200 relu in a row, all of them returned")):  # fmt: skip
        if len(on_deep(few, graph).ops) != len(graph.ops):
            raise Wrong("Nothing is dead here, so everything must stay.", program=what)
    return "a program with 2**60 paths"


@functools.cache
def _all_returned() -> Graph:
    graph = deep(200)
    return Graph(graph.name, graph.inputs, graph.nodes, graph.ops)


@checks("passes.dce", spec="Remove every node that no output depends on")
def dce_works_in_the_compiler(dce):
    """Compiled with your dce, a program computes what it computed."""
    in_the_compiler("passes.dce", dce)
    return "programs compiled with your function"


def _what_is_needed(graph: Graph, result: Any, spec: str, why: str = "") -> None:
    """The live nodes and the inputs are there, and they are the very nodes of `graph`."""
    after = valid_graph(result, graph)
    needed = set(topological_order(graph.outputs)) | set(graph.inputs)
    names = value_names(after)
    old = set(graph.nodes)
    new = [n for n in after.nodes if n not in old]
    if new:
        raise Wrong(
            f"dce must only take nodes away, but %{names[new[0]]} is a new object and no node of "
            f"the program. {why}",
            program=graph, got=after, marked=tuple(names[n] for n in new),
            spec=RESULT,
        )  # fmt: skip
    if after.outputs != graph.outputs:
        raise Wrong(f"The outputs must be those of the program, in the same order. "
                    f"{why}", program=graph,
                    got=after, spec=SAME_ENDS)  # fmt: skip
    if after.name != graph.name:
        raise Wrong(f"The program is called @{graph.name}, and it must keep this name; here it is "
                    f"@{after.name}.", program=graph, got=after, spec=SAME_ENDS)  # fmt: skip
    if after.inputs != graph.inputs:
        raise Wrong(f"The inputs must be those of the program, in the same order. "
                    f"{why}", program=graph,
                    got=after, spec=SAME_ENDS)  # fmt: skip
    dead = [n for n in after.nodes if n not in needed]
    if dead:
        raise Wrong(
            f"No dead node may be left, but %{names[dead[0]]} is one: nothing that is returned "
            "needs it. "
            f"{why}",
            program=graph, got=after, marked=tuple(names[n] for n in dead), spec=spec,
        )  # fmt: skip


@functools.cache
def _live() -> list[tuple[Graph, str]]:
    programs = [(parse_graph(f"graph @live{text}"), why) for text, why in _LIVE]
    x, y = inp("x", "f32[4]"), inp("y", "f32[4]")
    turned = Graph("turned", (x, y), (y, x, last := neg(y)), (last,))
    twin = inp("x", "f32[4]")
    alike = Graph.of([x, twin], [neg(twin)], "alike")
    return [
        *programs,
        (turned, "The inputs are x and y, in this order; the nodes begin with y."),
        (alike, "Two inputs have one name, and nobody reads the first."),
    ]


_SEVEN = ("relu", "neg", "abs", "exp", "tanh", "sqrt", "log")

# Programs with hardly anything dead, and what is special about them.
_LIVE = [
    ("(%x: f32[4]) -> (f32[4]) {\n return %x\n}", "A program without any operation."),
    ("(%x: f32[4]) -> (f32[4], f32[4]) {\n %a = relu(%x) : f32[4]\n return %a, %a\n}",
     "The same value is returned twice."),
    ("(%x: f32[0]) -> (f32[0], f32[], f32[0]) {\n %c = constant dense<2.0> : f32[]\n"
     " %a = neg(%x) : f32[0]\n return %a, %c, %x\n}", "A constant and an input are returned."),
    ("(%x: f32[2]) -> (f32[2]) {\n %a = reshape(%x) {shape = [2]} : f32[2]\n"
     " %b = cast(%a) {dtype = \"f32\"} : f32[2]\n return %b\n}",
     "What moves nothing stays: removing it is for simplify."),
    ("(%x: f64[2]) -> (f64[2]) {\n %a = neg(%x) : f64[2] loc(\"fc\")\n %b = neg(%a) : f64[2]\n"
     " %c = neg(%x) : f64[2]\n %d = sub(%b, %c) : f64[2]\n return %d\n}",
     "Equal nodes stay, and so do nodes that cancel: merging and simplifying are for other "
     "passes."),
    ("(%c: bool[2], %x: i32[2]) -> (i32[2]) {\n %a = neg(%x) : i32[2]\n"
     " %b = abs(%x) : i32[2]\n %s = select(%c, %a, %b) : i32[2]\n return %s\n}",
     "A select reads three operands."),
    ("(%x: f32[1]) -> (f32[7]) {\n"
     + "".join(f" %v{k} = {op}(%x) : f32[1]\n" for k, op in enumerate(_SEVEN))
     + " %all = concat(" + ", ".join(f"%v{k}" for k in range(7)) + ") {axis = 0} : f32[7]\n"
     " return %all\n}", "A concat of seven operands reads all of them."),
    ("(%x: f32[2]) -> (" + ", ".join(["f32[2]"] * 7) + ") {\n"
     + "".join(f" %u{k} = {op}(%x) : f32[2]\n %v{k} = neg(%u{k}) : f32[2]\n"
               for k, op in enumerate(_SEVEN))
     + " return " + ", ".join(f"%v{k}" for k in (3, 0, 6, 1, 5, 2, 4)) + "\n}",
     "Seven values are returned, and each reads another one."),
]  # fmt: skip
