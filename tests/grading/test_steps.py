"""Work is counted in lines of Python: the same in a notebook and in the grader's worker."""

from __future__ import annotations

import gc
import operator
import sys
import tracemalloc

import numpy as np
import pytest

from autograder.check.framework import TimedOut
from autograder.check.here import Here
from autograder.check.programs import deep, diamond
from autograder.check.steps import OutOfSteps, counted, with_steps
from autograder.grading.sandbox import Worker
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.node import Node

ALONG_EVERY_PATH = """
from dataclasses import replace
from autograder import implements

@implements("u99.sweep")
def sweep(graph):
    kept = set(graph.inputs)

    def walk(node):
        kept.add(node)
        for i in node.inputs:
            walk(i)

    for node in graph.outputs:
        walk(node)
    return replace(graph, nodes=tuple(n for n in graph.nodes if n in kept))
"""
WORDS = "each shared node is walked once for each path to it"


def along_every_path():
    names: dict = {}
    exec(ALONG_EVERY_PATH.replace('@implements("u99.sweep")', ""), names)
    return names["sweep"]


def test_a_diamond_has_a_path_for_every_choice():
    paths: dict = {}
    for node in diamond(60).nodes:
        paths[node] = sum(paths[i] for i in node.inputs) or 1
    assert max(paths.values()) == 2**60 and len(paths) == 1 + 3 * 60


def test_a_notebook_stops_an_answer_at_the_limit_and_says_why():
    with plugged("u99.sweep", along_every_path()):
        few = with_steps(Here(slot("u99.sweep")), 20_000, "180 operations", WORDS)
        with pytest.raises(TimedOut) as stopped:
            few(diamond())
    assert stopped.value.problem == f"More than 20,000 steps for 180 operations: {WORDS}."


def test_an_answer_that_looks_at_each_node_once_stays_far_below():
    with plugged("u99.sweep", slot("u99.sweep").reference):
        few = with_steps(Here(slot("u99.sweep")), 20_000, "180 operations", WORDS)
        assert len(few(diamond()).ops) == 180


def test_the_grader_counts_the_same_way(assignment):
    with Worker(assignment.edition) as worker:
        assert worker.cell(ALONG_EVERY_PATH, "<cell 1>") is None

        def answer(*args, **kwargs):
            return worker.call("u99.sweep", args, kwargs)

        few = with_steps(answer, 20_000, "180 operations", WORDS)
        with pytest.raises(TimedOut, match="More than 20,000 steps"):
            few(diamond())
        assert len(few(diamond(3)).ops) == 9, "the worker lives, and a small program is no problem"


def test_the_count_is_the_same_every_time():
    def work():
        total = 0
        for i in range(10):
            total += i
        return total

    def fits(limit):
        try:
            with counted(limit):
                work()
        except OutOfSteps:
            return False
        return True

    least = next(limit for limit in range(100) if fits(limit))
    assert [fits(least) for _ in range(5)] == [True] * 5 and not fits(least - 1)
    assert 20 <= least <= 40, "two lines a turn, and a few around them"


def steps_of(work):
    """The least limit that is enough."""
    for limit in range(0, 100_000, 10):
        try:
            with counted(limit):
                work()
        except OutOfSteps:
            continue
        return limit
    raise AssertionError("no limit is enough")


@pytest.mark.parametrize(
    "search",
    [
        lambda nodes, last: last in nodes,
        lambda nodes, last: nodes.index(last),
        lambda nodes, last: nodes.count(last),
        lambda nodes, last: list(nodes).remove(last),
    ],
)
def test_each_node_that_a_search_in_a_list_compares_is_a_step(search):
    nodes = list(deep(500).nodes)
    assert steps_of(lambda: search(nodes, nodes[-1])) >= len(nodes) - 10


@pytest.mark.parametrize(
    "line",
    [
        lambda k, history, held, numbers: history[:k],
        lambda k, history, held, numbers: dict(held),
        lambda k, history, held, numbers: {*history},
        lambda k, history, held, numbers: (numbers == k).any(),
    ],
)
def test_work_that_a_line_does_in_c_on_all_that_came_before_is_counted(line):
    """The memory that it takes, even if it gives it back at once."""
    history, held, numbers = list(range(4000)), dict.fromkeys(range(4000)), np.arange(4000)

    def often(count, what):
        for k in range(4000 - count, 4000):
            what(k, history, held, numbers)

    assert steps_of(lambda: often(20, lambda *_: None)) <= 100
    assert steps_of(lambda: often(20, line)) > 20 * 4000 // 100


def test_memory_that_was_traced_before_is_traced_afterwards():
    with counted(100):
        assert tracemalloc.is_tracing()
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        with counted(100):
            pass
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def test_a_dict_and_a_set_compare_no_nodes():
    nodes = deep(500).nodes
    place, known = {node: k for k, node in enumerate(nodes)}, set(nodes)
    by_operands = {(node.op, node.inputs): node for node in nodes}
    last = nodes[-1]
    assert steps_of(lambda: (place[last], last in known)) <= 20
    assert steps_of(lambda: by_operands[last.op, last.inputs]) <= 20


def test_nodes_are_equal_as_ever_while_steps_are_counted_and_afterwards():
    x, y = deep(2).nodes[:2]
    before, hashed = Node.__eq__, hash(x)

    def looks():
        assert x == x and x != y and not operator.eq(x, y) and x != 1 and x not in (1, "x", None)
        assert hash(x) == hashed and x == Anything() and Anything() == x
        raise KeyError

    with pytest.raises(KeyError), counted(1000):
        looks()
    assert Node.__eq__ is before and "__eq__" not in vars(Node)
    with pytest.raises(OutOfSteps), counted(3):
        looks()
    with counted(1000), counted(1000):
        assert x != y
    assert "__eq__" not in vars(Node)


class Anything:
    def __eq__(self, other):
        return True


def test_an_answer_cannot_swallow_the_end():
    def stubborn():
        while True:
            try:
                for _ in range(100):
                    pass
            except BaseException:
                return "caught"

    with pytest.raises(OutOfSteps), counted(50):
        stubborn()


def test_the_end_is_not_lost_in_what_the_garbage_collector_calls():
    """Hypothesis, too, has a function of Python called before and after each collection."""

    def cycles(often):
        for _ in range(often):
            ring = []
            ring.append(ring)

    def looks(phase, info):
        for _ in range(20):
            pass

    alone, before = steps_of(lambda: cycles(300)), gc.get_threshold()
    gc.callbacks.append(looks)
    gc.set_threshold(10)
    try:
        assert steps_of(lambda: cycles(300)) == alone
        for limit in range(500, 520):
            with pytest.raises(OutOfSteps), counted(limit):
                cycles(300)
                pytest.fail("the limit was lost")
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(looks)
    assert gc.isenabled()


def test_a_debugger_is_back_afterwards():
    def tracer(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with counted(1000):
            deep(2)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
