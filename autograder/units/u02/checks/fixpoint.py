"""Checks of unit 2 for the fixpoint.

    [shrink, cse]  until a round changes nothing     (a pass that never rests is named)

Next room: evidence.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Crashed, Wrong, checks
from autograder.check.properties import raises, valid_graph
from autograder.units.u02.checks.machinery import anew, at_rest, back_to_front, minus_zero, noted
from course_lib.ir.graph.build import exp, neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import const
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

    return graph.rebuild(lambda node, i: replace(node, inputs=i, name=f"{node.name}_again"))


def _long() -> tuple[Graph, Graph]:
    """x times 40 numbers that are printed as dense<...>, and the same with 0.0 as the first."""
    first, last = (trace(lambda x, n=n: x * const([n] + [1.0] * 39), "f32[40]") for n in (3.0, 0.0))
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


def _turns_the_last_two(graph: Graph) -> Graph:
    """A pass that never rests: the nodes stay, and so does the first output."""
    first, *others = graph.outputs
    return replace(graph, outputs=(first, *others[::-1]))


_THREE = ("Three rounds change something here: 3.0 becomes 2.0, 1.0, 0.0. The fourth changes "
          "nothing, and that is the last. The number of nodes never changes.")  # fmt: skip


@checks("passes.fixpoint", spec=[NOTHING, ROUND, ANEW, KNOWS])
def runs_until_nothing_changes(fixpoint):
    """It goes on while a round changes something, and not after."""
    counts, flips = (_times(3.0), _times(0.0)), trace(relu, "f32[4]")
    nans = _times(np.nan)
    for names, passes, rounds, programs, why in (
        ("down", [_countdown], 4, counts, _THREE),
        ("down new", [_countdown, anew], 4, counts, _THREE),
        ("new down new", [anew, _countdown, anew], 4, counts, _THREE),
        ("down down", [_countdown, _countdown], 3, counts,
         "The same pass is listed twice, so it runs twice in a round. Two rounds change "
         "something, and the third changes nothing."),
        ("flip flop", [_flip, _flip], 1, (flips, flips),
         "Each pass changes the program, but the round as a whole does not: flop undoes flip."),
        ("new", [anew], 1, (counts[0], counts[0]), "The first round changes nothing."),
        ("rename", [_renamed], 1, (flips, flips), "Other names do not make another program."),
        ("down new", [_countdown, anew], 4, _long(), "One of 40 numbers changes in each of "
         "three rounds, and none in the fourth."),
        ("sweep new", [_sweeps_one, anew], 4, _dead(),
         "In each of three rounds, a dead node goes. It is part of the program, though no "
         "output needs it."),
        ("signs", [minus_zero], 2, (_times(0.0), _times(-0.0)),
         "In the first round, 0.0 becomes -0.0. That is another constant: the bytes differ."),
        ("new", [anew], 1, (nans, nans), "Nothing changes: NaN is the same constant as before, "
         "although NaN == NaN is False."),
        ("", [], 1, (counts[0], counts[0]), "A round of no passes changes nothing, so the program "
         "must stay as it is."),
    ):  # fmt: skip
        _comes_to_rest(fixpoint, programs, names.split(), passes, rounds, why)
    return "a stop after the first round without a change"


def _times(number: float) -> Graph:
    return trace(lambda x: x * number, "f32[4]")


def _comes_to_rest(
    fixpoint: Any, programs: tuple[Graph, Graph], names: list[str], passes: list[Any], rounds: int,
    why: str, **limit: int,
) -> None:  # fmt: skip
    ran: list[str] = []
    before, result = programs
    each = {name: noted(one, ran, name) for name, one in zip(names, passes, strict=True)}
    options = "".join(f", {k}={v}" for k, v in limit.items())
    why = f"fixpoint(graph, [{', '.join(names)}]{options}): {why}"
    call = partial(fixpoint, before, [each[name] for name in names], **limit)
    after = valid_graph(at_rest(call, why, before, ANEW), before)
    if not same_program(after, result):
        raise Wrong(why, program=before, got=after, expected=result, spec=NOTHING)
    if ran != names * rounds:
        due = f"{rounds * len(names)} passes: {rounds} rounds of {len(names)}"
        raise Wrong(f"{why} Each round must run every pass, in order.", program=before, spec=ROUND,
                    got=f"{len(ran)} passes ran: {' '.join(ran[:40])}", expected=due)  # fmt: skip


@checks("passes.fixpoint", spec=[GIVES_UP, OFTEN, FOREVER])
def gives_up_after_limit_rounds(fixpoint):
    """Passes that never rest raise ValueError after `limit` rounds, twenty if nothing is said."""
    before = trace(relu, "f32[4]")
    two = [anew, _flip]
    for limit, rounds, passes in (
        ({"limit": 6}, 6, two),
        ({"limit": 1}, 1, two),
        ({}, 20, two[1:]),
    ):
        ran: list[str] = []
        each = [noted(one, ran) for one in passes]
        _gives_up(fixpoint, before, each, limit, "turns relu into exp and back, forever")
        if len(ran) != len(passes) * rounds:
            problem = f"With limit={rounds} there must be {rounds} rounds"
            problem += "." if limit else ": 20 is the default of `limit`."
            raise Wrong(problem, program=before, got=f"{len(ran) / len(passes):g} rounds",
                        expected=f"{rounds} rounds", spec=OFTEN)  # fmt: skip
    three = trace(lambda x: (x, relu(x), exp(x)), "f32[4]")
    _gives_up(fixpoint, three, [_turns_the_last_two], {"limit": 3},
              "turns the second and the third output around, forever")  # fmt: skip
    return "an error after `limit` rounds"


@checks("passes.fixpoint", spec=[GIVES_UP, NOTHING, ROUND, ANEW])
def rests_in_the_last_round(fixpoint):
    """Three rounds of work and a fourth without: limit=4 is enough, and limit=3 is not."""
    programs = _times(3.0), _times(0.0)
    _comes_to_rest(fixpoint, programs, ["down"], [_countdown], 4, _THREE, limit=4)
    what = "changes something in each of the first three rounds"
    _gives_up(fixpoint, programs[0], [_countdown], {"limit": 3}, what)
    return "a program that needs exactly `limit` rounds"


def _gives_up(fixpoint: Any, before: Graph, passes: Any, limit: dict[str, int], what: str) -> None:
    problem = f"The pass {what}, and every round that limit={limit.get('limit', 20)} allows "
    problem += "changed something, so ValueError must be raised."
    raises(ValueError, lambda: fixpoint(before, passes, **limit), problem, program=before,
           spec=GIVES_UP)  # fmt: skip


BROKEN = [
    ([anew, lambda graph: None], "The second pass returns None.", ROUND),
    ([back_to_front, back_to_front], "The first pass writes the nodes in the wrong order. It does "
     "not help that the second one turns them around again: each pass is verified.", ROUND),
]  # fmt: skip


@for_each("passes.fixpoint", BROKEN, "passes that return no valid graph")
def notices_a_broken_pass(fixpoint, passes, what, spec):
    """A pass that returns nothing, or a graph out of order, is reported, whatever comes after."""
    before = trace(relu, "f32[4]")
    try:
        result = fixpoint(before, passes)
    except Crashed as error:
        if not {"ValueError", "PassError"} & {*error.kinds}:
            raise
        return
    problem = f"{what} That must be reported, as run_passes does it, but here it went unnoticed."
    raise Wrong(problem, program=before, got=result, spec=spec)
