"""What is kept beside the notebooks, the start page's map of it, and minutes."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder import compare, dashboard, predict
from autograder.check.verdict import LATER, NOT_ATTEMPTED, PASSED, WRONG, Verdict
from autograder.edition.chart import chart
from autograder.edition.contents import contents
from autograder.edition.deliver import deliver
from autograder.edition.sources import sources
from autograder.grading.book.course_file import read_course
from autograder.grading.book.statistics import write_statistics
from autograder.grading.submissions import Handed
from autograder.grading.tasks import tasks
from autograder.progress import clock, costs, keep, record
from autograder.progress.keep import MAP, MINUTES, PREDICTIONS, PROGRESS
from autograder.progress.page import Dashboard
from autograder.progress.state import progress
from course_lib.exercises import plugged
from tests.grading.conftest import EXAMPLE
from tests.grading.test_pages import ANSWER, line

KEY = "u99"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, source) -> Path:
    """A learner's folder with unit 99, in which this process counts as a notebook's kernel."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(keep, "in_notebook", lambda: True)
    monkeypatch.setattr(keep, "_said", set())
    monkeypatch.setattr(clock, "_last", 0.0)
    monkeypatch.setattr(clock, "key_of_this_notebook", lambda: KEY)
    MAP.write_bytes(chart("", [source]))
    return tmp_path


def verdict(kind: str, earned: float | None = 0.0) -> Verdict:
    return Verdict("u99.sweep", kind, 3, earned)


def kept(name: str = "u99.sweep") -> dict:
    return json.loads(PROGRESS.read_text())["exercises"][name]


# --- the files ---------------------------------------------------------------


def test_two_kernels_lose_nothing(tmp_path):
    program = (
        "from pathlib import Path\nfrom autograder.progress.keep import change\n"
        "def more(data): data['n'] = data.get('n', 0) + 1\n"
        "for _ in range(100): assert change(Path('progress.json'), more)\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert json.loads(PROGRESS.read_text()) == {"n": 200}


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_a_broken_file_is_set_aside_with_a_word(content, capsys):
    PROGRESS.write_bytes(content)
    record.checked(verdict(PASSED, 3.0))
    assert "It is kept as progress.broken.json; a new one begins." in capsys.readouterr().out
    assert Path("progress.broken.json").read_bytes() == content and kept()["state"] == PASSED


def test_a_file_of_another_shape_does_no_harm():
    for content in ({"exercises": [1]}, {"exercises": {"u99.sweep": 7}}, {"exercises": None}):
        PROGRESS.write_text(json.dumps(content))
        assert "0 of" in repr(dashboard())
    odd = {"state": PASSED, "earned": "x", "checks": float("inf")}
    PROGRESS.write_text(json.dumps({"exercises": {"u99.sweep": odd}, "compiler": {"counts": 3}}))
    assert "0 of" in repr(dashboard()) and dashboard()._repr_html_()


def test_a_folder_that_cannot_be_written_is_said_once(monkeypatch, capsys):
    def refuse(*_):
        raise OSError("progress.json cannot be written: Read-only file system")

    monkeypatch.setattr(keep, "write", refuse)
    for _ in range(2):
        record.checked(verdict(PASSED, 3.0))
    assert capsys.readouterr().out.count("Read-only file system") == 1
    predict("u99.nodes", 4)
    assert "Not kept: you say 4." in capsys.readouterr().out and not PREDICTIONS.exists()


def test_nobody_waits_long_for_another_kernel(monkeypatch):
    monkeypatch.setattr(keep, "PATIENCE", 0.05)
    with Path(".progress.json.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not keep.change(PROGRESS, dict.clear)
    assert keep.change(PROGRESS, dict.clear)


def test_a_disk_that_is_full_in_the_middle_of_a_file_costs_nothing_that_was_kept():
    """A limit of bytes for each file that a process writes stands for the disk."""
    record.checked(verdict(PASSED, 3.0))
    before = PROGRESS.read_bytes()
    program = (
        "import resource\nfrom pathlib import Path\nfrom autograder.progress.keep import change\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before)}, {len(before)}))\n"
        "for _ in range(2): print(change(Path('progress.json'), lambda d: d.update(n='x' * 99)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split()[-1] == "False" and "Nothing is kept of this" in done.stdout
    assert done.stdout.count("Nothing is kept") == 1 and not done.stderr
    assert PROGRESS.read_bytes() == before
    names = {path.name for path in Path().iterdir()}
    assert names == {PROGRESS.name, MAP.name, ".progress.json.lock"}, "and nothing lies about"


def test_what_a_newer_version_wrote_stays():
    more = {"exercises": {"u99.sweep": {"state": "mastered", "earned": 2, "stars": 5}}, "new": [1]}
    PROGRESS.write_text(json.dumps(more))
    assert "0 of" in repr(dashboard()), "a state that this version does not know is open"
    record.checked(verdict(WRONG))
    assert json.loads(PROGRESS.read_text())["new"] == [1]
    assert {"state": "tried", "earned": 2.0, "stars": 5}.items() <= kept().items()


def test_a_folder_that_is_renamed_while_a_kernel_runs_loses_nothing(
    folder, tmp_path_factory, monkeypatch
):
    record.checked(verdict(WRONG))
    record.guessed("u99.nodes", 40, "nodes")
    moved = folder.rename(tmp_path_factory.mktemp("other") / "a course")
    record.checked(verdict(PASSED, 3.0))
    assert kept()["checks"] == 2 and (moved / PROGRESS).exists() and not folder.exists()
    monkeypatch.chdir(moved)
    assert "3 of" in repr(dashboard()) and "u99.nodes: you said 40 nodes" in repr(dashboard())


def test_elsewhere_nothing_is_kept(monkeypatch):
    for name, value in (("NBGRADER_EXECUTION", "validate"), ("", "")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value) if name else patch.setattr(keep, "MAP", Path("none"))
            record.checked(verdict(PASSED, 3.0))
    assert not PROGRESS.exists()


# --- what is noted -----------------------------------------------------------


def test_what_passed_once_stays_passed_and_says_what_came_later():
    record.checked(verdict(NOT_ATTEMPTED))
    assert not PROGRESS.exists()
    record.checked(verdict(WRONG))
    assert kept()["state"] == "tried"
    record.checked(verdict(PASSED, 1.0))
    assert (kept()["state"], kept()["earned"]) == ("tried", 1.0), "it does not earn all points"
    record.checked(verdict(PASSED, 3.0))
    record.checked(verdict(WRONG))
    assert {**kept(), "on": ""} == {
        "state": PASSED, "earned": 3.0, "checks": 4, "last": WRONG, "on": "",
    }  # fmt: skip
    (part,) = progress()
    (done,) = [one for one in part.units[0].done if one.task.name == "u99.sweep"]
    assert done.state == PASSED and done.was_wrong
    assert "passed, and not right when it was checked last" in dashboard()._repr_html_()


def test_what_the_grader_judges_is_not_open():
    record.checked(verdict(LATER, None))
    (part,) = progress()
    assert part.units[0].done[0].state == LATER and part.units[0].state == "tried"


def test_predictions_stand_beside_what_came_out(capsys):
    predict("u99.nodes", 40, unit="nodes")
    assert "u99.nodes: you said 40 nodes; it is not compared yet" in repr(dashboard())
    compare("u99.nodes", 57)
    assert json.loads(PREDICTIONS.read_text())["u99.nodes"]["actual"] == 57
    page = dashboard()
    assert "u99.nodes: you said 40 nodes; it is 57 nodes" in repr(page)
    assert "<td>40 nodes</td>" in page._repr_html_() and ">57 nodes</td>" in page._repr_html_()


def test_what_was_typed_is_text_on_the_page():
    predict("u99.evil", "</td><script>alert(1)</script>")
    assert "<script>" not in dashboard()._repr_html_()


# --- the page ----------------------------------------------------------------


def test_the_map_of_the_course_has_every_unit_and_lab_in_its_part(root, tmp_path):
    index = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    MAP.write_bytes(chart(index, sources(root / "notebooks")))
    page = dashboard()
    assert isinstance(page, Dashboard)
    keys = [unit.unit.key for part in page.parts for unit in part.units]
    assert keys == sorted(p.stem if "_lab_" in p.stem else p.stem[:3]
                          for p in (root / "notebooks").glob("u*.md"))  # fmt: skip
    assert [part.name for part in page.parts][:2] == ["Part I. Graphs", "Part II. Code"]
    u03 = page.parts[0].units[3].unit
    assert u03.needs == ("u01", "u02") and u03.minutes > 60 and len(u03.tasks) > 5
    html = page._repr_html_()
    assert html.count("<details>") == len(keys) and 'href="u03_fusion.ipynb"' in html
    assert "0 of 26 units and labs passed" in repr(page) or len(keys) != 26


def test_without_a_course_it_says_so(monkeypatch, tmp_path):
    MAP.unlink()
    assert "There is no course in this folder" in repr(dashboard())


def test_a_class_has_it_too_and_a_kernel_keeps_what_it_checks(tmp_path, monkeypatch):
    """The hand-out of a unit in a folder of its own, with its own copy of the packages."""
    monkeypatch.delenv("PYTHONPATH", raising=False)  # its own are to be found
    home = tmp_path / "home"
    deliver(contents("student", 99, EXAMPLE / "notebooks", minutes=True), home)
    book = nbformat.read(home / "u99_example.ipynb", 4)
    assert book.cells[-1].source.endswith("hand_in_minutes()")
    (answer,) = [c for c in book.cells if c.id == "u99-sweep"]
    answer.source = answer.source.replace(
        answer.source[answer.source.index("raise NotImpl") :], "return graph"
    )
    first = "from autograder import *\nmeasure_minutes()\nimport os, time\n"
    first += 'os.environ["JPY_SESSION_NAME"] = "u99_example.ipynb"'
    book.cells.insert(1, nbformat.v4.new_code_cell(first))
    book.cells.insert(-1, nbformat.v4.new_code_cell("time.sleep(1.2)"))
    NotebookClient(book, timeout=3600, resources={"metadata": {"path": home}}).execute()
    entry = json.loads((home / PROGRESS).read_text())["exercises"]["u99.sweep"]
    assert entry["state"] == "tried" and entry["checks"] == 1
    assert json.loads((home / MINUTES).read_text())["seconds"][KEY] >= 1
    data = nbformat.writes(book).encode()
    assert clock.handed_in(data) == {} and "application/vnd.course-minutes+json" in data.decode()
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "status"], cwd=home, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "◐ u99 · " in done.stdout and "Minutes are measured here" in done.stdout


# --- minutes -----------------------------------------------------------------


def test_without_being_asked_nothing_is_measured():
    clock.tick()
    assert not MINUTES.exists() and not clock.minutes()
    clock.measure_minutes()
    clock.measure_minutes(False)
    clock.tick()
    assert not clock.wanted() and not clock.minutes()


def test_gaps_of_more_than_five_minutes_do_not_count_and_two_notebooks_count_once(monkeypatch):
    clock.measure_minutes()
    start = time.time()
    events = [(60, "u99"), (120, "u98"), (150, "u99"), (150 + 301, "u99"), (151 + 360, "u99")]
    for seconds, key in events:
        monkeypatch.setattr(clock, "key_of_this_notebook", lambda key=key: key)
        clock.tick(start + seconds)
    assert clock.minutes()["u98"] == pytest.approx(1, abs=0.01)
    assert clock.minutes()["u99"] == pytest.approx((60 + 30 + 60) / 60, abs=0.01)
    clock.tick(start - 1000)  # the clock was set back
    assert sum(clock.minutes().values()) == pytest.approx(3.5, abs=0.02)


def outputs(data: object) -> bytes:
    output = {"output_type": "display_data", "metadata": {}, "data": {clock.MIME: data}}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]}).encode()


@pytest.mark.parametrize(
    "data",
    [
        {"key": "u99", "minutes": -1}, {"key": "u99", "minutes": 1e9}, {"key": "u99"}, [], None,
        {"key": "u99", "minutes": "90"}, {"key": "<script>", "minutes": 9},
        {"key": [], "minutes": 9}, {"key": "u99", "minutes": True},
    ],
)  # fmt: skip
def test_minutes_from_outside_are_sensible_or_none(data):
    assert clock.handed_in(outputs({"key": "u99", "minutes": 95})) == {"u99": 95}
    assert clock.handed_in(outputs(data)) == {}
    for broken in (b"", b"\xff", b"[]", b'{"cells": 3}', b"[" * 100_000):
        assert clock.handed_in(broken) == {}


def test_the_teacher_sees_measured_minutes_from_three_people_on(tmp_path, assignment, solved):
    content = json.loads(solved)
    content["cells"] += json.loads(outputs({"key": "u99", "minutes": 95}))["cells"]
    content["cells"][-1] |= {"source": "", "metadata": {}, "execution_count": None, "id": "m"}
    (task,) = tasks([Handed("ada", "ada.ipynb", json.dumps(content).encode())], [assignment])
    assert task.minutes == 95
    estimates = {"u99_example": (80.0, 20.0)}
    lines = []
    for student, spent in (("ada", 95.0), ("bob", 60.0), ("cyd", 120.0), ("dan", None)):
        entry = line(student, ANSWER, PASSED)
        assert entry.task
        lines.append(replace(entry, task=replace(entry.task, minutes=spent)))
    page = write_statistics(lines, tmp_path, estimates).read_text()
    assert "80 for the core, 20 for what goes further" in page
    assert "95 in the middle; half of the people 78 to 108" in page
    few = write_statistics(lines[1:], tmp_path, estimates).read_text()
    assert "in the middle;" not in few and "80 for the core" in few
    assert "Measured by the students" not in write_statistics(lines, tmp_path).read_text()


def test_the_course_file_asks_for_minutes(tmp_path):
    file = tmp_path / "course.toml"
    file.write_text("minutes = true\n")
    assert read_course(file, [KEY]).minutes and not read_course(None, [KEY]).minutes
    file.write_text('minutes = "yes"\n')
    with pytest.raises(ValueError, match="line 1, minutes: 'yes' is neither true nor false"):
        read_course(file, [KEY])


# --- your compiler -----------------------------------------------------------


def test_your_compiler_counts_your_functions_beside_ours_and_the_stand_ins(monkeypatch):
    monkeypatch.setattr(costs, "MODELS", {"mlp": costs.MODELS["mlp"]})
    with plugged("passes.fuse", lambda graph: graph):
        card = costs.your_compiler()
    rows = json.loads(PROGRESS.read_text())["compiler"]["counts"]["mlp"]
    slow, ours, yours = (rows[how] for how in costs.COLUMNS)
    assert ours[0] < yours[0] <= slow[0] and ours[1] < yours[1] <= slow[1]
    assert "other numbers than the library's: mlp" in " ".join(repr(card).split())
    assert "Plugged in: `passes.fuse`" in repr(card) and "passes.fuse" in repr(dashboard())


def test_your_compiler_says_how_far_it_is_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr(costs, "MODELS", {"mlp": costs.MODELS["mlp"]})
    said: list[str] = []
    monkeypatch.setattr(
        costs.Working, "say", lambda self, what: said.append(f"{self.number} {what}")
    )
    with plugged("passes.fuse", lambda graph: graph):
        costs.your_compiler()
        assert said == [
            "1 counting mlp, stand-ins",
            "2 counting mlp, library",
            "3 counting mlp, yours",
        ]
        before = PROGRESS.read_bytes()
        monkeypatch.setattr(costs, "_counts", lambda *_: signal.raise_signal(signal.SIGINT))
        card = costs.your_compiler()
    assert repr(card).startswith("You stopped it. Nothing was kept")
    assert PROGRESS.read_bytes() == before


def test_the_start_page_says_where_to_go_on(root):
    index = (root / "notebooks" / "index.md").read_text(encoding="utf-8")
    MAP.write_bytes(chart(index, sources(root / "notebooks")))
    assert "Go on with u00 · The tour: u00.intensity" in repr(dashboard())
    record.checked(Verdict("passes.dce", PASSED, 2, 2.0))
    assert "Go on with u02 · Rewrites: passes.fold" in repr(dashboard())
    assert 'Go on with <a href="u02_rewrites.ipynb">' in dashboard()._repr_html_()


def test_an_answer_that_raises_costs_its_own_column_alone(monkeypatch):
    monkeypatch.setattr(costs, "MODELS", {"mlp": costs.MODELS["mlp"]})
    with plugged("passes.cse", lambda graph: graph.nothing):
        card = costs.your_compiler()
    assert "mlp, yours: " in repr(card) and "nothing" in repr(card)
    counts = json.loads(PROGRESS.read_text())["compiler"]["counts"]["mlp"]
    assert counts["library"][0] > 0 and isinstance(counts["yours"], str)


def test_times_are_told_only_where_they_can_be_told_apart():
    fast, slow = [1.0, 1.01, 0.99] * 5, [2.0, 2.02, 1.98] * 5
    assert costs._told(fast, slow, "stand-ins").startswith("With the stand-ins it takes 2.0")
    assert "cannot be told apart" in costs._told(fast, fast[::-1], "library")
