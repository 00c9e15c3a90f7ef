"""nbgrader's own commands with our grader in them: its gradebook holds our grades."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from autograder.edition.deliver import deliver

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def graded(tmp_path_factory, solved, untouched):
    """A course in which a class of awkward submissions was graded with `nbgrader autograde`."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    import autograder.grading.nbgrader as ours

    course = tmp_path_factory.mktemp("course")
    before = (Path.cwd(), ours.NOTEBOOKS, os.environ["PATH"])
    ours.NOTEBOOKS = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before[2]}"
    os.chdir(course)
    try:
        deliver(ours.course_files(99), course)
        config = Config()
        config.CourseDirectory.root = str(course)
        ours.configure(config)
        api = NbGraderAPI(config=config)
        assert api.generate_assignment("u99_example")["success"]
        for student, (name, data) in submissions(solved, untouched).items():
            path = course / "submitted" / student / "u99_example" / name
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
        assert api.autograde("u99_example", "*")["success"]
        assert api.generate_feedback("u99_example", "ada")["success"]
        yield course
    finally:
        os.chdir(before[0])
        ours.NOTEBOOKS = before[1]
        os.environ["PATH"] = before[2]


def submissions(solved: bytes, untouched: bytes) -> dict[str, tuple[str, bytes]]:
    bare, copied, cut = json.loads(solved), json.loads(solved), json.loads(solved)
    for cell in bare["cells"]:
        cell["metadata"] = {}
        cell.pop("id")
    copied["cells"] += [c for c in copied["cells"] if c["id"] == "u99-sweep"]
    cut["cells"] = [c for c in cut["cells"] if not c["id"].endswith("-check")]
    name = "u99_example.ipynb"
    return {
        "ada": (name, solved),
        "bare": (name, json.dumps(bare).encode()),
        "broken": (name, b'{"cells": ['),
        "copied": (name, json.dumps(copied).encode()),
        "cut": (name, json.dumps(cut).encode()),
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
    good, bad = (8.0, True), (0.0, False)
    assert found == {
        "ada": good, "bare": good, "broken": bad, "copied": good, "cut": good, "renamed": good,
        "untouched": bad,
    }  # fmt: skip


def test_nbgraders_release_is_our_students_notebook(graded, untouched):
    released = json.loads((graded / "release/u99_example/u99_example.ipynb").read_text())
    ours = json.loads(untouched)
    assert [c["source"] for c in released["cells"]] == [c["source"] for c in ours["cells"]]


def test_nbgraders_feedback_shows_our_verdicts_and_fetches_nothing(graded):
    page = (graded / "feedback/ada/u99_example/u99_example.html").read_text()
    assert "140 random programs" in page
    assert not re.search(r"""<(script|link)[^>]*(src|href)=["']https?:""", page)
    assert "990_001" not in page and "harder(" not in page
