"""A seat of the pool: one bad verdict costs one exercise, and no answer takes the machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.check.verdict import GRADER, PASSED, Verdict
from autograder.grading import pool
from autograder.grading.program import read
from autograder.grading.report import Report
from autograder.grading.tasks import Task

SWEEP = "from course_lib.ir.graph.graph import Graph\n@implements('u99.sweep')\ndef sweep(graph):\n"
BYTES = "@implements('u99.bytes')\ndef f(): return 24"
# What checks it computes some hundred megabytes with the graph that comes back.
HEAVY = f"""calls = []
{SWEEP}
    from course_lib.ir.graph.node import apply, const
    import numpy as np
    if calls.append(graph) or len(calls) > 1:
        return Graph.of(graph.inputs, graph.outputs, graph.name)
    dot = const(np.ones((1, 1, 1, 1), np.float32))
    image = apply("expand", dot, shape=(1, 1, 1500, 1500))
    filter = apply("expand", dot, shape=(1, 1, 15, 15))
    nodes = (*graph.nodes, dot, image, filter, apply("conv", image, filter))
    return Graph(graph.name, graph.inputs, nodes, graph.outputs)
"""


@pytest.fixture
def seat() -> Iterator[pool.Seat]:
    here = pool.Seat()
    yield here
    here.close()


@pytest.fixture
def graded(seat, assignment, notebook) -> Callable[..., Report]:
    """What a seat reports on a notebook with these cells."""

    def grade(*code: str) -> Report:
        program = read(notebook(*code), assignment.explanations, assignment.prose)
        seat.start(Task("ada", assignment, "", program))
        while (done := seat.result()) is None:
            time.sleep(0.01)
        return done[1]

    return grade


def of(report: Report, name: str) -> Verdict:
    return next(v for v in report.verdicts if v.exercise == name)


def test_one_verdict_that_is_none_costs_its_exercise_alone(monkeypatch, assignment, notebook):
    real = pool.grade

    class Spoilt:
        def __init__(self, report: Report):
            self.report = report

        def to_json(self):
            data = self.report.to_json()
            data["exercises"][0]["problem"] = 7
            return data

    monkeypatch.setattr(pool, "grade", lambda *given: Spoilt(real(*given)))
    program = read(notebook(BYTES), assignment.explanations, assignment.prose)
    here = pool.Seat()  # it branches off now, with the spoilt reports
    try:
        here.start(Task("ada", assignment, "", program))
        while (done := here.result()) is None:
            time.sleep(0.01)
    finally:
        here.close()
    report = done[1]
    assert report.verdicts[0].kind == GRADER and report.verdicts[0].earned is None
    assert "no valid verdict" in report.verdicts[0].problem
    assert of(report, "u99.bytes").kind == PASSED
    assert here.is_spent, "after a fault of its own it makes place"


def test_an_answer_of_very_many_letters_is_wrong_and_no_more(graded):
    long = BYTES.replace("24", "'a' * 200_000")
    report = graded(long, SWEEP + "    raise ValueError('b' * 200_000)")
    assert of(report, "u99.bytes").kind == "wrong" and of(report, "u99.sweep").kind == "crashed"
    assert max(len(v.problem) + len(v.got) + len(v.error) for v in report.verdicts) < 40_000


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_what_an_answer_makes_the_grader_compute_has_its_memory_counted(graded, seat):
    """Windows of a convolution hold each pixel many times: written out at once, those of the first
    graph that comes back would take the 2 GB that a seat has."""
    before = most_used(seat)
    report = graded(HEAVY, BYTES)
    assert of(report, "u99.sweep").kind == PASSED, "it was computed, in the memory that a seat has"
    assert of(report, "u99.bytes").kind == PASSED and most_used(seat) < before + (1 << 29)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted the Linux way")
def test_what_the_grader_holds_itself_is_not_counted(assignment, notebook):
    """A seat branches off a process that may be large: what it was born with costs it nothing."""
    held = np.zeros(pool.MEMORY, np.uint8)  # never touched: address space, and no memory
    program = read(notebook(HEAVY), assignment.explanations, assignment.prose)
    here = pool.Seat()
    try:
        here.start(Task("ada", assignment, "", program))
        while (done := here.result()) is None:
            time.sleep(0.01)
    finally:
        here.close()
    assert of(done[1], "u99.sweep").kind == PASSED and held.nbytes == pool.MEMORY


def most_used(seat: pool.Seat) -> int:
    """Bytes of memory at its peak so far."""
    status = Path(f"/proc/{seat.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def test_a_graph_of_more_bytes_than_a_seat_can_compute_is_refused(graded):
    large = """
    from course_lib.ir.graph.node import apply, const
    import numpy as np
    big = apply("expand", const(np.float64(1)), shape=(1 << 24,))
    nodes = (*graph.nodes, *big.inputs, big, -big)
    return Graph(graph.name, graph.inputs, nodes, graph.outputs)
"""
    verdict = of(graded(SWEEP + large), "u99.sweep")
    assert verdict.kind == "wrong" and "more than 128 MB" in verdict.problem


def test_there_are_no_more_seats_than_there_is_memory_for(monkeypatch):
    have = psutil.virtual_memory()._replace(total=5 << 30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: have)
    assert pool.room_for() == 2
    monkeypatch.setattr(psutil, "virtual_memory", lambda: have._replace(total=1 << 30))
    assert pool.room_for() == 1
