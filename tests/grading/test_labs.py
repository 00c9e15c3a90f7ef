"""A lab beside a unit: an assignment of its own, from the notebook's source to the grades.

The example is tests/example_unit/labs/u99_lab_small.md, which stands beside unit 99 only here.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import autograder.__main__ as commands
import autograder.grading.nbgrader_course as nbgrader_course
from autograder import check, compare, implements, predict
from autograder import validate as validating
from autograder.check import overview
from autograder.check.cards import Card
from autograder.check.hints import ladder
from autograder.check.keys import called, key_in, key_of
from autograder.edition.contents import contents, notebook_bytes
from autograder.edition.deliver import write
from autograder.edition.facts import page_of
from autograder.edition.minutes import core, estimate
from autograder.edition.release import release
from autograder.edition.solutions import without_answers
from autograder.edition.sources import Source, expand, sources
from autograder.edition.start import units_that_exist
from autograder.grading.assignment import Assignment
from autograder.grading.book.course import Course, Extension, Unit
from autograder.grading.book.course_file import read_course
from autograder.grading.book.releases import due_now
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.rehearsal import make_class
from autograder.soundness import borrowed
from autograder.validate import form_problems, lab_problems, validate
from course_lib.exercises import MODULES, slot

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit"
LAB = "u99_lab_small"
EXERCISES = [f"{LAB}.{name}" for name in ("counts", "twice", "why")]
DUE = datetime(2026, 10, 19, 23, 59, 59, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def notebooks(tmp_path) -> Path:
    """Unit 99 and its lab, side by side."""
    folder = tmp_path / "course" / "notebooks"
    folder.mkdir(parents=True)
    for name in ("notebooks/u99_example.md", f"labs/{LAB}.md"):
        shutil.copy(EXAMPLE / name, folder)
    return folder


@pytest.fixture
def lab(notebooks) -> Source:
    (source,) = sources(notebooks, LAB)
    return source


# --- what it is ----------------------------------------------------------------------------------


def test_a_key_is_read_from_a_number_a_file_and_a_lab():
    assert [key_of(which) for which in (7, "7", "07", "u07", LAB)] == ["u07"] * 4 + [LAB]
    names = ("u07_tiling.ipynb", "u07_labels.md", f"{LAB}-Copy1.ipynb", f"{LAB}_ada.ipynb", "x")
    assert [key_in(name) for name in names] == ["u07", "u07", LAB, LAB, ""]
    assert called("u07") == "unit 7" and called(LAB) == "lab small of unit 99"


def test_a_lab_comes_after_its_unit_and_a_number_means_the_unit_alone(notebooks):
    (notebooks / "u98_before.md").write_text("")
    assert [source.key for source in sources(notebooks)] == ["u98", "u99", LAB]
    assert [source.name for source in sources(notebooks, 99)] == ["u99_example"]
    assert [(s.name, s.unit) for s in sources(notebooks, LAB)] == [(LAB, 99)]


def test_exercises_hints_and_files_are_those_of_the_lab(lab):
    assert lab.exercises() == EXERCISES
    assert {slot(name).key for name in EXERCISES} == {LAB} and slot("u99.sweep").key == "u99"
    assert len(ladder(slot(EXERCISES[0]))) == 3


def test_the_build_refuses_what_stands_in_the_wrong_notebook(notebooks):
    swap = {"u99_example.md": f"{LAB}.twice", f"{LAB}.md": "u99.bytes"}
    for name, foreign in swap.items():
        path = notebooks / name
        path.write_text(
            f"{path.read_text()}\n```{{code-cell}} ipython3\n%exercise {foreign}\n```\n"
        )
        with pytest.raises(ValueError, match=f"{foreign} belongs to {called(slot(foreign).key)}"):
            expand(Source(path), solutions=False)


def test_the_build_wants_all_exercises_of_a_lab_and_a_name_of_one_word(notebooks, lab):
    text = lab.path.read_text()
    lab.path.write_text(text.replace(f"%exercise {EXERCISES[1]}\n", "1 + 1\n"))
    with pytest.raises(ValueError, match=f"no cell points to {EXERCISES[1]}"):
        expand(lab, solutions=False)
    two_words = notebooks / f"{LAB}_ones.md"
    two_words.write_text(text)
    with pytest.raises(ValueError, match=f"the name of a lab is one word: {LAB}"):
        expand(Source(two_words), solutions=False)


def test_a_function_of_the_library_that_a_lab_asks_for_goes_with_its_unit():
    text = '@exercise("a.b", unit=7, points=1, lab="m")\ndef b():\n    """B."""\n    return 1234\n'
    assert "1234" not in without_answers(text, 7) and "1234" in without_answers(text, 8)


# --- what students get ---------------------------------------------------------------------------


def test_a_release_of_a_lab_holds_its_notebook_and_no_answer(notebooks, tmp_path):
    (folder,) = release(tmp_path / "out", LAB, notebooks)
    assert folder.name == LAB and (tmp_path / "out" / f"{LAB}.zip").is_file()
    assert [path.name for path in folder.glob("u*.ipynb")] == [f"{LAB}.ipynb"]
    own = {path.name for path in (folder / "autograder/units" / LAB).iterdir()}
    assert own == {"__init__.py", "checks.py", "exercises.py", "hints.md"}
    text = (folder / "autograder/units" / LAB / "exercises.py").read_text()
    assert "Counter(" not in text and "It knows no sizes" not in text
    assert (folder / "README.md").read_text().startswith("# Lab: Count what a program does\n")
    assert "numpy==" in (folder / "requirements.txt").read_text()
    assert LAB in (folder / "start.ipynb").read_text()


def test_the_release_of_a_unit_is_without_its_labs_and_all_of_them_are_several(notebooks, tmp_path):
    assert [path.name for path in release(tmp_path / "one", 99, notebooks)] == ["u99_example"]
    assert [path.name for path in release(tmp_path, None, notebooks)] == ["u99_example", LAB]


def test_the_start_page_has_a_lab_below_its_unit_and_does_not_count_it(notebooks):
    text = "# Course\n\n- u98 · Before · What?\n- u99 · Example · How?\n"
    lines = units_that_exist(text, sources(notebooks)).splitlines()
    assert lines[-4].startswith("- [u99 · Example](u99_example.ipynb). How? ")
    assert lines[-3] == (
        f"  - [Lab: Count what a program does]({LAB}.ipynb). 8 points; nothing later needs it."
    )
    assert lines[-1] == "1 of 2 units exist. Planned, in this order: u98 Before."
    (notebooks / "index.md").write_text(text)
    assert f"({LAB}.ipynb)" in contents("open", None, notebooks)["start.ipynb"].decode()


# --- in the notebook -----------------------------------------------------------------------------


@pytest.fixture
def in_the_lab(notebooks, tmp_path, monkeypatch) -> None:
    """The folder of a learner who has all notebooks, with the lab open."""
    monkeypatch.chdir(tmp_path)
    for source in sources(notebooks):
        Path(f"{source.name}.ipynb").write_bytes(notebook_bytes(source, solutions=False))
    monkeypatch.setenv("JPY_SESSION_NAME", f"course/{LAB}-Copy1.ipynb")


def test_check_without_a_name_shows_the_exercises_of_the_lab(in_the_lab):
    implements(EXERCISES[0])(slot(EXERCISES[0]).reference)
    card = check()
    assert isinstance(card, Card) and card.title == "Lab small of unit 99: 4 of 8 points so far"
    rows = [line.split()[0] for line in str(card).splitlines() if line.startswith("  u99")]
    assert rows == EXERCISES
    assert f"Next: `{EXERCISES[1]}`, 2 points." in str(card)


def test_the_overview_of_the_unit_knows_nothing_of_its_lab(in_the_lab):
    names = [entry.name for entry in overview.exercises_in("u99")]
    assert names[0] == "u99.sweep" and not [name for name in names if name in EXERCISES]


def test_the_lab_is_found_by_its_exercises_too():
    implements(EXERCISES[1])(lambda: 2)
    assert overview.key_of_this_notebook() == LAB
    assert check(EXERCISES[1]).so_far.startswith("Lab small of unit 99: ")


def test_predictions_are_kept_in_a_lab(in_the_lab, capsys):
    predict(f"{LAB}.twice", 3, unit="operations")
    compare(f"{LAB}.twice", 2)
    assert "You said 3 operations; it is 2 operations" in capsys.readouterr().out


# --- is it sound? --------------------------------------------------------------------------------


def test_validate_looks_at_a_lab(notebooks, monkeypatch):
    """Through the grader as well; of the functions that students have, it tries one."""
    one = ("course_lib.ir.graph.order.topological_order",)
    monkeypatch.setattr(borrowed, "_callable", lambda unit: one)
    rows = {row.name: row for row in validate(LAB, notebooks)}
    assert [*rows] == [*EXERCISES, LAB] and rows[LAB].problems == ()
    assert rows[EXERCISES[0]].cells[:3] == ("2/2", "2/2", "1/1")


def test_a_lab_has_milestones_a_question_in_words_and_at_most_two_hours(lab, monkeypatch):
    assert form_problems(lab) == [] and core(estimate(lab.cells())) < 120
    monkeypatch.setattr(validating, "LAB_MINUTES", 10)
    (problem,) = form_problems(lab)
    assert problem.startswith("a lab takes at most 10 minutes; the estimate: ")
    monkeypatch.undo()
    for gone in EXERCISES[1:]:
        lab.path.write_text(lab.path.read_text().replace(f"%exercise {gone}\n", "1 + 1\n"))
    lab.path.write_text(lab.path.read_text().replace("# Lab: ", "# "))
    title, steps = lab_problems(lab)
    assert title.endswith("begins with 'Lab: '; here: Count what a program does")
    assert steps.endswith("and one in words; here: 1 and 0")


def test_minutes_facts_and_the_teachers_page_have_the_lab(notebooks, lab, monkeypatch, capsys):
    monkeypatch.setattr(commands, "COURSE", notebooks.parent)
    assert commands.main(["minutes"]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[1:-1]] == [
        "u99_example", LAB,
    ]  # fmt: skip
    for command in ("minutes", "facts"):
        assert commands.main([command, "--unit", LAB]) == 0
        assert f"# {LAB}\n" in (said := capsys.readouterr().out) and EXERCISES[0] in said
        assert commands.main([command, "--unit", "99"]) == 0
        assert LAB not in capsys.readouterr().out
    for command in ("minutes", "validate"):
        assert commands.main([command, "--unit", "u99_lab_big"]) == 1
        assert "no notebook source for u99_lab_big" in capsys.readouterr().err
    teaching = notebooks / "units"
    teaching.mkdir()
    (teaching / f"{LAB}.md").write_text("# Teaching\n\n## Minutes\n\n## Exercises\n")
    assert f"| `{EXERCISES[1]}` | number |" in page_of(lab, teaching)


def test_the_website_has_a_page_for_the_lab_and_one_for_its_teacher(notebooks, root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "site"))  # its files are plain modules
    spec = importlib.util.spec_from_file_location("site_build", root / "site" / "build.py")
    assert spec and spec.loader
    site: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    monkeypatch.setattr(site, "TEACHING", notebooks / "units")
    monkeypatch.setattr(site.reference, "write", lambda *given: None)
    solved, scratch = notebooks / "solved", notebooks / "scratch"
    for source in sources(notebooks):
        write(solved / f"{source.name}.ipynb", notebook_bytes(source, solutions=True))
    write(notebooks / "units" / f"{LAB}.md", b"# Teaching\n\n## Exercises\n")
    site.write_sources(scratch, solved, notebooks)
    page = (scratch / f"{LAB}.ipynb").read_text()
    assert "write your answer here" in page and "dict(Counter(" not in page
    assert f"`{EXERCISES[1]}`" in (scratch / "units" / f"{LAB}.md").read_text()
    index = (scratch / "index.md").read_text()
    assert f"\nu99_example\n{LAB}\n" in index
    assert f"\nunits/{LAB}\n" in (scratch / "instructors.md").read_text()


# --- grades --------------------------------------------------------------------------------------

COURSE = f"""
roster = "roster.csv"
[late]
percent_per_day = 10
[u99]
due = 2026-10-12
[{LAB}]
due = 2026-10-19
canvas = "Lab (77)"
[extensions.bob]
{LAB} = 2026-10-26
"""


def test_a_class_is_graded_in_the_unit_and_in_the_lab(notebooks, tmp_path, capsys):
    """Ada and Bob hand in both, a day after the lab was due; Bob has more time for it."""
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "roster.csv").write_text("id,name,email\nada,Ada,a@b.org\nbob,Bob,b@b.org\n")
    when = (DUE + DAY / 2).timestamp()
    for student in ("ada", "bob"):
        for source in sources(notebooks):
            path = tmp_path / "in" / student / f"{source.name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(notebook_bytes(source, solutions=True))
            os.utime(path, (when, when))
    job = Job(tmp_path / "in", tmp_path / "out", course=tmp_path / "course.toml",
              notebooks=notebooks)  # fmt: skip
    assert grade_class(job) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/grades.csv").read_text())))
    told = [[r[k] for k in ("student", "assignment", "earned", "penalty", "late")] for r in rows]
    unit = ["10", "8", "8 days late: 80 % of the points"]
    assert told == [
        ["ada", "u99_example", *unit],
        ["ada", LAB, "6", "0.6", "1 day late: 10 % of the points"],
        ["bob", "u99_example", *unit],
        ["bob", LAB, "6", "0", ""],
    ]
    head, possible, *_ = csv.reader(io.StringIO((tmp_path / "out/canvas.csv").read_text()))
    assert (head[-2:], possible[-2:]) == (["u99_example", "Lab (77)"], ["10", "8"])
    assert LAB in (tmp_path / "out/moodle.csv").read_text().splitlines()[0]
    assert LAB in (tmp_path / "out/statistics.html").read_text()
    for kind, ending in (("feedback", "html"), ("reports", "json")):
        assert (tmp_path / "out" / kind / LAB / f"bob.{ending}").is_file()
    report = json.loads((tmp_path / "out/reports" / LAB / "bob.json").read_text())
    assert (report["assignment"], report["unit"]) == (LAB, 99)


def test_a_lab_that_the_class_does_not_do_has_no_line(notebooks, tmp_path, capsys):
    """Until somebody hands it in, or a file of its name; what can be read nowhere is no such."""
    (tmp_path / "roster.csv").write_text("id,name,email\nada,Ada,a@b.org\nbob,Bob,b@b.org\n")

    def graded() -> list[list[str]]:
        job = Job(tmp_path / "in", tmp_path / "out", roster=tmp_path / "roster.csv",
                  notebooks=notebooks)  # fmt: skip
        assert grade_class(job) == 0
        rows = csv.DictReader(io.StringIO((tmp_path / "out/grades.csv").read_text()))
        return [[row[k] for k in ("student", "assignment", "status")] for row in rows]

    unread, nothing = "cannot be graded", "nothing handed in"
    write(tmp_path / "in" / "ada.ipynb", b"cut o")
    unit = [["ada", "u99_example", unread], ["bob", "u99_example", nothing]]
    assert graded() == unit
    assert LAB not in (tmp_path / "out/canvas.csv").read_text()
    write(tmp_path / "in" / "bob" / f"{LAB}.ipynb", b"cut o")
    assert graded() == [unit[0], ["ada", LAB, unread], unit[1], ["bob", LAB, unread]]


def test_what_is_graded_may_be_the_lab_alone(notebooks, tmp_path, capsys):
    (tmp_path / "roster.csv").write_text("id,name,email\nada,Ada,a@b.org\n")
    (source,) = sources(notebooks, LAB)
    write(tmp_path / "in" / "ada.ipynb", notebook_bytes(source, solutions=True))
    sheet = tmp_path / "Grades.csv"
    sheet.write_text("Identifier,Email address,Grade\nParticipant 1,a@b.org,-\n")
    job = Job(tmp_path / "in", tmp_path / "out", LAB, roster=tmp_path / "roster.csv",
              worksheet=sheet, notebooks=notebooks)  # fmt: skip
    assert grade_class(job) == 0
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out/grades.csv").read_text()))
    assert (row["assignment"], row["earned"], row["to_grade"]) == (LAB, "6", "2")
    points = tmp_path / "out" / "by-hand.csv"
    table = list(csv.DictReader(io.StringIO(points.read_text("utf-8-sig"))))
    table[0]["points"] = "2"
    with points.open("w", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
    assert grade_class(job) == 0
    filled = (tmp_path / "Grades.filled.csv").read_text("utf-8-sig")
    assert filled.splitlines()[1] == "Participant 1,a@b.org,8"


def test_a_lab_that_is_not_there_is_no_key_of_the_course_file(tmp_path):
    path = tmp_path / "course.toml"
    path.write_text("[u99_lab_big]\ndue = 2026-10-19\n")
    with pytest.raises(ValueError, match=f"there is no lab u99_lab_big; there are u99, {LAB}"):
        read_course(path, ["u99", LAB])


def test_an_assignment_and_its_lab_have_dates_of_their_own():
    units = {"u01": "u01_graphs", "u01_lab_x": "u01_lab_x", "u02": "u02_rewrites"}
    course = Course(
        units={"u01": Unit(due=DUE), "u01_lab_x": Unit(release=DUE - DAY, due=DUE + DAY)},
        extensions={"ada": Extension({"u01_lab_x": DUE + 3 * DAY}, days=2)},
    )
    early, late = due_now(course, units, DUE - 2 * DAY), due_now(course, units, DUE)
    assert [due.key for due in early if due.release] == ["u01", "u02"]
    assert [due.key for due in late] == ["u01", "u01_lab_x", "u02"]
    assert late[1].notes == (), "its students have the library of their unit"
    said = " ".join(late[2].notes)
    assert "answers to u01," in said and "u01_lab_x" not in said, "no function of the library"
    assert course.due("u01", "ada") == DUE + 2 * DAY
    assert course.due("u01_lab_x", "ada") == DUE + 3 * DAY


def test_a_lab_of_library_functions_is_shown_by_the_next_unit(monkeypatch):
    monkeypatch.setitem(MODULES, EXERCISES[0], "passes.clean.dce")
    course = Course(units={LAB: Unit(due=DUE)})
    *_, last = due_now(course, {LAB: LAB, "u99": "u99_example", "v00": "v00_next"}, DUE - DAY)
    assert [note for note in last.notes if f"answers to {LAB}, which is open" in note]


def test_an_assignment_knows_its_key(lab, tmp_path):
    assignment = Assignment.of(lab, tmp_path)
    assert (assignment.key, assignment.unit, assignment.points) == (LAB, 99, 8)


def test_a_class_can_be_rehearsed_in_a_lab(notebooks, tmp_path):
    make_class(3, LAB, tmp_path / "class", notebooks=notebooks)
    assert f"[{LAB}]\n" in (tmp_path / "class" / "course.toml").read_text()


def test_nbgrader_has_the_lab_as_an_assignment(notebooks, tmp_path, monkeypatch):
    monkeypatch.setattr(nbgrader_course, "NOTEBOOKS", notebooks)
    for name, data in nbgrader_course.course_files(LAB).items():
        write(tmp_path / "class" / name, data)
    source = tmp_path / "class" / "source" / LAB / f"{LAB}.ipynb"
    assert "BEGIN SOLUTION" in source.read_text()
    assert [path.name for path in source.parents[1].iterdir()] == [LAB]
    nbgrader_course.add_library(LAB, ".", [str(source)])
    there = tmp_path / "class" / "release" / LAB / "autograder" / "units" / LAB
    assert (there / "checks.py").is_file() and not (there / "hidden.py").exists()
