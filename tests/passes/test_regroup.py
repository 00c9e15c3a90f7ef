"""Groupings as values: there and back, one step to the next, and what a search over them finds."""

import numpy as np
import pytest

from course_lib.cost.machine import AVX512
from course_lib.cost.nest import predict
from course_lib.exercises import plugged
from course_lib.ir.graph.build import exp, relu, sigmoid, trace
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.fusion.regroup import Grouping, Regrouping, fuse_as, key_of_graph
from course_lib.tune.groups import search_groups


def diamond() -> Graph:
    """exp is read by both branches, and its result leaves the graph as well as the sum."""

    def swish(x: Node, w: Node) -> list[Node]:
        y = x @ w
        return [relu(y * sigmoid(y)) + exp(x @ w)]

    return trace(swish, "f32[8,4]", "f32[4,4]")


def chain() -> Graph:
    return trace(lambda x: relu(exp(sigmoid(x) + x)), "f32[64,64]")


def ops(graph: Graph, grouping: Grouping) -> list[str]:
    nodes = Regrouping(graph).nodes
    return [" ".join(nodes[name].op for name in group) for group in grouping]


@pytest.mark.parametrize("graph", [diamond(), chain()], ids=["diamond", "chain"])
def test_a_grouping_is_read_off_a_fused_graph_and_makes_it_again(graph: Graph) -> None:
    groups = Regrouping(graph)
    grouping = groups.groups_of(fuse(graph))
    assert grouping
    assert print_graph(groups.fused(grouping)) == print_graph(fuse(graph))
    assert groups.groups_of(graph) == ()


def test_every_step_is_legal_and_computes_the_same() -> None:
    graph, rng = diamond(), np.random.default_rng(0)
    inputs = [rng.standard_normal(x.type.dims).astype(np.float32) for x in graph.inputs]
    groups = Regrouping(graph)
    wanted = run(graph, inputs)
    start = groups.groups_of(fuse(graph))
    seen, front = {start}, [start]
    for _ in range(2):
        front = [new for one in front for new in groups.steps(one) if new not in seen]
        seen.update(front)
    assert len(seen) > 10
    for grouping in seen:
        fused = groups.fused(grouping)
        assert groups.groups_of(fused) == grouping
        for have, want in zip(run(fused, inputs), wanted, strict=True):
            np.testing.assert_array_equal(have, want)


def test_steps_lead_from_nothing_fused_to_everything_in_one_kernel_and_back() -> None:
    graph = chain()
    groups = Regrouping(graph)
    (whole,) = [one for one in [groups.groups_of(fuse(graph))] if ops(graph, one)]
    assert ops(graph, whole) == ["sigmoid add exp relu"]

    def reached(start: Grouping) -> set[Grouping]:
        seen, front = {start}, [start]
        while front:
            front = [new for one in front for new in set(groups.steps(one)) if new not in seen]
            seen.update(front)
        return seen

    assert reached(()) == reached(whole)
    assert len(reached(())) == 8  # each of the three edges inside or between


@pytest.mark.parametrize(
    ("grouping", "says"),
    [
        ((("0", "1"), ("1", "2")), "in two groups"),
        ((("0", "nowhere"),), "computes no %nowhere"),
        ((("0", "x0"),), "computes no %x0"),
        ((("0", "2"),), "reads it too"),
    ],
)
def test_what_is_no_grouping_is_refused_in_words(grouping: Grouping, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Regrouping(chain()).fused(grouping)


def test_a_known_grouping_is_replayed_and_one_that_does_not_fit_is_not() -> None:
    graph, known = chain(), (("0", "1"), ("2", "3"))
    by_key = {key_of_graph(graph): known}
    fused = fuse_as(lambda one: by_key.get(key_of_graph(one)))
    assert Regrouping(graph).groups_of(fused(graph)) == known
    assert print_graph(fused(diamond())) == print_graph(fuse(diamond()))
    with pytest.warns(UserWarning, match="do not fit"):
        wrong = fuse_as(lambda one: (("0", "2"),))(graph)
    assert print_graph(wrong) == print_graph(fuse(graph))


# ── the search ──


def test_a_search_finds_back_what_a_bad_heuristic_left_apart() -> None:
    graph = chain()
    with plugged("passes.should_fuse", lambda producer, consumer: False):
        record = search_groups(graph, AVX512, width=2, depth=3)
    assert record.candidates[0].groups == ()
    assert ops(graph, record.best.groups) == ["sigmoid add exp relu"]
    assert record.best.predicted < record.candidates[0].predicted
    assert record.stopped == "complete"
    with plugged("passes.should_fuse", lambda producer, consumer: False):
        again = search_groups(graph, AVX512, width=2, depth=3)
    assert again.candidates == record.candidates


def test_a_search_stops_in_time_and_at_ctrl_c_with_what_it_has() -> None:
    late = search_groups(chain(), AVX512, seconds=0.0)
    assert len(late.candidates) == 1 and late.stopped == "budget: 0 seconds"

    calls = []

    def interrupted(kernel, machine):
        calls.append(kernel)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return predict(kernel, machine)

    record = search_groups(chain(), AVX512, price=interrupted)
    assert record.stopped == "interrupted" and record.best.number == 0
