"""What a notebook says besides verdicts: a cell that failed, how far one is, that a check runs."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder import check, implements, notebook, unplug
from autograder.check import attempts, here, overview, waiting
from autograder.check.alarm import alarm
from autograder.check.cards import Card, Note, Table
from autograder.check.feedback import as_html
from autograder.check.overview import exercises_in, key_of_this_notebook
from autograder.check.received import received
from autograder.check.verdict import BY_HAND, NOT_ATTEMPTED, PASSED, STUB, WRONG, Verdict
from autograder.check.waiting import Stopped, Waiting
from course_lib.exercises import slot

RIGHT = """from course_lib.exercises import implements, slot
@implements("u99.bytes")
def bytes_read():
    return 24
"""


@pytest.fixture(autouse=True)
def nothing_judged(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(overview, "_judged", {})
    monkeypatch.setattr(attempts, "_failed", {})


# ── a cell that failed ──


@pytest.fixture
def cell(monkeypatch):
    """cell(code) runs a cell of a notebook; errors are shown and not raised."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    module = ModuleType("a_notebook")
    shell = InteractiveShell(user_module=module, config=Config(HistoryManager={"enabled": False}))
    attempts.watch(shell)
    yield shell.run_cell
    sys.modules.pop("a_notebook", None)


def test_a_cell_that_does_not_compile_is_not_checked_as_it_was_before(cell):
    cell(RIGHT)
    assert check("u99.bytes").kind == "passed"
    cell(RIGHT.replace("24", "(24"))
    verdict = check("u99.bytes")
    assert (verdict.kind, verdict.earned, verdict.line) == ("crashed", 0, 4)
    assert verdict.problem == (
        "The cell with your answer stopped before its end: SyntaxError in line 4. "
        "Your earlier answer is still plugged in, and was not checked again."
    )
    assert verdict.code == "return (24" and verdict.error.startswith("SyntaxError: ")
    cell(RIGHT.replace("24", "25 - 1"))
    assert check("u99.bytes").kind == "passed"


def test_a_first_version_that_does_not_compile_says_that_nothing_is_plugged_in(cell):
    cell("from course_lib.exercises import implements\n@implements('u99.bytes')\ndef b(:\n    pass")
    verdict = check("u99.bytes")
    assert verdict.kind == "crashed" and "line 3. So nothing is plugged in" in verdict.problem


def test_a_cell_that_raises_before_its_function_is_not_checked(cell):
    cell(RIGHT)
    cell("width = 1 // 0\n" + RIGHT)
    verdict = check("u99.bytes")
    assert "ZeroDivisionError in line 1. Your earlier answer" in verdict.problem
    assert verdict.code == "width = 1 // 0"


def test_a_cell_that_raises_after_its_function_is_checked(cell):
    cell(RIGHT.replace("24", "'many'"))
    cell(RIGHT + "undefined")
    assert check("u99.bytes").kind == "passed"


def test_a_cell_that_gives_the_same_function_again_and_then_raises_is_checked(cell):
    cell("from course_lib.exercises import implements\ndef mine():\n    return 24")
    for _ in range(2):
        cell("implements('u99.bytes')(mine)\nundefined")
        assert check("u99.bytes").kind == "passed"


def test_a_stub_whose_cell_raises_behind_it_is_said_to_be_a_stub(cell):
    stub = "@implements('u99.bytes')\ndef b():\n    raise NotImplementedError\n"
    cell("from course_lib.exercises import implements\n" + stub + "undefined")
    verdict = check("u99.bytes")
    assert (verdict.kind, verdict.problem) == (NOT_ATTEMPTED, STUB)


def test_a_failure_is_over_when_any_cell_gives_an_answer(cell):
    cell(RIGHT.replace("24", "(24"))
    cell(RIGHT.replace('"u99.bytes"', '"u99." + "bytes"') + "undefined")
    assert check("u99.bytes").kind == "passed"


def test_other_cells_and_comments_change_nothing(cell):
    cell(RIGHT)
    cell("1 / 0")
    cell('# @implements("u99.bytes")\n1 / 0')
    cell("print(\"@implements('u99.bytes')\", 1 / 0)")
    assert check("u99.bytes").kind == "passed"


def test_only_the_exercises_of_that_cell_are_concerned(cell):
    cell(RIGHT)
    cell('@implements("u99.live")\ndef live(graph) return 1')
    assert check("u99.bytes").kind == "passed" and check("u99.live").kind == "crashed"


# ── how far one is ──


def test_check_without_a_name_lists_the_unit_and_says_what_is_next():
    implements("u99.sweep")(slot("u99.sweep").reference)
    implements("u99.bytes")(lambda: "many")
    check("u99.sweep")
    text = str(check())
    assert text.startswith("Unit 99: 3 of 10 points so far\n")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines()}
    assert rows["u99.sweep"] == "passed 3 of 3"
    assert rows["u99.bytes"] == "not yet right 0 of 1"  # it was not checked before
    assert rows["u99.dead"] == "not attempted yet 0 of 2"
    assert rows["u99.why"] == "read and graded by a person – of 2"
    assert rows["u99.live"] == "not attempted yet 0 of 2" and "Further, for a bonus" in text
    assert "A person grades answers in words: 2 of the points. Bonus: 0 of 2 points." in text
    assert "Next: u99.bytes, 1 point." in text.replace("`", "")


def test_an_exercise_is_not_judged_again_before_its_answer_changes(monkeypatch):
    implements("u99.sweep")(slot("u99.sweep").reference)
    check("u99.sweep")
    with monkeypatch.context() as patch:
        patch.setattr(notebook, "judge", None)
        assert "passed" in str(check())
    implements("u99.sweep")(lambda graph: graph)
    assert "not yet right" in str(check())


def test_a_card_that_passed_has_the_sum_and_the_next_step():
    implements("u99.sweep")(slot("u99.sweep").reference)
    verdict = check("u99.sweep")
    assert verdict.so_far == "Unit 99: 3 of 10 points so far. Next: `u99.bytes`, 1 point."
    assert str(verdict).endswith("\n  " + verdict.so_far)
    assert "Next: <code>u99.bytes</code>, 1 point." in as_html(verdict)
    assert received(verdict.to_json())["so_far"] == verdict.so_far


IN_WORDS = "What is left of the core is answered in words: `u99.why`."
FURTHER = "Further: `u99.live`, 2 bonus points."


@pytest.mark.parametrize(
    "left, words",
    [
        ({"why": BY_HAND, "live": WRONG}, IN_WORDS + " " + FURTHER),
        ({"live": NOT_ATTEMPTED}, "The core of the unit is done. " + FURTHER),
        ({}, "The core of the unit is done."),
    ],
)  # fmt: skip
def test_the_next_step_when_the_core_has_passed(left, words):
    names = ("sweep", "why", "live")
    verdicts = [
        Verdict(f"u99.{name}", left.get(name, PASSED), 2, 2.0 * (name not in left),
                further=name == "live")
        for name in names
    ]  # fmt: skip
    assert overview._next("u99", verdicts) == words


def test_the_unit_is_that_of_the_open_notebook(monkeypatch):
    implements("passes.dce")(lambda graph: graph)
    assert key_of_this_notebook() == "u02"  # by what was answered last
    implements("u99.bytes")(lambda: 24)
    assert key_of_this_notebook() == "u99"
    monkeypatch.setenv("JPY_SESSION_NAME", "course/u02_rewrites-Copy1.ipynb")
    assert key_of_this_notebook() == "u02"
    unplug()


def test_without_any_exercise_the_unit_is_asked_for():
    said = check()
    assert isinstance(said, Note) and "Which unit?" in str(said)


def test_exercises_come_as_the_notebook_in_this_folder_has_them(tmp_path):
    usual = [entry.name for entry in exercises_in("u99")]
    titles = ["#### Exercise `u99.why` · 2 points", "#### Exercise `u99.bytes` · 1 point"]
    cells = [{"cell_type": "markdown", "source": [title]} for title in titles]
    (tmp_path / "u99_example.ipynb").write_text(json.dumps({"cells": cells}))
    listed = [entry.name for entry in exercises_in("u99")]
    assert listed[:2] == ["u99.why", "u99.bytes"] and sorted(listed) == sorted(usual)
    (tmp_path / "u99_example.ipynb").write_bytes(b"\xff\xfe{")
    assert [entry.name for entry in exercises_in("u99")] == usual


def test_a_table_in_a_terminal_has_columns():
    table = Table(
        ("Exercise", "State", "Points"), (("`a`", "passed", "3 of 3"), ("`bbb`", "", "2"))
    )
    assert str(table).splitlines() == [
        "Exercise  State   Points",
        "a         passed  3 of 3",
        "bbb                    2",
    ]
    page = Card("x < y", (table,))._repr_html_()
    assert "<code>bbb</code>" in page and '<td class="number">2</td>' in page and "x &lt; y" in page


# ── that a check runs ──


def forever():
    while True:
        pass


@pytest.fixture
def soon(monkeypatch):
    """What never ends is soon stopped, and sooner said to run."""
    monkeypatch.setattr(here, "CALL", 0.5)
    monkeypatch.setattr(waiting, "AFTER", 0.1)


class Terminal:
    def __init__(self, is_one: bool):
        self.text, self.is_one = "", is_one

    def isatty(self) -> bool:
        return self.is_one

    def write(self, text: str) -> None:
        self.text += text


@pytest.mark.parametrize("is_one", [True, False])
def test_an_endless_loop_is_said_to_run_in_a_terminal_and_nowhere_else(is_one, soon, monkeypatch):
    terminal = Terminal(is_one)
    monkeypatch.setattr(sys, "__stderr__", terminal)
    implements("u99.bytes")(forever)
    assert check("u99.bytes").kind == "timed out"
    lines = terminal.text.splitlines()
    assert len(lines) == is_one
    if is_one:
        assert "u99.bytes: your answer is still running" in lines[0]
        assert "stopped after 0.5 seconds of processor time, or 5 seconds by the clock" in lines[0]
        assert "To stop it now, press Ctrl+C." in lines[0]


def test_in_a_notebook_the_line_goes_away_with_the_verdict(soon, monkeypatch):
    from IPython import display

    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data)

    def put(note, display_id):
        shown.append(note)
        return Handle()

    monkeypatch.setattr(waiting, "in_notebook", lambda: True)
    monkeypatch.setattr(display, "display", put)
    implements("u99.bytes")(forever)
    assert check("u99.bytes").kind == "timed out"
    said, gone = shown
    assert "press the stop button" in str(said) and set(gone.values()) == {""}
    implements("u99.bytes")(lambda: 24)
    assert check("u99.bytes").kind == "passed" and len(shown) == 2  # what is quick says nothing


def test_many_slow_calls_say_it_once(monkeypatch):
    monkeypatch.setattr(waiting, "AFTER", 0.0)
    with Waiting("u99.sweep", 10) as line:
        monkeypatch.setattr(line, "_say", lambda: said.append(1))
        said: list[int] = []
        for _ in range(5):
            with alarm(10, "too long", line.look):
                line.look()
    assert said == [1]


def test_whoever_stops_a_check_reads_so_and_no_stack(monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    implements("u99.bytes")(stopped)
    with pytest.raises(KeyboardInterrupt) as error:
        check("u99.bytes")
    assert isinstance(error.value, Stopped) and error.value.__suppress_context__
    (line,) = error.value._render_traceback_()
    assert line == "You stopped the check of u99.bytes, so there is no verdict."
