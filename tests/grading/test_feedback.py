"""What a learner reads: short, without addresses, with the smallest program, and blaming nobody
for what somebody else did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import check
from autograder.check import framework
from autograder.check.feedback import as_html
from autograder.check.framework import Crashed, Wrong, checks_of
from autograder.check.judging import judge
from autograder.check.programs import deep
from autograder.check.properties import raises
from autograder.check.shown import LINES, call_shown, shown, shown_pair
from autograder.check.shrink import size, smaller, smallest
from autograder.check.verdict import WRONG, Verdict, as_text
from autograder.soundness.verdicts import verdict_of
from course_lib.exercises import plugged, slot
from course_lib.ir.graph.build import neg, relu, tanh, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify

# ── texts ──


def test_long_texts_say_how_much_is_left_out():
    text = shown(deep(312 + LINES - 3))  # and three lines around the operations
    assert text.endswith("... and 312 more lines") and text.count("\n") == LINES
    assert shown(None) == "" and shown("a\nb") == "a\nb"


def test_a_program_in_a_call_stands_below_it_in_its_own_lines():
    """Not as one line with \\n in it; two programs stay where they are."""
    text = "builtin.module {\n}\n"
    assert call_shown("u10.sunk", (text,), {}) == f"sunk(text), where text is\n{text}"
    assert call_shown("u11.turns", (text, 2), {}) == f"turns(text, 2), where text is\n{text}"
    assert (
        call_shown("u11.turns", (2,), {"of": text}) == f"turns(2, of=text), where text is\n{text}"
    )
    assert call_shown("u99.two", ("a\n", "b\n"), {}) == "two('a\\n', 'b\\n')"
    assert call_shown("u99.one", ("a",), {}) == "one('a')"


def test_a_graph_in_a_call_stands_below_it_and_names_the_nodes_of_the_others():
    graph = trace(lambda x: relu(relu(x)), "f32[2]")
    first, second = graph.ops
    said = call_shown("u14.merged", (graph, [[first], [second]]), {})
    assert said == f"merged(graph, [[%0], [%1]]), where graph is\n{shown(graph)}"
    said = call_shown("u14.chosen", (graph, {first: 3}), {"host": {second: 4}})
    assert str(said).startswith("chosen(graph, {%0: 3}, host={%1: 4}), where graph is\n")


def test_nothing_that_is_shown_holds_an_address():
    assert shown(object()) == "<object object>"
    with plugged("u99.sweep", lambda graph: _raise_with(object())):
        assert " at 0x" not in repr(check("u99.sweep"))


def _raise_with(value):
    raise ValueError(f"it is {value}")


def test_a_difference_far_down_is_in_sight():
    before = deep(500)
    after = replace(before, outputs=(before.ops[-2],))
    got, expected = shown_pair(before, after)
    assert got.startswith("... ") and "return %499" in got and "return %498" in expected
    assert shown_pair("a\nb", "a\nc") == ("a\nb", "a\nc")


def test_the_right_exception_is_named():
    def call(error):
        raise error

    raises(ValueError, lambda: call(Crashed("ValueError: no")), "No rest: ValueError.")
    kinds = ("NoRest", "ValueError", "Exception", "BaseException", "object")
    raises(ValueError, lambda: call(Crashed("NoRest: no", kinds=kinds)), "A subclass will do.")
    with pytest.raises(Wrong) as other:
        raises(ValueError, lambda: call(Crashed("KeyError: 'x'")), "It is wrong.", spec="words")
    assert (other.value.got, other.value.expected) == ("KeyError: 'x'", "ValueError")
    with pytest.raises(Wrong, match="raised nothing") as nothing:
        raises(ValueError, lambda: 7, "It is wrong.")
    assert "int" in nothing.value.got and nothing.value.expected == "ValueError"


def test_a_card_says_in_words_what_was_checked_and_not_by_which_function():
    with plugged("u99.sweep", lambda graph: graph):
        verdict = check("u99.sweep")
    for card in (as_text(verdict), as_html(verdict)):
        assert "Checked: No dead operation is left." in card
        assert verdict.check == "leaves_nothing_dead" and verdict.check not in card


# ── the smallest program ──


def eighteen() -> Graph:
    """Eighteen operations, of which a matmul of a transpose is the trouble."""

    def program(x, y):
        for _ in range(7):
            x = relu(neg(x))
        z = tanh(transpose(y, (1, 0)) @ x)
        return z + z * 2.0, x

    return trace(program, "f32[4,4]", "f32[4,4]")


def has_the_trouble(graph: Graph) -> bool:
    return any(n.op == "matmul" and n.inputs[0].op == "transpose" for n in graph.ops)


def test_two_operations_are_left_of_eighteen():
    before = eighteen()
    assert len(before.ops) >= 18 and has_the_trouble(before)
    after = smallest(before, has_the_trouble, calls=200)
    assert [n.op for n in after.ops] == ["transpose", "matmul"]
    assert {n.type.dims for n in after.nodes} == {(1, 1)} and len(after.outputs) == 1


def test_every_step_is_a_valid_smaller_program_and_the_calls_are_counted():
    before, calls = eighteen(), []
    for candidate in smaller(before):
        verify(candidate)
        assert candidate.ops
    smallest(before, lambda graph: bool(calls.append(graph)), calls=17)
    assert len(calls) == 17 and all(size(graph) < size(before) for graph in calls)


def test_a_wrong_answer_is_shown_on_a_program_that_holds_nothing_else():
    reference = slot("u99.sweep").reference

    def keeps_dead_ones_behind_a_product(graph):
        """Wrong where a sum reads a product."""
        pairs = [
            (n, i) for n in graph.ops for i in n.inputs if n.op == "add" and i.op in ("mul", "add")
        ]
        return graph if pairs else reference(graph)

    with plugged("u99.sweep", keeps_dead_ones_behind_a_product):
        verdict = check("u99.sweep")
    assert verdict.kind == "wrong"
    assert len(parse_graph(verdict.program).ops) <= 3, verdict.program


# ── whose fault it is ──


@pytest.fixture
def instead(monkeypatch):
    """instead("u99.dead", function): the only check of that exercise is this one."""

    def put(name, function):
        (only,) = checks_of(name)
        monkeypatch.setitem(framework._checks[name], only.name, replace(only, function=function))

    return put


def test_a_check_that_stumbles_over_a_value_blames_the_answer(instead):
    instead("u99.dead", lambda dead: f"{len(dead().ops)} operations")
    verdict = judge("u99.dead", lambda: 7)
    assert verdict.kind == "wrong" and verdict.earned == 0
    assert "The result cannot be used" in verdict.problem and "'int'" in verdict.problem
    assert judge("u99.dead", slot("u99.dead").reference).kind == "passed"


def test_a_check_that_fails_on_our_answer_too_is_the_checkers_fault(instead):
    instead("u99.dead", lambda dead: {}["missing"])
    verdict = verdict_of(slot("u99.dead"), slot("u99.dead").reference)
    assert verdict.kind == "grader" and verdict.earned is None


def test_a_check_may_draw_from_the_run_of_the_grader(instead):
    seen = []
    instead("u99.bytes", lambda answer, rng: seen.append(int(rng.integers(10**9))))
    for seed in (0, 0, 1):
        judge("u99.bytes", lambda: 24, seed=seed)
    assert seen[0] == seen[1] != seen[2]


def test_a_program_that_the_student_wrote_is_not_called_the_smallest():
    theirs = Verdict("u02.every_pass", WRONG, 3, problem="No.", program="a\nb", smallest=True)
    mine = replace(theirs, own=True)
    assert "The smallest program that shows it" in as_text(theirs)
    assert "The smallest program" not in as_text(mine) and "The program" in as_text(mine)
    assert Verdict.on(slot("u02.every_pass"), WRONG).own
    assert not Verdict.on(slot("passes.dce"), WRONG).own
    picture = (("program", '<svg viewBox="0 0 1 1"></svg>'),)
    for verdict in (theirs, mine):
        assert "<figure><svg" in as_html(replace(verdict, pictures=picture))
