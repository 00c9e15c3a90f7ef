"""What is called the smallest is the smallest: all that is smaller is tried here, by another way.

Of units 0 to 2, the checks that draw cases are those of `cycles` and `positions`: every case of a
smaller sum of numbers is tried, on each mutant. The other wrong answers of these units fail on
programs that were written by hand, which are not called the smallest, as tests/units/test_units.py
makes sure; of the first two exercises, those are tried from small to large. On graphs, all programs
of fewer operations are tried, of the operations and constants that the failing one has.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

from autograder import check
from autograder.check import trial
from autograder.check.exemplars import mutants_of
from autograder.check.judging import judge
from autograder.check.listed import numbers_in, smaller_cases, smaller_graphs
from autograder.check.shrink import smaller
from autograder.check.verdict import Verdict, as_text
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.build import neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply
from course_lib.ir.graph.parse import parse_graph

CYCLES, POSITIONS = "accelerator.systolic.cycles", "ir.windows.positions"


def judged(name: str, answer, **how) -> tuple[Verdict, trial.Trial | None]:
    """The verdict, and the trial that looked for the smallest failure, if one did."""
    found: list[trial.Trial] = []
    look = trial.Trial.look_for_smaller

    def kept(self, *args):
        found.append(self)
        look(self, *args)

    with pytest.MonkeyPatch.context() as patch, plugged(name, answer):
        patch.setattr(trial.Trial, "look_for_smaller", kept)
        return judge(name, answer, **how), found[0] if found else None


def all_of(name: str, total: int) -> Iterator[tuple]:
    """Every case whose numbers have that sum."""
    if name == CYCLES:
        for m, k, n, rows, cols in itertools.product(range(1, total), repeat=5):
            if 0 <= (drain := total - m - k - n - rows - cols) <= 1:
                yield m, k, n, SystolicArray(rows, cols, bool(drain))
        return
    for size, kernel, stride, dilation, low in itertools.product(range(total + 1), repeat=5):
        high = total - size - kernel - stride - dilation - low
        if min(kernel, stride, dilation) >= 1 and high >= 0:
            yield size, kernel, stride, dilation, low, high


@pytest.mark.parametrize("name", [CYCLES, POSITIONS])
def test_no_smaller_case_shows_it(name):
    reference = slot(name).reference
    called_so = 0
    for mutant, answer in mutants_of(name).items():
        verdict, looked = judged(name, answer)
        assert verdict.kind != "passed"
        if looked is None or not verdict.smallest:
            continue
        called_so += 1
        for total in range(sum(numbers_in(looked.example) or [])):
            for case in all_of(name, total):
                got, wanted = answer(*case), reference(*case)
                assert got == wanted and type(got) is not float, (mutant, case, verdict)
    assert called_so >= 5


def test_the_first_exercises_begin_with_the_smallest_case():
    sizes = sorted(itertools.product((1, 2), repeat=3), key=sum)[:4]
    for mutant, answer in mutants_of("u00.intensity").items():
        wanted = slot("u00.intensity").reference
        wrong = [s for s in sizes if not _near(answer(*s), wanted(*s))]
        shown = judged("u00.intensity", answer)[0].program
        if wrong and shown:
            found = [int(part.rpartition("=")[2]) for part in shown.split(",")]
            assert sum(found) == sum(wrong[0]), (mutant, shown)


def _near(got, wanted) -> bool:
    return isinstance(got, (int, float)) and abs(got - wanted) <= 1e-3 * wanted


def test_a_square_is_enough_to_show_that_a_node_is_listed_twice():
    answer = mutants_of("ir.graph.topological_order")["lists_shared_nodes_twice"]
    verdict = judged("ir.graph.topological_order", answer)[0]
    assert re.search(r"%0 = mul\((%\w+), \1\)", verdict.program)
    assert verdict.program.count("=") == 1


# ── graphs ──


def keeps_what_is_dead(op: str, *below: str):
    """An answer of u99.sweep that is wrong where such an op stands, which reads one of those."""
    reference = slot("u99.sweep").reference

    def answer(graph: Graph) -> Graph:
        nodes = [n for n in graph.ops if n.op == op]
        hit = [n for n in nodes if not below or any(i.op in below for i in n.inputs)]
        return graph if hit else reference(graph)

    return answer


TWO = ("add", "mul", "add")


@pytest.mark.parametrize("ops", [("neg",), ("relu",), TWO])
def test_no_smaller_graph_shows_it(ops):
    answer, reference = keeps_what_is_dead(*ops), slot("u99.sweep").reference
    verdict, looked = judged("u99.sweep", answer)
    assert verdict.smallest and "The smallest program that shows it" in as_text(verdict)
    found = parse_graph(verdict.program)
    assert looked is not None and len(found.ops) == (2 if ops == TWO else 1)
    for graph in (*smaller_graphs(found, [looked.example]), *smaller(found)):
        if len(graph.nodes) < len(found.nodes):
            assert len(answer(graph).nodes) == len(reference(graph).nodes), graph


def test_all_graphs_of_fewer_operations_are_listed():
    graph = trace(lambda x: neg(relu(x) * x), "f32[1]")
    listed = [str(found) for found in smaller_graphs(graph, [])]
    x = graph.inputs[0]
    one = [apply("relu", x), apply("mul", x, x), apply("neg", x)]
    two = [apply(op, *operands)
           for first in one for op, arity in (("relu", 1), ("mul", 2), ("neg", 1))
           for operands in itertools.product((x, first), repeat=arity)]  # fmt: skip
    assert len(listed) == 2 * len(one) + 3 * len(two)  # each node may be returned, and the input
    assert {len(g.ops) for g in smaller_graphs(graph, [])} == {1, 2}


def test_cases_are_listed_by_their_sum_and_never_below_an_example():
    listed = list(smaller_cases((2, 3), [(1, 1), (4, 9)]) or [])
    assert listed == [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (3, 1)]
    assert smaller_cases(7, [1, 7]) is None  # a seed, perhaps: less says nothing
    assert smaller_cases(("a", [1]), []) is None
    assert list(smaller_cases((2, "b"), [(1, "a")]) or []) == [(1, "b")]


@pytest.mark.parametrize("budget", ["LISTED_CALLS", "REDUCE_CALLS"])
def test_without_a_budget_it_is_not_called_the_smallest(budget, monkeypatch):
    monkeypatch.setattr(trial, budget, 0)
    verdict, _ = judged("u99.sweep", keeps_what_is_dead(*TWO))
    assert verdict.kind == "wrong" and not verdict.smallest
    assert "A program that shows it" in as_text(verdict) and "smallest" not in as_text(verdict)


def test_who_looks_for_no_time_shows_the_first_that_fails():
    verdict, looked = judged("u99.sweep", keeps_what_is_dead("neg"), patience=-1.0)
    assert verdict.kind == "wrong" and verdict.program and not verdict.smallest
    assert looked is not None and looked.calls_after <= 2


def test_an_edition_without_our_answer_calls_nothing_the_smallest(monkeypatch):
    def gone(graph):
        raise NotImplementedError

    answer = keeps_what_is_dead("neg")
    monkeypatch.setattr(slot("u99.sweep"), "reference", gone)
    verdict, _ = judged("u99.sweep", answer)
    assert verdict.kind == "wrong" and not verdict.smallest


def test_a_check_of_a_student_finds_the_smallest_too():
    with plugged("u99.sweep", keeps_what_is_dead("neg")):
        verdict = check("u99.sweep")
    assert verdict.smallest
