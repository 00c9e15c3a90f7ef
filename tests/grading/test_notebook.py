"""Predictions, and the cells that wait for an answer."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter

from autograder import check, compare, notebook, predict, unplug
from autograder.check import here
from autograder.check.feedback import as_html
from autograder.check.verdict import STUB, UNPLUGGED, Verdict
from autograder.notebook import PREDICTIONS, needs
from course_lib.exercises import implements, slot


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def said(capsys) -> str:
    return capsys.readouterr().out.strip()


def test_guess_is_kept_and_compared(capsys):
    predict("u99.nodes", 40, unit="nodes")
    assert said(capsys) == "Kept: you say 40 nodes."
    compare("u99.nodes", 57)
    assert said(capsys) == "You said 40 nodes; it is 57 nodes. 1.4 times too low."


def test_guess_survives_a_new_kernel_and_can_change(capsys):
    predict("u99.nodes", 40)
    predict("u99.bytes", 1.5, unit="MB")
    predict("u99.nodes", 50)
    kept = json.loads(PREDICTIONS.read_text())
    assert kept == {
        "u99.nodes": {"value": 50, "unit": ""},
        "u99.bytes": {"value": 1.5, "unit": "MB"},
    }


def test_dots_are_no_guess(capsys):
    predict("u99.nodes", "nine", unit="nodes")
    assert said(capsys) == "This guess is a number of nodes, and 'nine' is none: nothing was kept."
    predict("u99.nodes", ...)
    assert "Type your own guess" in said(capsys) and not PREDICTIONS.exists()
    compare("u99.nodes", 57, unit="nodes")
    assert said(capsys) == "It is 57 nodes. You made no prediction for u99.nodes."


def test_verdict_shows_itself_as_text_and_in_a_notebook_as_html():
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    shell.register_magic_function = lambda *_, **__: None
    shell.events = SimpleNamespace(register=lambda *_: None)
    notebook.load_ipython_extension(shell)
    verdict = Verdict("u99.sweep", "passed", 3, 3.0, tried=("50 random programs",))
    shown, _ = shell.display_formatter.format(verdict)
    assert shown["text/plain"] == "u99.sweep: passed (3 of 3 points)\n  50 random programs"
    assert '<section class="verdict passed"' in shown["text/html"]


@pytest.mark.parametrize(
    "name, problem",
    [
        ("u99.swep", "No exercise is named 'u99.swep'. Did you mean 'u99.sweep'?"),
        ("passes.dec", "No exercise is named 'passes.dec'. Did you mean 'passes.dce'?"),
        ("nope", "No exercise is named 'nope'."),
        ("", "No exercise is named ''."),
        (len, 'An exercise is named by a text, as in check("u02.zero")'),
    ],
)
def test_a_name_that_does_not_exist_is_said_and_nothing_raises(name, problem):
    verdict = check(name)
    text, page = repr(verdict), as_html(verdict)
    assert problem in text and "there is no such exercise" in text
    assert "hint(" not in text and "points" not in text and 'class="points"' not in page


@pytest.mark.parametrize("content", ["", "[1]", "{broken"])
def test_damaged_file_is_no_error(content, capsys):
    PREDICTIONS.write_text(content)
    compare("u99.nodes", 57)
    predict("u99.nodes", 57)
    compare("u99.nodes", 57)
    assert "Within 10 %" in said(capsys)


@pytest.mark.parametrize(
    ("guess", "actual", "unit", "words"),
    [
        (40, 57, "% of the bytes", " 17 percentage points too low."),
        (20, -4, "% more clocks", " 24 percentage points too high."),
        (-5, -7.5, "percent", " 2.5 percentage points too high."),
        (57, 57.4, "%", " Nearly right."),
    ],
)
def test_a_wrong_direction_and_a_percentage_are_told_as_differences(
    guess, actual, unit, words, capsys
):
    predict("u99.x", guess, unit=unit)
    capsys.readouterr()
    compare("u99.x", actual, unit=unit)
    assert said(capsys).endswith(f"{unit}.{words}")


@pytest.mark.parametrize(("guess", "actual"), [("cse", "dce"), (0, 3), (3, 0), (-1, 2)])
def test_what_has_no_ratio_is_compared_in_words(guess, actual, capsys):
    predict("u99.x", guess)
    compare("u99.x", actual)
    assert said(capsys).endswith(f"You said {guess}; it is {actual}.")


def test_cell_waits_for_every_answer_that_it_needs(capsys):
    ran = []
    needs("u99.sweep u99.bytes", "cell", lambda *cell: ran.append(cell))
    assert "needs your answer to u99.sweep, u99.bytes" in said(capsys) and not ran
    implements("u99.sweep")(lambda graph: graph)
    needs("u99.sweep u99.bytes", "cell", lambda *cell: ran.append(cell))
    assert "needs your answer to u99.bytes." in said(capsys)
    implements("u99.bytes")(lambda: 1)
    needs("u99.sweep u99.bytes", "cell", lambda *cell: ran.append(cell))
    assert ran == [("cell", False)]
    assert "uses your answer to u99.sweep, u99.bytes, but they have not passed" in said(capsys)


def test_a_cell_says_nothing_of_an_answer_that_has_passed(capsys):
    implements("u99.sweep")(slot("u99.sweep").reference)
    assert check("u99.sweep").kind == "passed"
    capsys.readouterr()
    needs("u99.sweep", "cell", lambda *cell: None)
    assert said(capsys) == ""
    implements("u99.sweep")(lambda graph: graph)  # a new answer has not passed yet
    needs("u99.sweep", "cell", lambda *cell: None)
    assert "uses your answer to u99.sweep, but it has not passed yet." in said(capsys)


def test_a_cell_that_needs_an_exercise_that_does_not_exist_says_so(capsys):
    ran = []
    needs("u99.sweep u99.swep", "cell", lambda *cell: ran.append(cell))
    assert said(capsys) == "No exercise is named 'u99.swep'. Did you mean 'u99.sweep'?"
    assert not ran


def test_a_cell_says_which_package_it_needs(capsys, monkeypatch):
    from autograder.check import packages

    ran = []
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    needs("xdsl u99.sweep", "cell", lambda *cell: ran.append(cell))
    assert "needs the package xdsl: pip install 'course-lib[mlir]'." in said(capsys)
    assert not ran
    monkeypatch.setattr(packages, "find_spec", lambda name: "there")
    needs("xdsl", "cell", lambda *cell: ran.append(cell))
    assert ran == [("cell", True)]


def test_check_leaves_nothing_beside_the_notebook(tmp_path):
    from autograder.check.examples import examples_of

    examples_of.cache_clear()
    implements("u99.sweep")(lambda graph: graph)
    assert check("u99.sweep").kind == "wrong"
    assert list(tmp_path.iterdir()) == []


def test_an_endless_answer_is_stopped_and_the_call_is_shown(monkeypatch):
    monkeypatch.setattr(here, "CALL", 0.2)

    @implements("u99.bytes")
    def forever():
        while True:
            pass

    verdict = check("u99.bytes")
    assert verdict.kind == "timed out" and verdict.program == "bytes()"
    assert "does it end?" in str(verdict)


def test_not_attempted_says_whether_the_cell_ran_and_what_it_held():
    assert str(check("u99.sweep")) == (
        "u99.sweep: not attempted yet (0 of 3 points)\n"
        "  Nothing is plugged in: the exercise's cell has not run yet, or has no `@implements` "
        "line with the exercise's name. Write the function in the exercise cell, run that cell, "
        "then run this one.\n"
        '  Stuck?\n    hint("u99.sweep") gives the next hint.'
    )

    @implements("u99.sweep")
    def sweep(graph):
        raise NotImplementedError("write your answer here")

    assert check("u99.sweep").problem == STUB
    implements("u99.sweep")(slot("u99.sweep").reference)
    unplug("u99.sweep")
    assert check("u99.sweep").problem == UNPLUGGED


def test_not_attempted_says_that_a_function_is_half_written_or_calls_one_that_is():
    @implements("u99.sweep")
    def sweep(graph):
        if graph is None:
            return graph
        raise NotImplementedError("write your answer here")

    problem = check("u99.sweep").problem
    assert "the rest is not written yet" in problem
    assert '`raise NotImplementedError("write your answer here")`' in problem

    outside = {}
    exec("def until():\n    raise NotImplementedError('until is not written')", outside)

    @implements("u99.sweep")
    def calls(graph):
        return outside["until"]()

    problem = check("u99.sweep").problem
    assert "calls something that raises NotImplementedError" in problem
    assert '`return outside["until"]()`. It says: until is not written' in problem


def test_a_crash_shows_the_call_that_led_to_it():
    implements("u99.bytes")(lambda: 1 // 0)
    verdict = check("u99.bytes")
    assert verdict.kind == "crashed" and verdict.program == "bytes()"
    assert "The call" in str(verdict)


def test_an_argument_that_an_answer_changes_is_named():
    @implements("ir.graph.topological_order")
    def pops(roots, done=frozenset()):
        order = []
        while roots:
            order += slot("ir.graph.topological_order").reference([roots.pop(0)], {*order, *done})
        return order

    verdict = check("ir.graph.topological_order")
    assert verdict.problem == "`roots` is no longer what was given. Work on a copy of it."
    assert verdict.kind == "wrong" and not verdict.spec and "[input()" in verdict.program


def test_a_result_that_cannot_be_used_shows_the_call(monkeypatch):
    implements("u99.bytes")(lambda: object())
    verdict = check("u99.bytes")
    assert "it must be a valid graph, or plain data" in verdict.problem
    assert verdict.program == "bytes()"
    implements("u99.bytes")(lambda: test_a_result_that_cannot_be_used_shows_the_call)
    said = check("u99.bytes").problem
    assert said.endswith("A function is not plain data. Was it meant to be called?")
