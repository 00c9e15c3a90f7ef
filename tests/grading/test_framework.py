"""Checks: the smallest program that fails, the same in the notebook and in the grader."""

from __future__ import annotations

import json
import sys
from functools import reduce
from pathlib import Path

import pytest

from autograder import check, implements
from autograder.check import framework, judging, pictures
from autograder.check.feedback import as_html
from autograder.check.framework import Check, TimedOut, Wrong, checks_of, mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge, perform
from autograder.check.verdict import CRASHED, Verdict, as_text
from autograder.soundness import borrowed, exercise
from autograder.soundness.exercise import own_problems
from autograder.validate import leaks, problems_of, validate, verdict_of
from course_lib.exercises import NotAnswered, plugged, slot, using
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply
from course_lib.ir.graph.parse import parse_graph

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"


def test_failure_comes_back_as_the_smallest_program():
    with plugged("u99.sweep", lambda graph: graph):
        verdict = check("u99.sweep")
    assert verdict.kind == "wrong" and verdict.check == "leaves_nothing_dead"
    assert len(parse_graph(verdict.program).nodes) == 2, verdict.program
    assert verdict.spec == "Remove every node that no output needs.", "the whole sentence"
    assert verdict.spec in " ".join(slot("u99.sweep").doc.split())


def test_same_seed_same_counterexample():
    with plugged("u99.sweep", lambda graph: graph):
        assert check("u99.sweep").to_json() == check("u99.sweep").to_json()


def test_every_mutant_fails_and_our_answer_passes():
    for name in ("u99.sweep", "u99.bytes", "u99.dead", "u99.until"):
        entry = slot(name)
        assert verdict_of(entry, entry.reference).earned == entry.points
        assert mutants_of(name)
        for mutant in mutants_of(name).values():
            assert verdict_of(entry, mutant).earned == 0


def test_budget_pays_in_part():
    def wasteful(step, graph):
        for _ in range(3):
            graph = step(graph)
        return step(graph)

    with plugged("u99.until", wasteful):
        verdict = check("u99.until")
    assert verdict.kind == "passed" and verdict.earned == 1.0
    assert verdict.tried == ("4 calls, 2 are enough",)


def test_check_reaches_the_library_and_the_answer_reaches_the_students_plugs():
    implements("u99.bytes")(lambda: 7)

    @implements("u99.dead")
    def dead():
        graph = trace(lambda x: -x, f"f32[{slot('u99.bytes').call()}]")
        return Graph("dead", graph.inputs, (*graph.nodes, -graph.inputs[0]), graph.outputs)

    seen = []
    (only,) = checks_of("u99.dead")
    original = only.function

    def spy(answer):
        seen.append((slot("u99.bytes").call(), answer().inputs[0].type.dims))
        return original(answer)

    object.__setattr__(only, "function", spy)
    try:
        assert check("u99.dead").kind == "passed"
    finally:
        object.__setattr__(only, "function", original)
    assert seen == [(24, (7,))]


def test_answer_cannot_change_the_checks_own_program():
    graph = trace(lambda x: x * 2.0, "f32[2]")

    def spoil(g):
        g.constants[0].value.setflags(write=True)
        g.constants[0].value[...] = 5
        return g

    with plugged("u99.sweep", spoil):
        Here(slot("u99.sweep"))(graph)
    assert graph.constants[0].value == 2.0


def test_what_the_answer_printed_is_shown_with_the_failure(capsys):
    def talks(graph):
        print("nodes:", len(graph.nodes))
        return graph

    with plugged("u99.sweep", talks):
        verdict = check("u99.sweep")
    assert verdict.printed == "nodes: 2\n" and not capsys.readouterr().out


def test_nothing_is_raised_in_a_notebook():
    for answer in (lambda graph: 1 / 0, lambda: None, lambda graph: object()):
        with plugged("u99.sweep", answer):
            assert check("u99.sweep").kind in ("crashed", "wrong")
    assert check("u99.sweep").kind == "not attempted"
    assert "nothing written yet" in str(check("u99.why"))


def test_text_of_a_passing_check_is_quiet():
    with plugged("u99.sweep", slot("u99.sweep").reference):
        text = as_text(check("u99.sweep"))
    assert text.startswith("u99.sweep: passed (3 of 3 points)\n  80 random programs\n  Unit 99: ")


def test_failure_says_everything_in_order(golden):
    with plugged("u99.sweep", lambda graph: Graph.of(graph.inputs, graph.inputs, graph.name)):
        verdict = check("u99.sweep")
    golden("verdict_wrong.txt", as_text(verdict) + "\n")
    page = as_html(verdict)
    order = ["not yet right", "The smallest program", "Got", "Stuck?"]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)


def test_html_is_escaped_and_fetches_nothing():
    verdict = Verdict("u99.sweep", "crashed", 3, problem="<b>", error="<script>alert(1)</script>")
    page = as_html(verdict)
    assert "<script" not in page and "&lt;script&gt;" in page and "http" not in page


def test_time_that_ends_while_shrinking_does_not_change_the_verdict():
    calls = []

    def wrong_then_slow(graph):
        calls.append(graph)
        if len(calls) > 3:
            raise TimedOut
        return graph if len(calls) < 3 else None

    verdict = judge("u99.sweep", wrong_then_slow)
    assert verdict.kind == "wrong" and len(calls) == 4, verdict


def test_leaving_politely_is_an_error_in_a_notebook_too():
    with plugged("u99.sweep", lambda graph: sys.exit("bye")):
        verdict = check("u99.sweep")
    assert verdict.kind == "crashed" and verdict.error == "SystemExit: bye"


def test_long_difference_is_shown_at_once():
    mine = "\n".join(f"%{i} = add(%{i - 1}, %{i - 2}) : f32[4]" for i in range(500))
    ours = mine.replace("%1 = add", "%1 = mul").replace("%40", "%x40")
    text = as_text(Verdict("u99.sweep", "wrong", 3, problem="No.", got=mine, expected=ours))
    assert "- %1 = add(%0, %-1)" in text and "+ %1 = mul(%0, %-1)" in text
    assert "  %499 = add(%498, %497)" in text and text.count("\n") < 700


def test_what_cannot_be_drawn_is_shown_as_text(monkeypatch):
    page = as_html(Verdict("u99.sweep", "wrong", 3, problem="No.", program="graph @odd"))
    assert "<pre>graph @odd</pre>" in page and "<svg" not in page
    odd = trace(lambda x: -x, "f32[2]")
    assert pictures.picture(odd).startswith("<svg")
    monkeypatch.setattr(pictures, "graph", lambda *args, **kwargs: {}[args])
    assert pictures.picture(odd) == ""


def test_large_graphs_are_not_drawn():
    def chain(length):
        return trace(lambda x: reduce(lambda y, _: -y, range(length), x), "f32[2]")

    assert pictures.picture(chain(50)) and not pictures.picture(chain(500))
    many = trace(lambda x: apply("concat", *[x] * 300, axis=0), "f32[2]")
    wordy = trace(lambda x: apply("neg", x, name="n" * 9000), "f32[2]")
    assert not pictures.picture(many) and not pictures.picture(wordy)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "perfect"},
        {"earned": float("nan")},
        {"earned": "3"},
        {"points": None},
        {"problem": ["a"]},
        {"problem": "x" * 200_000},
        {"tried": [1]},
        {"marked": "abc"},
        {"line": "7"},
        {"hidden": 1},
        {"pictures": [["got", "<svg><script>1</script></svg>"]]},
        {"pictures": [["got", "<svg onload='1'></svg>"]]},
        {"pictures": [["got", "<svg><a href='javascript:1'></a></svg>"]]},
        {"pictures": [["got", "<svg><style>@import url(http://x)</style></svg>"]]},
        {"pictures": [["got", "<svg><!-- --></svg>"]]},
        {"pictures": [["got", "<p>no picture</p>"]]},
        {"pictures": [["other", "<svg></svg>"]]},
    ],
    ids=str,
)
def test_a_verdict_from_another_process_is_looked_at(change):
    good = Verdict("u99.sweep", "wrong", 3, problem="No.").to_json()
    assert Verdict.from_json(good).problem == "No."
    with pytest.raises((ValueError, TypeError)):
        Verdict.from_json({**good, **change})


def test_what_broke_in_the_grader_is_not_shown_to_students():
    verdict = Verdict("u99.sweep", "grader", 3, None, problem="/home/x", error="File '/home/x'")
    assert "/home" not in as_text(verdict) + as_html(verdict)
    assert "/home" in json.dumps(verdict.to_json())


def test_marked_node_is_marked_in_the_text():
    text = "graph @f(%x: f32[2]) -> (f32[2]) {\n  %0 = neg(%x) : f32[2]\n  return %0\n}\n"
    page = as_html(Verdict("u99.sweep", "wrong", 3, problem="p", got=text, marked=("0",)))
    assert "<mark>  %0 = neg(%x) : f32[2]</mark>" in page


def test_verdict_is_plain_data():
    verdict = Verdict("u99.sweep", "wrong", 3, problem="p", marked=("0",), tried=("a", "b"))
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_what_only_the_grader_knows_is_judged_later(monkeypatch):
    """Where our answer is not at hand, an answer of the right form is neither right nor wrong."""
    entry, known = slot("u99.bytes"), slot("u99.bytes").reference()

    def is_ours(answer):
        """As we answer."""
        if answer() != framework.ours("u99.bytes"):
            raise Wrong("It is another number.")

    one = Check("u99.bytes", "is_ours", is_ours, None, 1, 0, False, ())
    monkeypatch.setattr(judging, "checks_of", lambda name, with_hidden: [one])
    assert judge("u99.bytes", lambda: known).kind == "passed"
    assert judge("u99.bytes", lambda: known + 1).kind == "wrong"

    def shorn():
        raise NotAnswered("u99.bytes")

    monkeypatch.setattr(entry, "reference", shorn)
    right, wrong = (judge("u99.bytes", lambda n=n: n) for n in (known, known + 1))
    assert right == wrong and right.kind == "later" and right.earned is None
    assert "– of" in repr(right) and "when it is graded" in repr(right)
    assert "verdict open" in as_html(right)
    assert "As we answer" not in as_text(right) + as_html(right), "only its form was looked at"


def test_validate_says_what_an_exercise_lacks():
    assert problems_of(slot("u99.sweep")) == []
    assert "it has no hints" in problems_of(slot("u99.until"))


def test_a_check_that_draws_nothing_is_not_asked_again_hidden():
    name = checks_of("u99.bytes")[0].name
    with pytest.raises(ValueError, match=f"{name} draws nothing"):
        framework.harder("u99.bytes", name, seed=1)


@pytest.mark.parametrize("name, wanted", [("u99.bytes", False), ("u99.sweep", True)])
def test_only_an_exercise_with_arguments_needs_a_hidden_check(monkeypatch, name, wanted):
    monkeypatch.setattr(exercise, "checks_of", lambda slot, with_hidden: checks_of(slot))
    assert ("it has no hidden check" in own_problems(slot(name))) == wanted


def test_validate_finds_a_mutant_that_passes(monkeypatch):
    monkeypatch.setitem(mutants_of("u99.sweep"), "right", slot("u99.sweep").reference)
    assert any("the mutant right is not rejected" in p for p in problems_of(slot("u99.sweep")))


def test_validate_looks_at_the_notebook(source, monkeypatch):
    """Of the functions that students have it tries two; test_leaks.py has it try all."""
    two = ("course_lib.passes.clean.cse.cse", "course_lib.ir.graph.order.topological_order")
    monkeypatch.setattr(borrowed, "_callable", lambda unit: two)
    assert leaks(source, source.exercises()) == []
    rows = {row.name: row for row in validate(99, EXAMPLE)}
    assert rows["u99_example"].problems == ()
    assert rows["u99.sweep"].cells[1:3] == ("4/4", "1/1") and len(rows["u99.sweep"].cells) == 7


def test_checks_are_reproducible_by_their_seed():
    (first, *_) = checks_of("u99.sweep")
    seen: list[list[str]] = []
    for _ in range(2):
        programs: list[str] = []
        perform(first, lambda graph, p=programs: p.append(repr(graph)) or graph)
        seen.append(programs)
    assert seen[0] == seen[1] and len(seen[0]) >= 40


def test_a_crash_shows_the_call_that_was_made_and_not_what_the_check_drew():
    """The check draws widths; `encode` takes values and fields."""
    with using({"u13.encode": lambda values, fields: values[len(values)]}):
        verdict = judge("u13.encode", Here(slot("u13.encode")))
    assert verdict.kind == CRASHED and verdict.program == "encode([0], [('alpha', 1, False)])"
