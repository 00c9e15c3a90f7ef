"""nbgrader's own commands with our grader in them: its gradebook holds our grades."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.check.validating import RUN, NotPassed, raise_for_nbgrader
from autograder.check.verdict import BY_HAND, GRADER, NOT_ATTEMPTED, PASSED, WRONG, Verdict
from autograder.edition.contents import notebook_bytes
from autograder.edition.deliver import deliver
from autograder.edition.sources import STUB
from autograder.grading.book.roster import Person

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def handed_out(source):
    """The notebook as students get it, with the cell that looks for what it needs."""
    return notebook_bytes(source, solutions=False, handed_out=True)


@pytest.fixture(scope="module")
def graded(once, tmp_path_factory, solved, handed_out):
    """A course in which a class of awkward submissions was graded with `nbgrader autograde`; a copy
    for each worker, because tests give points in it."""
    import autograder.grading.nbgrader_course as ours

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "NOTEBOOKS", Path(__file__).parents[1] / "example_unit" / "notebooks")
        made = once("nbgrader", lambda course: grade_class(course, submissions(solved, handed_out)))
        yield shutil.copytree(made, tmp_path_factory.mktemp("nbgrader") / "course")


def grade_class(course: Path, handed_in: dict[str, tuple[str, bytes]]) -> None:
    """Prepare the course in this folder, and grade what was handed in."""
    from autograder.grading.nbgrader_course import course_files, write_students

    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", programs)
        patch.chdir(course)
        deliver(course_files(99), course)
        write_students([Person("ada", "Ada Lovelace"), Person("bare", "Bare, Zoë M.")], course)
        api = api_of(course)
        assert api.generate_assignment("u99_example")["success"]
        for student, (name, data) in handed_in.items():
            path = course / "submitted" / student / "u99_example" / name
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
        assert api.autograde("u99_example", "*")["success"]
        make_fault(course, "bare")
        assert api.generate_feedback("u99_example", "ada")["success"]


def api_of(course: Path) -> Any:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    from autograder.grading.nbgrader import configure

    config = Config()
    config.CourseDirectory.root = str(course)
    configure(config)
    return NbGraderAPI(config=config)


def make_fault(course: Path, student: str) -> None:
    """As if our grader had failed at one exercise of this student."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        grade = book.find_grade("u99-bytes-check", "u99_example", "u99_example", student)
        grade.auto_score, grade.needs_manual_grade = None, True
        book.db.commit()


def submissions(solved: bytes, untouched: bytes) -> dict[str, tuple[str, bytes]]:
    bare, copied, cut = json.loads(solved), json.loads(solved), json.loads(solved)
    for cell in bare["cells"]:
        cell["metadata"] = {}
        cell.pop("id")
    copied["cells"] += [c for c in copied["cells"] if c["id"] == "u99-sweep"]
    cut["cells"] = [c for c in cut["cells"] if not c["id"].endswith("-check")]
    gone, split = json.loads(solved), json.loads(solved)
    (place,) = (n for n, c in enumerate(gone["cells"]) if c["id"] == "u99-why")
    del gone["cells"][place]
    again = {**split["cells"][place], "id": "6f9619ff", "source": ["And no side effects."]}
    split["cells"].insert(place + 1, again)
    name = "u99_example.ipynb"
    return {
        "ada": (name, solved),
        "bare": (name, json.dumps(bare).encode()),
        "broken": (name, b'{"cells": ['),
        "copied": (name, json.dumps(copied).encode()),
        "cut": (name, json.dumps(cut).encode()),
        "gone": (name, json.dumps(gone).encode()),
        "split": (name, json.dumps(split).encode()),
        "renamed": ("my homework (1).ipynb", solved),
        "untouched": (name, untouched),
    }


def test_gradebook_holds_our_grades(graded):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:
        found = {
            s.student.id: (s.score, s.needs_manual_grade)
            for s in book.assignment_submissions("u99_example")
        }
        assert book.find_assignment("u99_example").max_score == 10
    good, bad, fault, waits = (10.0, True), (0.0, False), (9.0, True), (0.0, True)
    assert found == {
        "ada": good, "bare": fault, "broken": waits, "copied": good, "cut": good, "renamed": good,
        "untouched": bad, "gone": (10.0, False), "split": good,
    }  # fmt: skip


def test_the_cell_of_an_explanation_holds_what_was_written_and_nothing_else(graded):
    def explanation(student: str) -> str:
        path = graded / "autograded" / student / "u99_example" / "u99_example.ipynb"
        cells = json.loads(path.read_text())["cells"]
        known = (c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "u99-why")
        (cell,) = known
        return "".join(cell["source"])

    assert explanation("gone") == "*Write your answer here.*"
    whole = explanation("split")
    assert "no side effects" in whole and whole.endswith("And no side effects.")


def test_nbgraders_release_is_our_students_notebook(graded, handed_out):
    released = json.loads((graded / "release/u99_example/u99_example.ipynb").read_text())
    ours = json.loads(handed_out)
    assert [c["source"] for c in released["cells"]] == [c["source"] for c in ours["cells"]]


def test_nbgraders_feedback_shows_our_verdicts_and_fetches_nothing(graded):
    page = (graded / "feedback/ada/u99_example/u99_example.html").read_text()
    assert "140 random programs" in page
    assert not re.search(r"""<(script|link)[^>]*(src|href)=["']https?:""", page)
    assert "990_001" not in page and "harder(" not in page


def test_fetched_release_runs_in_a_fresh_folder(graded, tmp_path):
    """What a student fetches from nbgrader's exchange is the notebook with its library."""
    from autograder.edition.execute import execute

    shutil.copytree(graded / "release" / "u99_example", tmp_path / "u99_example")
    path = tmp_path / "u99_example" / "u99_example.ipynb"
    content = json.loads(path.read_text())
    code = "import autograder.check, course_lib\nprint('from', course_lib.__file__)"
    where = {**content["cells"][1], "source": [code], "id": "where", "cell_type": "code",
             "outputs": [], "execution_count": None, "metadata": {}}  # fmt: skip
    path.write_text(json.dumps({**content, "cells": [*content["cells"], where]}))
    execute(path)
    said = json.dumps(json.loads(path.read_text())["cells"])
    assert f"from {tmp_path}" in said and "not attempted yet" in said
    assert not list(tmp_path.rglob("hidden.py")) and not list(tmp_path.rglob("mutants*"))


ANSWERS = {  # wrong, no Python, an error before the function is there; u99-until stays as it is
    "u99-sweep": ("", "return graph"),
    "u99-bytes": ("", "return 24 +"),
    "u99-dead": ("shape = [1, 2][2]\n", "return None"),
}
RIGHT = "u99-live"


def validated(graded: Path, folder: Path, solved: bytes, answers: dict = ANSWERS) -> str:
    """What `nbgrader validate` says to a student with these answers, or with ours."""
    shutil.copytree(graded / "release" / "u99_example", folder)
    path = folder / "u99_example.ipynb"
    notebook = json.loads(path.read_text())
    ours = {cell["id"]: cell["source"] for cell in json.loads(solved)["cells"]}
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        name = about.get("grade_id")
        if name in answers:
            above, body = answers[name]
            cell["source"] = above + "".join(cell["source"]).replace(STUB, body)
        elif about.get("solution") and (name == RIGHT or not answers):
            cell["source"] = ours[cell["id"]]
    path.write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "nbgrader", "validate", path.name]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert "Cell output is" not in done.stderr, "nbgrader takes a verdict for a number of points"
    return done.stdout


def test_validate_says_what_is_wrong_blank_or_broken(graded, tmp_path, solved):
    said = validated(graded, tmp_path / "u99_example", solved)
    _, *failed = said.split("The following cell failed:")
    names = [(re.findall(r"u99\.\w+", text) or ["u99.why"])[0] for text in failed]
    told = {name: " ".join(text.split()) for name, text in zip(names, failed, strict=True)}
    assert "VALIDATION FAILED ON 5 CELL(S)" in said and "Success" not in said
    assert "not yet right" in told["u99.sweep"] and "graph @" in told["u99.sweep"]
    assert "SyntaxError" in told["u99.bytes"] and "return 24 +" in told["u99.bytes"]
    assert "IndexError" in told["u99.dead"] and "line 1 of your cell: shape" in told["u99.dead"]
    assert "still holds the empty stub" in told["u99.until"]
    assert "You did not provide a response" in told["u99.why"]
    assert "u99.live" not in told and "Traceback" not in said and "..." not in said


def test_validate_has_nothing_to_say_about_right_answers(graded, tmp_path, solved):
    said = validated(graded, tmp_path / "u99_example", solved, answers={})
    assert said == "Success! Your notebook passes all the tests.\n"


@pytest.mark.parametrize("run", ["", "validate", "autograde"])
@pytest.mark.parametrize(
    "kind, earned, raises",
    [(PASSED, 2.0, False), (PASSED, 1.0, True), (WRONG, 0.0, True), (BY_HAND, None, False),
     (GRADER, None, True), (NOT_ATTEMPTED, 0.0, True)],
)  # fmt: skip
def test_a_check_raises_in_nbgraders_runs_only(monkeypatch, run, kind, earned, raises):
    monkeypatch.delenv(RUN, raising=False)
    if run:
        monkeypatch.setenv(RUN, run)
    verdict = Verdict("u99.sweep", kind, 2, earned, tried=("40 programs",), problem="word " * 40)
    expected = pytest.raises(NotPassed) if run and raises else contextlib.nullcontext()
    with expected as info:
        raise_for_nbgrader(verdict)
    if info:
        assert max(map(len, str(info.value).splitlines())) <= 80


def exported(course: Path) -> dict[str, dict[str, str]]:
    from nbgrader.api import Gradebook

    from autograder.grading.nbgrader_course import Export

    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.update_or_create_student("zoe", last_name="=cmd", first_name="Zoë, the late")
        Export(to=str(course / "grades.csv")).export(book)
    with (course / "grades.csv").open(newline="") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def test_export_has_no_zero_for_what_nobody_looked_at(graded):
    rows = exported(graded)
    fault, absent, done = rows["bare"], rows["zoe"], rows["untouched"]
    assert (fault["score"], fault["to_grade"]) == ("", "3") and "u99-bytes-check" in fault["note"]
    assert (absent["score"], absent["note"]) == ("", "nothing handed in")
    assert absent["last_name"] == "'=cmd"
    assert (done["score"], done["to_grade"], done["max_score"]) == ("0", "", "10")


def test_a_bonus_is_more_than_nbgraders_maximum_and_given_by_hand_as_extra_credit(graded):
    from nbgrader.api import Gradebook

    place = ("u99-live-check", "u99_example", "u99_example", "copied")
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:
        grade = book.find_grade(*place)
        assert (grade.auto_score, grade.max_score, grade.failed_tests) == (2, 0, False)
        why = book.find_grade("u99-why", *place[1:])
        why.manual_score, why.needs_manual_grade = 2, False
        book.db.commit()
    done = exported(graded)["copied"]
    assert (done["score"], done["max_score"], done["to_grade"]) == ("12", "10", "")

    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:  # as if our grader had failed there
        grade = book.find_grade(*place)
        grade.auto_score, grade.needs_manual_grade = 0.0, True
        book.db.commit()
    waits = exported(graded)["copied"]
    assert (waits["score"], waits["to_grade"]) == ("", "2") and "u99-live-check" in waits["note"]
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:  # what formgrader then writes
        grade = book.find_grade(*place)
        grade.extra_credit, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    assert exported(graded)["copied"]["score"] == "11.5"


@pytest.mark.parametrize(
    "further, earned, score, is_open",
    [(False, None, None, True), (True, None, 0.0, True), (True, 2.0, 2.0, False)],
)
def test_what_nobody_has_looked_at_has_a_score_only_if_extra_credit_needs_one(
    further, earned, score, is_open
):
    from autograder.grading.nbgrader import SaveGrades

    grade = SimpleNamespace(auto_score=None, manual_score=None, needs_manual_grade=None)
    book = SimpleNamespace(find_grade=lambda *_: grade, db=SimpleNamespace(commit=lambda: None))
    saving = SaveGrades()
    saving.gradebook, saving.notebook_id, saving.assignment_id = book, "n", "a"
    saving.student_id = "ada"
    cell = SimpleNamespace(metadata={"nbgrader": {"grade_id": "x-y-check"}})
    verdict = Verdict("x.y", PASSED if earned else BY_HAND, 2, earned, further=further)
    saving._add_score(cell, {"course_verdicts": {"x-y": verdict}})
    assert (grade.auto_score, grade.needs_manual_grade) == (score, is_open)


@contextlib.contextmanager
def formgrader(course: Path, home: Path):
    """nbgrader's formgrader, served as a teacher starts it; yields what makes its addresses."""
    extensions = "ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"
    here = ("--ServerApp.ip=127.0.0.1", "--port=0", "--IdentityProvider.token=")  # nobody logs in
    flags = ("--no-browser", "--allow-root", *here, f"--{extensions}")
    command = [sys.executable, "-m", "jupyter_server", *flags]
    places = ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "HOME")
    environment = {**os.environ, **dict.fromkeys(places, str(home))}
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=course, env=environment, stdout=log, stderr=log)
    try:
        while not (found := list(home.glob("jpserver-*.json"))):
            assert server.poll() is None, (home / "log").read_text()
            time.sleep(0.2)
        while True:
            with contextlib.suppress(ValueError):  # it is being written
                info = json.loads(found[0].read_text())
                break
        yield lambda path: f"{info['url']}formgrader/{path}"
    finally:
        server.terminate()
        server.wait()


def test_the_roster_gives_formgrader_names_and_grading_keeps_them(graded, tmp_path, capsys):
    from nbgrader.api import Gradebook

    from autograder.__main__ import main

    roster, course = tmp_path / "roster.csv", tmp_path / "class"
    roster.write_text("id,first name,last name,email\nada,Ada,King Lovelace,ada@x\njo,,,\n")
    command = ["nbgrader", "--unit", "0", "--into", str(course)]
    assert main([*command, "--roster", str(roster)]) == 0
    assert "names 2 students" in capsys.readouterr().out
    (tmp_path / "course.toml").write_text('roster = "roster.csv"')
    roster.write_text("id,name\nada,Ada Lovelace\n")
    assert main([*command, "--course", str(tmp_path / "course.toml")]) == 0
    known = {"ada": ("Ada", "Lovelace"), "jo": ("", "jo")}
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        assert {s.id: (s.first_name, s.last_name) for s in book.students} == known
        assert not book.find_student("jo").email
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:
        student = book.find_student("bare")
        assert (student.first_name, student.last_name) == ("Zoë M.", "Bare")


def test_points_given_in_formgrader_arrive_in_the_export(graded, tmp_path, browser):
    from nbgrader.api import Gradebook

    assert exported(graded)["ada"]["score"] == ""
    with Gradebook(f"sqlite:///{graded}/gradebook.db") as book:
        here = ("u99_example", "u99_example", "ada")
        submission = book.find_submission_notebook(*here).id
    with formgrader(graded, tmp_path) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.route(lambda url: "//127.0.0.1:" not in url, lambda route: route.abort())
        page.goto(address("manage_students"), wait_until="domcontentloaded")
        page.get_by_text("Lovelace, Ada").wait_for(timeout=120_000)
        assert page.get_by_text("Bare, Zoë M.").is_visible()
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=f"{folder}/students.png")
        page.goto(address("gradebook/u99_example/u99_example"), wait_until="domcontentloaded")
        page.goto(address(f"submissions/{submission}"), wait_until="load")
        points = page.locator("input.score#u99-why")
        page.locator("input.score#u99-why.needs_manual_grade").wait_for(timeout=120_000)
        if folder := os.environ.get("SCREENSHOTS"):
            points.scroll_into_view_if_needed()
            page.screenshot(path=f"{folder}/formgrader.png")
        with page.expect_response(lambda r: "/api/grade/" in r.url and r.request.method == "PUT"):
            points.fill("1.5")
            points.press("Tab")
        page.close()
    ada = exported(graded)["ada"]
    assert (ada["score"], ada["to_grade"], ada["note"]) == ("11.5", "", "")
