"""Checks of unit 2 for the fixpoint, and for the exercises that are programs, numbers and evidence.

    [shrink, cse]  until a round changes nothing     (a pass that never rests is named)

Next room: compare.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.framework import Crashed, Score, Wrong, checks
from autograder.check.properties import a_number, live_ops, seal_of, sealed, valid_graph
from autograder.units.u02.answers import SCHOOL_RULES
from autograder.units.u02.answers.evidence import DUMPS
from autograder.units.u02.checks.shared import equal_bits
from course_lib import exercises
from course_lib.ir.graph.build import exp, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import Node, const
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.clean.strength import strength
from course_lib.passes.infra.manager import PassError, run_passes

# ── passes.fixpoint ──


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


def _anew(graph: Graph) -> Graph:
    """A pass that changes nothing and builds every node anew."""
    return graph.rebuild(lambda node, inputs: replace(node, inputs=inputs))


def _backwards(graph: Graph) -> Graph:
    """A pass that writes the nodes in the wrong order: not a well-formed graph."""
    return replace(graph, nodes=graph.nodes[::-1])


@checks("passes.fixpoint", spec="until a round changes nothing")
def runs_until_nothing_changes(fixpoint):
    """It goes on while a round changes something, and not after."""
    counts, flips = (_times(3.0), _times(0.0)), trace(relu, "f32[4]")
    for names, passes, rounds, programs, why in (
        ("down", [_countdown], 4, counts, _THREE),
        ("down new", [_countdown, _anew], 4, counts, _THREE),
        ("new down new", [_anew, _countdown, _anew], 4, counts, _THREE),
        ("down down", [_countdown, _countdown], 3, counts,
         "The same pass stands there twice, so it runs twice in a round. Two rounds change "
         "something, the third changes nothing."),
        ("flip flop", [_flip, _flip], 1, (flips, flips),
         "Each pass changes the program, and the round as a whole does not: flip undoes flip."),
        ("new", [_anew], 1, (counts[0], counts[0]), "The first round changes nothing."),
        ("rename", [_renamed], 1, (flips, flips), "Other names are no other program."),
        ("down new", [_countdown, _anew], 4, _long(), "One of 40 numbers changes in each of "
         "three rounds, and none in the fourth."),
    ):  # fmt: skip
        _comes_to_rest(fixpoint, programs, names.split(), passes, rounds, why)
    program = _times(3.0)
    if not same_program(valid_graph(fixpoint(program, []), program), program):
        raise Wrong("A round of no passes changes nothing.", program=program)
    return "rests when a round changed nothing"


_THREE = (
    "Three rounds change something here: 3.0 becomes 2.0, 1.0, 0.0. The fourth changes nothing, "
    "and that is the last. The number of nodes is the same all the time."
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
            spec="passes may build every node anew, so that `is` and == on nodes say nothing",
        ) from None
    if not same_program(after, result):
        raise Wrong(why, program=before, got=after, expected=result)
    if calls != names * rounds:
        raise Wrong(
            f"{why} Each round runs every pass, in order.",
            program=before,
            got=f"{len(calls)} passes ran: {' '.join(calls[:40])}",
            expected=f"{rounds * len(names)} passes: {rounds} rounds of {len(names)}",
            spec="A round is all the passes, in order",
        )


def _is_a(kind: str, error: Crashed) -> bool:
    """Did the answer raise this exception, or one made of it?"""
    return kind in getattr(error, "kinds", (error.error.partition(":")[0],))


@checks(
    "passes.fixpoint", spec="After `limit` rounds that all changed\nsomething, raise ValueError"
)
def gives_up_after_limit_rounds(fixpoint):
    """Passes that never rest raise ValueError after `limit` rounds, twenty if nothing is said."""
    before = trace(lambda x: relu(x), "f32[4]")
    for limit, rounds in (({"limit": 6}, 6), ({"limit": 1}, 1), ({}, 20)):
        calls: list[str] = []
        passes = [_noted(calls, "new", _anew), _noted(calls, "flip", _flip)]
        _gives_up(fixpoint, before, passes, limit, "turns relu into exp and back, forever")
        if len(calls) != 2 * rounds:
            raise Wrong(
                f"With limit={rounds} there are {rounds} rounds"
                + ("." if limit else ": 20 is what `limit` is if nothing is said."),
                program=before,
                got=f"{len(calls) / 2:g} rounds",
                expected=f"{rounds} rounds",
                spec="no pass runs more often than that",
            )
    return "gives up after limit rounds"


@checks("passes.fixpoint", spec="After `limit` rounds that all changed")
def rests_in_the_last_round(fixpoint):
    """Three rounds of work and a fourth without: limit=4 is enough, and limit=3 is not."""
    programs = _times(3.0), _times(0.0)
    _comes_to_rest(fixpoint, programs, ["down"], [_countdown], 4, _THREE, limit=4)
    _gives_up(fixpoint, programs[0], [_countdown], {"limit": 3}, "changes something in each of the "
              "first three rounds")  # fmt: skip
    return "the last round that is allowed"


def _gives_up(fixpoint: Any, before: Graph, passes: Any, limit: dict[str, int], what: str) -> None:
    try:
        result = fixpoint(before, passes, **limit)
    except Crashed as error:
        if _is_a("ValueError", error):
            return
        got: Any = error.error
    else:
        got = result
    raise Wrong(
        f"The pass {what}, and all rounds that limit={limit.get('limit', 20)} allows changed "
        "something: ValueError is raised.",
        program=before,
        got=got,
        expected="ValueError",
        spec="After `limit` rounds that all changed\nsomething, raise ValueError",
    )


@checks("passes.fixpoint", spec="each one verified by `run_passes`")
def notices_a_broken_pass(fixpoint):
    """A pass that returns nothing, or a graph out of order, is reported, whatever comes after."""
    before = trace(lambda x: relu(x), "f32[4]")
    for passes, what in (
        ([_anew, lambda graph: None], "The second pass returns None."),
        ([_backwards, _backwards], "The first pass writes the nodes in the wrong order. That the "
         "second one turns them again does not help: each pass is verified."),
    ):  # fmt: skip
        try:
            result = fixpoint(before, passes)
        except Crashed as error:
            if not _is_a("ValueError", error) and not _is_a("PassError", error):
                raise
            continue
        raise Wrong(
            f"{what} run_passes reports that; here it went unnoticed.", program=before, got=result
        )
    return "broken passes"


def _noted(calls: list[str], name: str, one: Any) -> Any:
    def run_one(graph: Graph) -> Graph:
        calls.append(name)
        return one(graph)

    return run_one


# ── programs ──


@contextmanager
def passes_of(answer: Any):
    """The passes that the student has plugged in; in the grader, the library's."""
    try:
        with exercises.using(getattr(answer, "plugs", {})):
            yield
    except PassError as error:
        raise Wrong(f"A pass that is plugged in failed on your program. {error}") from None


def left(graph: Graph) -> int:
    """Live operations."""
    return len(live_ops(graph))


@checks("u02.after_fold")
def cse_needs_fold_here(after_fold):
    """cse alone merges nothing; after fold it does."""
    graph = valid_graph(after_fold())
    if not graph.inputs or len(graph.ops) > 12:
        raise Wrong("One input or more, at most 12 operations.", program=graph)
    with passes_of(after_fold):
        alone, folded = dce(cse(graph)), dce(fold(graph))
        both = dce(cse(folded))
    if left(alone) != left(graph):
        raise Wrong(
            f"cse alone already leaves {left(alone)} of {left(graph)} operations. It must find "
            "nothing until fold has run.",
            program=graph,
            got=alone,
            spec="cse leaves as many operations as the program has",
        )
    if left(both) == left(folded):
        raise Wrong(
            f"fold leaves {left(folded)} of {left(graph)} operations, and cse then merges none. "
            "(Are your fold and your cse plugged in?)",
            program=graph,
            got=both,
            spec="it leaves fewer operations than fold did",
        )
    return f"{left(graph)} operations, {left(folded)} after fold, {left(both)} after fold and cse"


@checks("u02.witnesses")
def the_two_sides_differ(witnesses):
    """Each of the eight numbers shows that its rule is wrong."""
    answer = witnesses()
    if not isinstance(answer, Mapping):
        raise Wrong("The answer is a dict from a rule to a number.", got=repr(answer))
    for rule, (before, after) in SCHOOL_RULES.items():
        if rule not in answer:
            raise Wrong(f"There is no number for the rule `{rule}`.", spec="all eight of them")
        x = _f32(answer[rule])
        sides = [_value(side, x) for side in (before, after)]
        if equal_bits(*sides).all():
            raise Wrong(
                f"`{rule}`: for x = {x!s} both sides are {sides[0]!s}. Find another x.",
                program=trace(lambda x, f=before: f(x), "f32[]"),
                spec="one f32 number for which the two sides differ",
            )
    return "eight rules, eight numbers"


def _f32(value: Any) -> np.float32:
    try:
        with np.errstate(over="ignore"):
            return np.float32(np.asarray(value).reshape(()))
    except (TypeError, ValueError, OverflowError):
        raise Wrong("Each witness is a number.", got=repr(value)) from None


def _value(side: Any, x: np.float32) -> np.ndarray:
    made = trace(lambda node: _as_node(side(node)), "f32[]")
    return run(made, [np.asarray(x)])[0]


def _as_node(value: Any) -> Any:
    return const(value, "f32") if isinstance(value, float) else value


@checks("u02.every_pass")
def all_five_change_it(every_pass):
    """fold, simplify, strength, cse and dce each change what they get."""
    graph = valid_graph(every_pass())
    if len(graph.nodes) > 16:
        raise Wrong(f"16 nodes are the bound; here are {len(graph.nodes)}.", program=graph)
    with passes_of(every_pass):
        now = graph
        for one in (fold, simplify, strength, cse, dce):
            before, now = now, run_passes(now, [one])
            if same_program(before, now):
                name = one.__name__
                raise Wrong(
                    f"{name} changes nothing. What it gets is shown under “Got”. (Is your {name} "
                    "plugged in?)",
                    program=graph,
                    got=before,
                    spec="each of them changes the program",
                )
    count = len(graph.nodes)
    fraction = min(1.0, max(0.5, 1.0 - 0.1 * (count - 5)))
    return Score(fraction, f"{count} nodes; 5 is the best we know, 16 the bound")


# ── a number, and evidence ──


@checks("u02.sevenths")
def is_a_percentage(sevenths):
    """The share of the 2**23 numbers for which the two results differ."""
    value = a_number(sevenths(), unit="percent")
    if 0 < value < 1:
        raise Wrong("The answer is in percent.", got=f"{value:g}", spec="in percent")
    try:
        sealed("u02.sevenths", float(value), SEVENTHS)
    except Wrong:
        raise Wrong(
            "This is not the share. Are all 2**23 numbers counted, and is every operand an f32?",
            got=f"{value:.4g} percent",
            spec="1/7 is an f32 too, as a compiler would store it",
        ) from None
    return "the right percentage"


@checks("u02.broken")
def names_the_pass_and_the_value(broken):
    """The name of the broken pass, and of the value that it lost."""
    answer = broken()
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong('The answer is a pair: ("pass", "value").', got=repr(answer))
    one, value = (str(part).strip().lstrip("%") for part in answer)
    names = [name for name, _ in DUMPS[1:]]
    if one not in names:
        raise Wrong(f"The dumps are {', '.join(names)}; there is no {one!r}.", got=repr(answer))
    if seal_of("u02.broken.pass", one) != BROKEN_PASS:
        raise Wrong(f"{one} did nothing wrong: before and after it the program means the same.")
    if seal_of("u02.broken", (one, value)) != BROKEN:
        before = dict(DUMPS)[names[names.index(one) - 1]] if names.index(one) else DUMPS[0][1]
        raise Wrong(
            f"The pass is {one}, the value is not %{value}: that one was replaced because an "
            "operand of it was, or not at all. Look for the first value that went wrong.",
            program=parse_graph(before),
        )
    return "the pass and the value"


SEVENTHS = "6f7d73028979"
BROKEN_PASS = "ff51c5a8ea59"
BROKEN = "c94645a5c3a4"
