"""Nothing is handed out too early, and what it gives away is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from autograder.__main__ import main
from autograder.grading.book.course import Course, Extension, Late, Unit
from autograder.grading.book.releases import due_now

T = datetime(2026, 10, 19, 18, tzinfo=UTC)
DAY = timedelta(days=1)
UNITS = {"u01": "u01_graphs", "u02": "u02_rewrites"}
COURSE = Course(
    units={
        "u01": Unit(release=T - 14 * DAY, due=T, solutions=T + 7 * DAY, late=Late(cut_off_days=3)),
        "u02": Unit(release=T + DAY, due=T + 14 * DAY),
    },
    extensions={"ada": Extension({"u01": T + 2 * DAY})},
)


@pytest.mark.parametrize(
    "now, released, solved",
    [
        (T - 15 * DAY, [], []),
        (T - 14 * DAY, ["u01"], []),
        (T + DAY, ["u01", "u02"], []),
        (T + 7 * DAY, ["u01", "u02"], ["u01"]),
    ],
)
def test_units_and_solutions_have_their_days(now, released, solved):
    found = due_now(COURSE, UNITS, now)
    assert [d.key for d in found if d.release] == released
    assert [d.key for d in found if d.solutions] == solved


def test_a_release_that_gives_answers_away_is_said():
    """The extension of one student and the late days after it count."""
    said = " ".join(text for due in due_now(COURSE, UNITS, T + 5 * DAY) for text in due.notes)
    assert "u02_rewrites: it shows the answers to u01, which is open until 2026-10-24 18:00" in said
    assert not [text for due in due_now(COURSE, UNITS, T + 6 * DAY) for text in due.notes]


def test_solutions_that_are_out_while_it_is_open_are_said():
    open_long = Course(units={"u01": Unit(due=T, solutions=T, late=Late(cut_off_days=3))})
    (due,) = due_now(open_long, {"u01": "u01_graphs"}, T + DAY)
    assert due.solutions and "open for somebody until" in due.notes[0]


def test_the_command_refuses_and_releases(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "course.toml").write_text(
        "[u00]\nrelease = 2000-01-01\ndue = 2000-02-01\nsolutions = 2000-03-01\n"
        "[u01]\nrelease = 2999-01-01\n"
    )
    assert main(["release", "--unit", "1", "--into", "out"]) == 1
    assert "u01_graphs: not before 2999-01-01" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main(["release", "--unit", "0", "--into", "out"]) == 0
    student = (tmp_path / "out" / "u00_tour" / "u00_tour.ipynb").read_text()
    solved = (tmp_path / "out" / "solutions" / "u00_tour" / "u00_tour.ipynb").read_text()
    assert "BEGIN SOLUTION" in solved and "BEGIN SOLUTION" not in student
    assert main(["release", "--unit", "1", "--into", "out", "--anyway"]) == 0
    assert "handed out before" in capsys.readouterr().out
