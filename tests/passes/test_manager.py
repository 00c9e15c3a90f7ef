"""The pass manager: order, verification, words for people; and fixpoint."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import exp, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import fixpoint, same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.infra.manager import PassError, PassRun, diff, run_passes
from course_lib.passes.pipeline import DEFAULT

GRAPH = trace(lambda x: relu(x * (const(2.0) - 1.0)), "f32[4]", name="f")


def failure(one) -> str:
    with pytest.raises(PassError) as error:
        run_passes(GRAPH, [fold, one])
    return str(error.value)


def test_watch_sees_every_stage_in_order_under_its_own_name() -> None:
    seen: list[tuple[str, int]] = []
    log: list[PassRun] = []
    after = run_passes(
        GRAPH, [fold, simplify, dce, fold], lambda n, g: seen.append((n, len(g.ops))), log
    )
    assert seen == [("fold", 2), ("simplify", 1), ("dce", 1), ("fold_2", 1)]
    assert [(r.name, r.before, r.after) for r in log] == [
        ("fold", 6, 6), ("simplify", 6, 5), ("dce", 5, 2), ("fold_2", 2, 2)
    ]  # fmt: skip
    assert "5 -> 2" in str(log[2])
    assert [n.op for n in after.nodes] == ["input", "relu"]


def test_passes_may_come_one_by_one() -> None:
    after = run_passes(GRAPH, (one for one in DEFAULT if one in (fold, simplify, dce)))
    assert [node.op for node in after.nodes] == ["input", "relu"]


def test_the_default_is_a_plain_list() -> None:
    assert [one.__name__ for one in DEFAULT] == [
        "fold", "simplify", "bn_fold", "dce", "decompose", "strength", "layout", "sink_relayouts",
        "fold", "simplify", "cse", "horizontal", "dce", "fuse", "absorb_pads", "dce",
    ]  # fmt: skip


def test_a_crash_names_the_pass_and_the_line_of_its_author() -> None:
    def my_cse(graph: Graph) -> Graph:
        table: dict[str, Node] = {}
        return graph.rebuild(lambda node, inputs: table[node.op])

    text = failure(my_cse)
    assert "the pass 'my_cse' crashed on @f: KeyError: nothing is stored under 'constant'" in text
    assert "table[node.op]" in text


def test_a_crash_inside_the_library_shows_the_line_that_called_it() -> None:
    def widen(graph: Graph) -> Graph:
        wrong = apply("add", graph.outputs[0], const([1.0, 2.0]))  # this line
        return Graph.of(graph.inputs, [wrong])

    text = failure(widen)
    assert "do not broadcast" in text and "# this line" in text


def test_an_exercise_without_an_answer_keeps_its_own_words() -> None:
    def unanswered(graph: Graph) -> Graph:
        raise NotImplementedError("passes.cse has no answer yet")

    with pytest.raises(NotImplementedError, match="no answer yet"):
        run_passes(GRAPH, [unanswered])


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda g: None, "is a `return` missing"),
        (lambda g: list(g.nodes), "must return a Graph"),
        (lambda g: replace(g, nodes=g.nodes[:-2] + g.nodes[-1:]), "defined nowhere in"),
        (lambda g: replace(g, nodes=g.nodes[::-1]), "defined later in"),
        (lambda g: replace(g, outputs=g.outputs * 2), "the outputs were"),
        (lambda g: trace(lambda x: relu(x), "f32[4]"), "the inputs must stay"),
    ],
    ids=["nothing", "a list", "a hole", "another order", "more outputs", "other inputs"],
)
def test_a_broken_graph_names_the_pass(result, words: str) -> None:
    def careless(graph: Graph) -> Graph:
        return result(graph)

    text = failure(careless)
    assert "the pass 'careless'" in text
    assert words in text


def test_a_broken_graph_is_shown_as_a_diff() -> None:
    def wrong_type(graph: Graph) -> Graph:
        last = replace(graph.outputs[0], op="isnan")
        return replace(graph, nodes=(*graph.nodes[:-1], last), outputs=(last,))

    text = failure(wrong_type)
    assert "declared f32[4], but its operands give bool[4]" in text
    assert "\n-  %4 = relu(%3) : f32[4]\n+  %4 = isnan(%3) : f32[4]\n" in text


def test_a_long_diff_is_cut() -> None:
    def deep(fn):
        def body(x: Node) -> Node:
            for _ in range(50):
                x = fn(x)
            return x

        return trace(body, "f32[4]")

    text = diff(deep(relu), deep(exp))
    assert len(text.splitlines()) == 31
    assert text.splitlines()[-1].endswith("more lines")


def test_an_error_in_a_nested_pass_names_that_pass() -> None:
    def bad(graph: Graph) -> Graph:
        return replace(graph, outputs=())

    text = failure(lambda graph: fixpoint(graph, [dce, bad]))
    assert text.startswith("the pass 'bad' broke the graph")


# ── fixpoint ──


def test_fixpoint_runs_until_a_round_changes_nothing() -> None:
    rounds: list[int] = []

    def count(graph: Graph) -> Graph:
        rounds.append(len(graph.nodes))
        return graph

    graph = trace(lambda x: x * ((x - x) * 0 + 1), "i32[4]")
    after = fixpoint(graph, [count, simplify, fold, dce])
    assert after.outputs == after.inputs
    assert rounds == [7, 3, 1], "the third round found nothing to do"


def test_fixpoint_stops_passes_that_undo_each_other() -> None:
    runs: list[str] = []

    def flip(graph: Graph) -> Graph:
        runs.append("flip")
        other = {"relu": "exp", "exp": "relu"}
        return graph.rebuild(lambda n, ins: replace(n, inputs=ins, op=other.get(n.op, n.op)))

    with pytest.raises(ValueError, match="after 7 rounds of flip"):
        fixpoint(trace(relu, "f32[4]"), [flip], limit=7)
    assert len(runs) == 7


def test_same_program_compares_meaningful_parts_only() -> None:
    def program(c: float, name: str = "f"):
        return trace(lambda x: relu(x) * c, "f32[4]", name=name)

    assert same_program(program(2.0), program(2.0, "g"))
    assert not same_program(program(2.0), program(3.0))
    assert not same_program(program(0.0), program(-0.0))
    fresh = GRAPH.rebuild(lambda node, inputs: replace(node, inputs=inputs, name="other"))
    assert same_program(GRAPH, fresh)


def test_the_baseline_of_fixpoint_runs_once() -> None:
    with baselines("passes.fixpoint"):
        graph = trace(lambda x: x * ((x - x) * 0 + 1), "i32[4]")
        assert len(fixpoint(graph, [simplify, fold, dce]).ops) > 0


def test_a_students_pass_compiles_the_model() -> None:
    def backwards_only(graph: Graph) -> Graph:
        live = set(graph.outputs)
        for node in reversed(graph.nodes):
            if node in live:
                live |= set(node.inputs)
        keep = [n for n in graph.nodes if n in live or n.op == "input"]
        return replace(graph, nodes=tuple(keep))

    seen: dict[str, int] = {}
    with plugged("passes.dce", backwards_only):
        run_passes(GRAPH, DEFAULT, watch=lambda name, graph: seen.update({name: len(graph.nodes)}))
    assert seen["dce"] == 2


def test_ten_thousand_nodes_go_through_without_recursion() -> None:
    def wide(x: Node) -> Node:
        values = [x]
        for k in range(4000):
            values.append(relu(values[-1] + values[k // 2]) * 1.0)
        return values[-1]

    graph = trace(wide, "f32[2]")
    assert len(graph.nodes) > 12000
    after = run_passes(graph, DEFAULT)
    assert len(after.ops) < 4000
    x = np.zeros(2, np.float32)
    np.testing.assert_array_equal(run(after, [x])[0], run(graph, [x])[0])
