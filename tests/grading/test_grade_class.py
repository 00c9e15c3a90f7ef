"""A term in one folder: roster, lateness, points by hand, and grading again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from autograder.grading.book.tables import read_table
from autograder.grading.grade_class import Job, grade_class

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"
COURSE = """time_zone = "Europe/Berlin"
roster = "roster.csv"
secret = "grey llamas"
[late]
percent_per_day = 10
[u99]
due = 2026-10-19T18:00:00
"""
ROSTER = "id,name,email\nada,Ada Lovelace,a@x.org\nbob,Bob,b@x.org\ncyd,Cyd,c@x.org\n"
WITH_POINTS_BY_HAND = (
    "11.5 of 10 points, 2 of them a bonus",
    "2 days late",
    "2.3 points are taken off",
    "Final: 9.2 of 10",
    "well said",
)
LATE = 1792515600  # 2026-10-20 19:00 in Berlin: two days


@pytest.fixture
def term(tmp_path, class_of, solved, untouched):
    """A class of three on the roster and one more; Ada is late, Cyd is absent."""
    (tmp_path / "course.toml").write_text(COURSE)
    (tmp_path / "roster.csv").write_text(ROSTER)
    files = {"ada.ipynb": solved, "bob.ipynb": untouched, "eve.ipynb": untouched, "fay.docx": b"PK"}
    for name, data in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        time = LATE if name == "ada.ipynb" else LATE - 200_000
        os.utime(path, (time, time))
    return lambda **options: class_of(course=tmp_path / "course.toml", **options)


def test_a_term(term, tmp_path):
    run = term()
    assert run.status == 0
    ada, bob, cyd = (run.rows[name] for name in ("ada", "bob", "cyd"))
    assert (ada["earned"], ada["penalty"], ada["final"], ada["to_grade"]) == ("10", "2", "", "2")
    assert ada["name"] == "Ada Lovelace" and "2 days late: 20 %" in ada["late"]
    assert ada["seed"] == bob["seed"] != "0"
    assert (bob["earned"], bob["final"], bob["late"]) == ("0", "0", "")
    assert (cyd["status"], cyd["final"]) == ("nothing handed in", "")
    assert run.rows["eve"]["status"] == run.rows["fay"]["status"] == "not on the roster"
    assert "a .docx file" in run.rows["fay"]["notes"]
    for said in (
        "1 handed in nothing: cyd",
        "2 handed in, and not on the roster: eve",
        "1 handed in what cannot be graded (the notes in grades.csv say why): fay",
        "2 wait",
    ):
        assert said in run.said

    # The explanation is read: points in the worklist, in a spreadsheet's way.
    path = run.out / "by-hand.csv"
    open_row, unread = read_table(path)
    assert (unread["student"], unread["exercise"]) == ("fay", "u99_example")
    assert (open_row["student"], open_row["exercise"], open_row["points"]) == ("ada", "u99.why", "")
    path.write_text(path.read_text().replace(",2,,,", ",2,1.5,well said,"))
    run = term(compare=run.out)
    ada = run.rows["ada"]
    found = [ada[name] for name in ("earned", "penalty", "final", "to_grade")]
    assert found == ["11.5", "2.3", "9.2", "0"]
    assert "u99.why: 1.5 of 2 points by hand: well said" in ada["notes"]
    assert "u99.why: – -> 1.5  points given by hand" in run.said
    page = (run.out / "feedback" / "u99_example" / "ada.html").read_text()
    for said in WITH_POINTS_BY_HAND:
        assert said in page
    assert "A person reads it and gives the points" not in page
    canvas = (run.out / "canvas.csv").read_text().splitlines()
    assert canvas[0].endswith("Section,u99_example") and canvas[1].endswith(",10")
    assert canvas[2].startswith("Ada Lovelace") and canvas[2].endswith(",9.2")
    assert canvas[4].startswith("Cyd") and canvas[4].endswith(",")


def test_another_class_and_the_term_have_their_pages(term, tmp_path, solved):
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "zoe.ipynb").write_bytes(solved)
    run = term(against=tmp_path / "last")
    originality = (run.out / "originality.html").read_text()
    assert "also with 1 of another class" in originality and "another class:\nzoe" in originality
    assert "zoe" not in (run.out / "grades.csv").read_text()
    page = (run.out / "term.html").read_text()
    assert "Cyd" in page and "eve" in page and "u99_example" in page
    assert str(run.out / "term.html") in run.said
    with pytest.raises(ValueError, match="nowhere does not exist"):
        term(against=tmp_path / "nowhere")


def test_a_mended_check_tells_whose_points_change(term):
    """The reports of the first run are as if a check had wrongly refused Ada."""
    first = term()
    path = first.out / "reports" / "u99_example" / "ada.json"
    report = json.loads(path.read_text())
    report["exercises"][0] |= {"earned": 0, "kind": "wrong", "check": "leaves_nothing_dead"}
    report["assignment_digest"] = "before the check was mended"
    path.write_text(json.dumps(report))
    hand = first.out / "by-hand.csv"
    hand.write_text(hand.read_text().replace(",2,,,", ",2,1,kept,"))

    run = term(compare=first.out)
    assert "Points change for 1: ada" in run.said
    rows = {row["exercise"]: row for row in read_table(run.out / "changes.csv")}
    assert (rows["u99.sweep"]["before"], rows["u99.sweep"]["after"]) == ("0", "3")
    assert rows["u99.sweep"]["why"].startswith("the check or the course changed: not yet right")
    assert run.rows["ada"]["u99.why"] == "1", "points by hand stay"
    assert "No one's points change." in term(compare=first.out).said


def test_an_interrupted_comparison_begins_where_the_first_did(term, monkeypatch):
    from autograder.grading import grade_class as room

    first = term()
    path = first.out / "reports" / "u99_example" / "ada.json"
    report = json.loads(path.read_text())
    report["exercises"][0]["earned"] = 1
    path.write_text(json.dumps(report))

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(room, "write_worklist", stop)  # the reports are written by then
        with pytest.raises(KeyboardInterrupt):
            term(compare=first.out)
    assert json.loads(path.read_text())["exercises"][0]["earned"] == 3
    assert "Points change for 1: ada" in term(compare=first.out).said


def test_mistakes_are_said_before_anything_is_graded(term, tmp_path):
    (tmp_path / "course.toml").write_text(COURSE + "[extensions.zoe]\nu99 = 2026-12-01\n")
    with pytest.raises(ValueError, match=r"extensions.zoe: nobody on the roster"):
        term()
    (tmp_path / "course.toml").write_text(COURSE + "[extensions.ada]\nu99 = 2026-12-01\n")
    run = term()
    assert run.rows["ada"]["late"] == ""
    (run.out / "by-hand.csv").write_text("student,assignment,exercise,points\nada,u,u99.why,3\n")
    with pytest.raises(ValueError, match="0 to 2 points"):
        term()
    with pytest.raises(ValueError, match="no reports to compare"):
        grade_class(Job(tmp_path / "in", tmp_path / "new", compare=tmp_path, notebooks=EXAMPLE))
