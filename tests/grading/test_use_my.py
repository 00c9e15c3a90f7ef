"""`use_my`: answers of another notebook in this kernel, and what must not come of it.

The learner's folder is a temporary one; its notebook is that of unit 2 with cells filled in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import autograder.notebook as notebook_module
from autograder import mine
from autograder.check import elsewhere, overview
from autograder.check.cards import Note
from autograder.check.plugs import has_fallen, is_borrowed
from autograder.check.validating import RUN
from autograder.check.verdict import CRASHED, PASSED, Verdict
from autograder.grading.report import Report
from autograder.mine import borrow, use_my
from autograder.notebook import check, verdict_on
from course_lib import exercises
from course_lib.exercises import slot
from course_lib.ir.graph.parse import parse_graph
from course_lib.passes.clean.dce import dce
from course_lib.passes.infra.manager import PassError, run_passes

IMPORTS = (
    "from autograder import check, implements, use_my\nfrom course_lib.ir.graph.graph import Graph"
)
HELPER = "def keep(node, needed):\n    return node in needed or node.op == 'input'"
RIGHT = """@implements("passes.dce")
def dce(graph):
    needed = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in needed:
            needed.update(node.inputs)
    kept = tuple(n for n in graph.nodes if keep(n, needed))
    return Graph(graph.name, graph.inputs, kept, graph.outputs)"""
WRONG = '@implements("passes.dce")\ndef dce(graph):\n    return graph'
STUB = '@implements("passes.dce")\ndef dce(graph):\n    raise NotImplementedError("write")'
PROGRAM = parse_graph("""
graph @f(%x: f32[4]) -> (f32[4]) {
  %dead = exp(%x) : f32[4]
  %y = relu(%x) : f32[4]
  return %y
}
""")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(overview, "key_of_this_notebook", lambda: "u03")
    overview._judged.clear()
    return tmp_path


@pytest.fixture
def wrote(notebook: Callable[..., bytes]) -> Callable[..., int]:
    """A notebook of unit 2 with these cells, as it was saved."""
    return lambda *cells: Path("u02_rewrites.ipynb").write_bytes(notebook(*cells))


def test_an_answer_that_passes_is_plugged_in_with_the_helpers_that_it_needs(wrote):
    wrote(IMPORTS, "print('not run'); 1 / 0", HELPER, RIGHT, 'check("passes.dce")')
    said = borrow("u02")
    assert "Plugged in from u02_rewrites.ipynb: passes.dce." in repr(said)
    assert is_borrowed("passes.dce")
    assert [node.op for node in dce(PROGRAM).ops] == ["relu"]
    assert "keep" in slot("passes.dce").plugged.__wrapped__.__globals__  # type: ignore[union-attr]
    known = overview.known(slot("passes.dce"))
    assert known is not None and known.kind == PASSED, "a cell under %%needs says nothing"


def test_what_is_plugged_in_is_no_check_of_the_learners(wrote, monkeypatch):
    wrote(IMPORTS, HELPER, RIGHT)
    noted = []
    monkeypatch.setattr(notebook_module.record, "checked", noted.append)
    borrow("u02")
    assert is_borrowed("passes.dce") and not noted
    check("passes.dce")
    assert [verdict.exercise for verdict in noted] == ["passes.dce"]


def test_nothing_else_is_said_where_everything_is_plugged_in(wrote):
    wrote(IMPORTS, HELPER, RIGHT)
    said = borrow("passes.dce")
    assert isinstance(said, Note) and repr(said).count("\n") == 0


def test_a_wrong_answer_of_a_unit_stays_out_and_one_that_is_named_is_plugged_in(wrote):
    wrote(IMPORTS, WRONG)
    said = repr(borrow("u02"))
    assert "passes.dce" in said and "not yet right, so the library's own stays" in said
    assert slot("passes.dce").plugged is None
    assert "passes.dce (not yet right)" in repr(borrow("passes.dce"))
    assert len(dce(PROGRAM).ops) == 2


@pytest.mark.parametrize(
    "cell, words",
    [
        (STUB, "holds no answer yet"),
        ('raise ValueError("no")\n' + RIGHT, "stopped: ValueError: no"),
        ("import nowhere_at_all\n" + RIGHT, "stopped: ModuleNotFoundError"),
        ('raise SystemExit("bye")\n' + RIGHT, "stopped: SystemExit"),
        ("# passes.dce", "no cell of u02_rewrites.ipynb answers it"),
    ],
)
def test_a_cell_that_gives_no_answer_leaves_the_library_as_it_is(wrote, cell, words):
    wrote(IMPORTS, cell)
    assert words in repr(borrow("passes.dce"))
    assert exercises.plugs_now() == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff\xfe", b'{"cells": 3}', b'{"cells": [3]}', b'{"cells": [{}]}',
     b'{"cells": [{"cell_type": "code", "source": 3}]}', b"[" * 100_000,
     b'{"cells": [{"cell_type": "code", "source": "' + b"x" * 300_000 + b'"}]}'],
)  # fmt: skip
def test_a_file_that_is_no_notebook_is_said_and_plugs_in_nothing(content):
    Path("u02_rewrites.ipynb").write_bytes(content)
    said = repr(borrow("u02", "passes.dce"))
    assert "u02_rewrites.ipynb" in said and "Nothing is plugged in" in said
    assert exercises.plugs_now() == {}


@pytest.mark.parametrize("name", ["u02", "passes.dce", "u77", "nonsense", "u03", "", "../u02"])
def test_a_missing_notebook_or_name_is_said(name):
    assert "Nothing is plugged in." in repr(borrow(name))
    assert exercises.plugs_now() == {}


def test_the_learners_own_file_is_taken_and_no_newer_version_beside_it(wrote, notebook):
    wrote(IMPORTS, HELPER, RIGHT)
    Path("u02_rewrites.new.ipynb").write_bytes(notebook(IMPORTS, STUB))
    Path("u02_lab_other.ipynb").write_bytes(notebook(IMPORTS, WRONG))
    assert "u02_rewrites.ipynb: passes.dce" in repr(borrow("u02"))


def test_an_answer_of_this_notebook_stays(wrote):
    wrote(IMPORTS, HELPER, RIGHT)
    own = exercises.implements("passes.dce")(lambda graph: graph)
    assert "answered in this notebook, and stays" in repr(borrow("u02"))
    assert slot("passes.dce").plugged is own


RAISES = RIGHT.replace("    needed = set", "    graph.name != 'f' or {}['f']\n    needed = set")


def test_one_that_raises_later_falls_back_to_the_library_and_says_so_once(wrote, capsys):
    wrote(IMPORTS, HELPER, RAISES)
    use_my("passes.dce")
    assert is_borrowed("passes.dce")
    assert [node.op for node in dce(PROGRAM).ops] == ["relu"]
    assert [node.op for node in dce(PROGRAM).ops] == ["relu"]
    said = capsys.readouterr().out
    assert said.count("Your passes.dce was taken out") == 1
    assert "KeyError: 'f'" in said and "u02_rewrites.ipynb" in said
    assert slot("passes.dce").plugged is None


def test_one_that_fell_is_not_counted_as_plugged_in_while_others_compile(wrote):
    """`your_compiler` counts with the plugs of the kernel, each model in a block of its own."""
    wrote(IMPORTS, HELPER, RAISES)
    borrow("passes.dce")
    with exercises.using(exercises.plugs_now()):
        dce(PROGRAM)
    assert is_borrowed("passes.dce") and has_fallen(slot("passes.dce").plugged)
    assert elsewhere.in_use() == {}
    assert "Nothing of another notebook" in repr(borrow(False)) and exercises.plugs_now() == {}


def test_an_error_that_the_library_raises_too_is_raised(wrote, capsys):
    wrote(IMPORTS, HELPER, RIGHT)
    borrow("passes.dce")
    with pytest.raises(AttributeError):
        slot("passes.dce").run("no graph")
    assert is_borrowed("passes.dce") and capsys.readouterr().out == ""


def test_a_check_asks_a_borrowed_answer_itself_without_its_net(wrote):
    wrote(IMPORTS, HELPER, RIGHT.replace("    needed = set", "    {}['f']\n    needed = set"))
    use_my("passes.dce")
    assert check("passes.dce").kind == CRASHED


def test_a_check_of_this_unit_does_not_see_what_is_borrowed(wrote, monkeypatch):
    """As in the grader, where the other notebook is not."""
    wrote(IMPORTS, HELPER, RIGHT)
    use_my("u02")
    seen = []

    def judge(*_, **__):
        seen.append(exercises.plugs_now())
        raise ZeroDivisionError

    monkeypatch.setattr(notebook_module, "judge", judge)
    monkeypatch.setattr(notebook_module, "Here", lambda *_: seen.append(exercises.plugs_now()))
    own = exercises.implements("passes.should_fuse")(lambda *_: True)
    with pytest.raises(ZeroDivisionError):
        check("passes.should_fuse")
    assert seen == [{"passes.should_fuse": own}, {}]
    assert is_borrowed("passes.dce"), "and it is there again"


def test_without_a_name_it_takes_what_passes_and_with_false_it_takes_all_out(wrote, notebook):
    wrote(IMPORTS, HELPER, RIGHT, STUB.replace("dce", "cse"))
    Path("u03_fusion.ipynb").write_bytes(notebook(IMPORTS, WRONG))  # this one
    Path("u04_memory.ipynb").write_bytes(b"[]")
    Path("u12_systolic.ipynb").write_bytes(notebook(IMPORTS))  # none of its answers is plugged in
    said = repr(borrow())
    assert "Plugged in from u02_rewrites.ipynb: passes.dce." in said and "passes.cse" not in said
    assert "u04_memory.ipynb cannot be read" in said and "u03" not in said
    assert "unit 12" not in said
    assert elsewhere.in_use() == {"passes.dce": "u02_rewrites.ipynb"}
    assert repr(borrow(False)) == "Taken out: passes.dce. The library's own are used again."
    assert exercises.plugs_now() == {} == elsewhere.in_use()
    assert repr(borrow("off")) == "Nothing of another notebook is plugged in."


def test_it_is_shown_wherever_in_a_cell_it_stands(wrote, capsys):
    wrote(IMPORTS, HELPER, RIGHT)
    assert use_my("passes.dce") is None
    assert "Plugged in from u02_rewrites.ipynb: passes.dce." in capsys.readouterr().out


def test_cells_as_they_came_are_one_line_and_are_not_run(wrote):
    stubs = [STUB.replace("dce", name) for name in ("dce", "cse", "fold")]
    wrote(IMPORTS, "raise ValueError", *stubs)
    (line,) = [part for part in repr(borrow("u02")).split(". ") if "Not answered yet" in part]
    assert all(f"passes.{name}" in line for name in ("dce", "cse", "fold", "fixpoint"))
    assert "'hallo'" in repr(borrow("hallo")) and "Known" not in repr(borrow("hallo"))


def test_who_stops_it_keeps_what_was_plugged_in_until_then(wrote, monkeypatch):
    wrote(IMPORTS, HELPER, RIGHT, RIGHT.replace("dce", "fold"))

    def stopped(name: str) -> Verdict:
        if name == "passes.fold":
            raise KeyboardInterrupt
        return verdict_on(name)

    monkeypatch.setattr(mine, "verdict_on", stopped)
    said = repr(borrow("u02"))
    assert "passes.dce" in said and "You stopped it" in said
    assert elsewhere.in_use() == {"passes.dce": "u02_rewrites.ipynb"}


def saved_later(file: Path) -> None:
    """A clock of a file system may stand for some milliseconds."""
    later = file.stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later, later))


def test_an_answer_that_is_saved_anew_is_said_once_and_taken_when_asked_for(wrote, folder):
    wrote(IMPORTS, HELPER, RIGHT)
    borrow("u02")
    assert elsewhere.changed() == ""
    wrote(IMPORTS, HELPER, RIGHT, "1 + 1")
    saved_later(folder / "u02_rewrites.ipynb")
    assert elsewhere.changed() == "", "the answer is the same"
    for helper in (HELPER.replace(" or ", "  or "), STUB, "(", HELPER):
        wrote(IMPORTS, helper, RIGHT)
        saved_later(folder / "u02_rewrites.ipynb")
        elsewhere.changed()
    wrote(IMPORTS, HELPER, WRONG)
    saved_later(folder / "u02_rewrites.ipynb")
    said = elsewhere.changed()
    assert "passes.dce" in said and 'use_my("passes.dce") takes the new one' in said
    assert elsewhere.changed() == "" and [node.op for node in dce(PROGRAM).ops] == ["relu"]
    Path("u02_rewrites.ipynb").unlink()
    assert elsewhere.changed() == "" and is_borrowed("passes.dce")


def test_below_an_error_of_the_library_stands_whose_answers_it_ran_with(wrote):
    wrote(IMPORTS, WRONG.replace("return graph", "return Graph('f', (), (), graph.outputs)"))
    borrow("passes.dce")
    with pytest.raises(PassError) as caught:
        run_passes(PROGRAM, [dce])
    said = elsewhere.after_an_error(caught.value)
    assert "your passes.dce of u02_rewrites.ipynb" in said and "use_my(False)" in said
    assert elsewhere.after_an_error(None) == "" == elsewhere.after_an_error(KeyError("mine"))
    borrow(False)
    assert elsewhere.after_an_error(caught.value) == ""


def test_a_run_of_nbgrader_plugs_in_nothing(wrote, monkeypatch):
    wrote(IMPORTS, HELPER, RIGHT)
    monkeypatch.setenv(RUN, "autograde")
    assert isinstance(borrow("u02"), Note) and exercises.plugs_now() == {}


def cells_with(data: bytes, add: Callable[[str], str]) -> bytes:
    content = json.loads(data)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = add("".join(cell["source"]))
    return json.dumps(content).encode()


@pytest.fixture(scope="module")
def plain(grading: Callable[..., Report], solved: bytes) -> tuple[Verdict, ...]:
    return grading(solved).verdicts


@pytest.mark.parametrize(
    "line",
    [
        'from autograder import use_my; use_my("u02")',
        'import autograder.mine as m; m.use_my("u02")',
    ],
)
def test_a_hand_in_earns_the_same_with_the_call_in_every_answer(grading, solved, plain, line):
    with_calls = cells_with(
        solved, lambda source: f"{line}\n{source}" if "@implements" in source else source
    )
    assert with_calls.count(b"use_my(") >= 2
    verdicts = grading(with_calls).verdicts
    assert verdicts == plain and sum(verdict.earned or 0 for verdict in verdicts) > 0
