"""The commands as a teacher types them."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.sources import sources

TOUR = next(iter(sources(COURSE / "notebooks", 0)))


def command(*arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "autograder", *map(str, arguments)],
        cwd=COURSE, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A class of two, graded by the command."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "in").mkdir()
    (folder / "in" / "ada.ipynb").write_bytes(notebook_bytes(TOUR, solutions=True))
    (folder / "in" / "bob_u00_tour.ipynb").write_bytes(notebook_bytes(TOUR, solutions=False))
    done = command("grade", "--submissions", folder / "in", "--unit", "0", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    assert "2 to grade; sandbox:" in done.stdout and "2 rows" in done.stdout
    return folder / "out"


def test_grade_writes_grades_reports_and_feedback(graded):
    rows = list(csv.DictReader((graded / "grades.csv").read_text().splitlines()))
    assert [row["student"] for row in rows] == ["ada", "bob"]
    ada, bob = rows
    without_bonus = float(ada["earned"]) - float(ada["bonus"])
    assert without_bonus + float(ada["to_grade"]) == float(ada["possible"]) > 0
    assert float(bob["earned"]) == float(bob["to_grade"]) == 0
    for student in ("ada", "bob"):
        assert (graded / "reports" / TOUR.name / f"{student}.json").exists()
        assert student in (graded / "feedback" / TOUR.name / f"{student}.html").read_text()


def test_release_and_nbgrader_write_what_they_say(tmp_path):
    done = command("release", "--unit", "0", "--into", tmp_path)
    assert f"{TOUR.name}: ready to hand out" in done.stdout, done.stderr
    assert (tmp_path / TOUR.name / f"{TOUR.name}.ipynb").exists()
    done = command("nbgrader", "--unit", "0", "--into", tmp_path / "course")
    assert "run nbgrader there" in done.stdout, done.stderr
    assert (tmp_path / "course" / "nbgrader_config.py").exists()


def test_build_says_what_it_kept(tmp_path, capsys):
    arguments = ["build", "--edition", "open", "--unit", "0", "--into", str(tmp_path)]
    assert main(arguments) == 0
    path = tmp_path / f"{TOUR.name}.ipynb"
    path.write_bytes(path.read_bytes() + b" ")
    assert main(arguments) == 0
    assert "up to date" in capsys.readouterr().out and path.read_bytes().endswith(b" ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade", "--submissions", "/nothing/here", "--unit", "0", "--out", "/tmp/never"],
        ["build", "--edition", "open", "--unit", "77", "--into", "/tmp/never"],
        ["release", "--unit", "77", "--into", "/tmp/never"],
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, capsys):
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"autograder {arguments[0]}: ") and said.count("\n") == 1
