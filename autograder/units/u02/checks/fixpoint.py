"""Checks of unit 2 for the fixpoint.

    [shrink, cse]  until a round changes nothing     (a pass that never rests is named)

Next room: evidence.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.properties import raises, valid_graph
from course_lib.ir.graph.build import exp, neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const
from course_lib.passes.clean.fixpoint import same_program

NOTHING = "Run `passes` in order, again and again, until a round changes nothing"
ROUND = "A round runs all the passes, in order, and `run_passes` verifies each of them"
ANEW = "Passes may build every node anew, so `is` and == on nodes say nothing"
KNOWS = "`same_program(before, after)` tells whether the round changed anything"
FOREVER = "Passes that undo in each round what they did in the one before never come to rest"
GIVES_UP = "After `limit` rounds that all changed something, raise ValueError"
OFTEN = "no pass runs in more rounds than that"


def _countdown(graph: Graph) -> Graph:
    """A pass with three rounds of work: x * 3.0 -> x * 2.0 -> x * 1.0 -> x * 0.0, then rest."""
    (x,) = graph.inputs
    numbers = graph.constants[0].value.copy()
    first = (0,) * numbers.ndim
    numbers[first] = max(float(numbers[first]) - 1.0, 0.0)
    return Graph.of([x], [x * const(numbers)], graph.name)


def _flip(graph: Graph) -> Graph:
    """A pass that never rests: relu -> exp -> relu -> ..."""
    (x,) = graph.inputs
    return Graph.of([x], [exp(x) if graph.ops[0].op == "relu" else relu(x)], graph.name)


def _renamed(graph: Graph) -> Graph:
    """A pass that calls every node otherwise, each time it runs, and changes nothing."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        return replace(node, inputs=inputs, name=f"{node.name}_again")

    return graph.rebuild(visit)


def _long() -> tuple[Graph, Graph]:
    """x times 40 numbers that are printed as dense<...>, and the same with 0.0 as the first."""
    ones = np.ones(40, np.float32)
    made = [ones.copy(), ones.copy()]
    made[0][0], made[1][0] = 3.0, 0.0
    first, last = (trace(lambda x, c=c: x * const(c), "f32[40]") for c in made)
    return first, last


def _sweeps_one(graph: Graph) -> Graph:
    """A pass that takes one dead node away, the last, each time it runs."""
    read = {i for node in graph.nodes for i in node.inputs} | set(graph.outputs) | set(graph.inputs)
    dead = [node for node in graph.nodes if node not in read][-1:]
    return replace(graph, nodes=tuple(n for n in graph.nodes if n not in dead))


def _dead() -> tuple[Graph, Graph]:
    """relu of x beside three dead operations, and without them."""
    graph = trace(relu, "f32[4]")
    one = neg(graph.inputs[0])
    dead = (one, two := neg(one), neg(two))
    return replace(graph, nodes=(*graph.nodes, *dead)), graph


def _signs(graph: Graph) -> Graph:
    """A pass that writes -0.0 for 0.0: the bytes of a constant change, its numbers do not."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        return const(-np.abs(node.value)) if node.op == "constant" else node.with_inputs(inputs)

    return graph.rebuild(visit)


def _turns_the_last_two(graph: Graph) -> Graph:
    """A pass that never rests: the nodes stay, and so does the first output."""
    first, *others = graph.outputs
    return replace(graph, outputs=(first, *others[::-1]))


def _anew(graph: Graph) -> Graph:
    """A pass that changes nothing and builds every node anew."""
    return graph.rebuild(lambda node, inputs: replace(node, inputs=inputs))


def _backwards(graph: Graph) -> Graph:
    """A pass that writes the nodes in the wrong order: not a well-formed graph."""
    return replace(graph, nodes=graph.nodes[::-1])


@checks("passes.fixpoint", spec=[NOTHING, ROUND, ANEW, KNOWS])
def runs_until_nothing_changes(fixpoint):
    """It goes on while a round changes something, and not after."""
    counts, flips = (_times(3.0), _times(0.0)), trace(relu, "f32[4]")
    for names, passes, rounds, programs, why in (
        ("down", [_countdown], 4, counts, _THREE),
        ("down new", [_countdown, _anew], 4, counts, _THREE),
        ("new down new", [_anew, _countdown, _anew], 4, counts, _THREE),
        ("down down", [_countdown, _countdown], 3, counts,
         "The same pass is listed twice, so it runs twice in a round. Two rounds change "
         "something, and the third changes nothing."),
        ("flip flop", [_flip, _flip], 1, (flips, flips),
         "Each pass changes the program, but the round as a whole does not: flop undoes flip."),
        ("new", [_anew], 1, (counts[0], counts[0]), "The first round changes nothing."),
        ("rename", [_renamed], 1, (flips, flips), "Other names do not make another program."),
        ("down new", [_countdown, _anew], 4, _long(), "One of 40 numbers changes in each of "
         "three rounds, and none in the fourth."),
        ("sweep new", [_sweeps_one, _anew], 4, _dead(),
         "In each of three rounds, a dead node goes. It is part of the program, though no "
         "output needs it."),
        ("signs", [_signs], 2, (_times(0.0), _times(-0.0)),
         "In the first round, 0.0 becomes -0.0. That is another constant: the bytes differ."),
        ("new", [_anew], 1, (_times(np.nan), _times(np.nan)), "Nothing changes: NaN is the same "
         "constant as before, although NaN == NaN is False."),
    ):  # fmt: skip
        _comes_to_rest(fixpoint, programs, names.split(), passes, rounds, why)
    program = _times(3.0)
    if not same_program(valid_graph(fixpoint(program, []), program), program):
        raise Wrong(
            "A round of no passes changes nothing, so the program must stay as it is.",
            program=program,
            spec=NOTHING,
        )
    return "a stop after the first round without a change"


_THREE = (
    "Three rounds change something here: 3.0 becomes 2.0, 1.0, 0.0. The fourth changes nothing, "
    "and that is the last. The number of nodes never changes."
)


def _times(number: float) -> Graph:
    return trace(lambda x: x * number, "f32[4]")


def _comes_to_rest(
    fixpoint: Any,
    programs: tuple[Graph, Graph],
    names: list[str],
    passes: list[Any],
    rounds: int,
    why: str,
    **limit: int,
) -> None:
    calls: list[str] = []
    before, result = programs
    each = {name: _noted(calls, name, one) for name, one in zip(names, passes, strict=True)}
    noted = [each[name] for name in names]
    options = "".join(f", {k}={v}" for k, v in limit.items())
    why = f"fixpoint(graph, [{', '.join(names)}]{options}): {why}"
    try:
        after = valid_graph(fixpoint(before, noted, **limit), before)
    except Crashed as error:
        if not _is_a("ValueError", error):
            raise
        raise Wrong(
            f"{why} Yours raised {error.error}",
            program=before,
            spec=ANEW,
        ) from None
    if not same_program(after, result):
        raise Wrong(why, program=before, got=after, expected=result, spec=NOTHING)
    if calls != names * rounds:
        raise Wrong(
            f"{why} Each round must run every pass, in order.",
            program=before,
            got=f"{len(calls)} passes ran: {' '.join(calls[:40])}",
            expected=f"{rounds * len(names)} passes: {rounds} rounds of {len(names)}",
            spec=ROUND,
        )


def _is_a(kind: str, error: Crashed) -> bool:
    """Did the answer raise this exception, or one made of it?"""
    return kind in getattr(error, "kinds", (error.error.partition(":")[0],))


@checks("passes.fixpoint", spec=[GIVES_UP, OFTEN, FOREVER])
def gives_up_after_limit_rounds(fixpoint):
    """Passes that never rest raise ValueError after `limit` rounds, twenty if nothing is said."""
    before = trace(lambda x: relu(x), "f32[4]")
    for limit, rounds, names in (({"limit": 6}, 6, "new flip"), ({"limit": 1}, 1, "new flip"),
                                 ({}, 20, "flip")):  # fmt: skip
        calls: list[str] = []
        each = {"new": _noted(calls, "new", _anew), "flip": _noted(calls, "flip", _flip)}
        passes = [each[name] for name in names.split()]
        _gives_up(fixpoint, before, passes, limit, "turns relu into exp and back, forever")
        if len(calls) != len(passes) * rounds:
            raise Wrong(
                f"With limit={rounds} there must be {rounds} rounds"
                + ("." if limit else ": 20 is the default of `limit`."),
                program=before,
                got=f"{len(calls) / len(passes):g} rounds",
                expected=f"{rounds} rounds",
                spec=OFTEN,
            )
    three = trace(lambda x: (x, relu(x), exp(x)), "f32[4]")
    _gives_up(fixpoint, three, [_turns_the_last_two], {"limit": 3},
              "turns the second and the third output around, forever")  # fmt: skip
    return "an error after `limit` rounds"


@checks("passes.fixpoint", spec=[GIVES_UP, NOTHING, ROUND, ANEW])
def rests_in_the_last_round(fixpoint):
    """Three rounds of work and a fourth without: limit=4 is enough, and limit=3 is not."""
    programs = _times(3.0), _times(0.0)
    _comes_to_rest(fixpoint, programs, ["down"], [_countdown], 4, _THREE, limit=4)
    _gives_up(fixpoint, programs[0], [_countdown], {"limit": 3}, "changes something in each of the "
              "first three rounds")  # fmt: skip
    return "a program that needs exactly `limit` rounds"


def _gives_up(fixpoint: Any, before: Graph, passes: Any, limit: dict[str, int], what: str) -> None:
    said = f"The pass {what}, and every round that limit={limit.get('limit', 20)} allows changed "
    said += "something, so ValueError must be raised."
    raises(ValueError, lambda: fixpoint(before, passes, **limit), said, program=before,
           spec=GIVES_UP)  # fmt: skip


@checks("passes.fixpoint", spec=ROUND)
def notices_a_broken_pass(fixpoint):
    """A pass that returns nothing, or a graph out of order, is reported, whatever comes after."""
    before = trace(lambda x: relu(x), "f32[4]")
    for passes, what in (
        ([_anew, lambda graph: None], "The second pass returns None."),
        ([_backwards, _backwards], "The first pass writes the nodes in the wrong order. It does "
         "not help that the second one turns them around again: each pass is verified."),
    ):  # fmt: skip
        try:
            result = fixpoint(before, passes)
        except Crashed as error:
            if not _is_a("ValueError", error) and not _is_a("PassError", error):
                raise
            continue
        raise Wrong(
            f"{what} That must be reported, as run_passes does it, but here it went unnoticed.",
            program=before,
            got=result,
        )
    return "passes that return no valid graph"


def _noted(calls: list[str], name: str, one: Any) -> Any:
    def run_one(graph: Graph) -> Graph:
        calls.append(name)
        return one(graph)

    return run_one
