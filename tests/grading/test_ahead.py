"""Calls made ahead of time change no verdict: what ends a process, hangs, prints or remembers."""

from __future__ import annotations

import pytest

from autograder.check.framework import checks_of
from autograder.check.verdict import TIMED_OUT
from autograder.grading import ahead
from autograder.grading.ahead import foreseen, identity, prepared
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.program import read
from autograder.grading.sandbox import Worker
from course_lib.ir.graph.build import relu, trace

SWEEP = """
@implements("u99.sweep")
def sweep(graph):
    {}
    nodes = [n for n in graph.nodes if n.op == "input" or n in needed(graph)]
    return type(graph)(graph.name, graph.inputs, tuple(nodes), graph.outputs)

calls = []
def needed(graph):
    from course_lib.ir.graph.order import topological_order
    return set(topological_order(graph.outputs))
"""
ANSWERS = {
    "right": "pass",
    "prints": "print(len(graph.nodes))",
    "counts_its_calls": "calls.append(graph)",
    "wrong_from_the_17th_call": "calls.append(1)\n    if len(calls) >= 17: return graph",
    "raises_at_the_17th_call": "calls.append(1)\n    if len(calls) == 17: return 1 / 0",
    "ends_at_the_17th_call": "calls.append(1)\n    if len(calls) == 17: import os; os._exit(3)",
    "never_ends_at_the_17th_call": "calls.append(1)\n    while len(calls) == 17: pass",
    "returns_no_data_at_the_17th_call": "calls.append(1)\n    if len(calls) == 17: return object()",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_verdict_is_the_one_of_one_call_at_a_time(answer, verdict_of, monkeypatch):
    code = SWEEP.format(ANSWERS[answer])
    hasty = answer.startswith("never")
    early = verdict_of("u99.sweep", code, hasty=hasty)
    monkeypatch.setattr(Worker, "ahead", lambda *_: None)
    assert early == verdict_of("u99.sweep", code, hasty=hasty)
    assert (early.kind == "passed") == (answer in ("right", "prints", "counts_its_calls"))


def test_a_check_asks_for_what_was_foreseen(verdict_of, monkeypatch):
    """All calls of the right answer are made ahead of time: none is made on its own."""
    made = []
    write = Worker._write
    monkeypatch.setattr(Worker, "_write", lambda self, data: made.append(data) or write(self, data))
    assert verdict_of("u99.sweep", SWEEP.format("pass")).kind == "passed"
    checks = [c for c in checks_of("u99.sweep", with_hidden=True) if c.given is not None]
    assert len(made) < sum(c.examples for c in checks) / 4
    assert all(foreseen(c, 0) is foreseen(c, 0) for c in checks)


def test_what_never_ends_is_given_up_soon_where_calls_are_made_together(
    assignment, notebook, monkeypatch
):
    """Made together, they may take three seconds; one alone has ten, and is tried twice."""
    used: list[float] = []
    within = Worker._within
    monkeypatch.setattr(Worker, "_within", lambda self, s: used.append(s) or within(self, s))
    program = read(notebook(SWEEP.format("while True: pass")), assignment.explanations)
    limits = Limits(start=300, cell=300, call=0.4, ahead=0.2, exercise=600, cells=600)
    report = grade(assignment, program, limits=limits)
    (verdict,) = (v for v in report.verdicts if v.exercise == "u99.sweep")
    assert verdict.kind == TIMED_OUT and "within 0.4 seconds" in verdict.problem
    assert (used.count(0.2), used.count(0.4)) == (1, 2)
    assert (Limits().ahead, Limits().call) == (3, 10)


ONCE = """
calls = []
@implements("u99.bytes")
def size():
    calls.append(1)
    return 24 if len(calls) == {} else 0
"""


@pytest.mark.parametrize(("right", "kind"), [(1, "passed"), (2, "wrong")])
def test_an_answer_that_takes_nothing_is_asked_once(right, kind, verdict_of):
    assert len(checks_of("u99.bytes", with_hidden=True)) == 2
    assert verdict_of("u99.bytes", ONCE.format(right)).kind == kind


def test_calls_behind_one_that_has_to_raise_are_foreseen():
    (check,) = (c for c in checks_of("u02.apply_rules") if c.name == "gives_up_after_a_hundred")
    assert len(foreseen(check, 0)) == 3


def test_arguments_that_may_change_are_compared_by_content():
    graph = trace(lambda x: relu(x), "f32[4]")
    numbers = [1, 2]
    assert identity((graph, 3), {}, None) == (None, id(graph), id(3))
    assert identity((graph, 3), {}, 7) != identity((graph, 3), {}, 8)
    assert identity((numbers,), {}, None) is None
    first = prepared("u99.sweep", (numbers,), {})
    numbers.append(3)
    second = prepared("u99.sweep", (numbers,), {})
    assert first is not None and second is not None and first.data != second.data
    assert prepared("u99.sweep", (print,), {}) is None, "a function calls back: not ahead of time"
    assert ahead.identity((graph,), {"seed": 1}, None) is None
    named = prepared("u99.sweep", (graph,), {"seed": 1})
    assert named is not None and named.kwargs == {"seed": 1}
