"""Points by keyboard: nobody's name is shown, and nothing that was typed is lost."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.edition.contents import COURSE
from autograder.grading.book.by_hand import HEAD
from autograder.grading.book.reading import ASK, read_answers, waiting
from autograder.grading.book.tables import read_table, write_table

STUDENTS = ("ada", "bob", "cyd", "=dan", "007")


def row(student: str, exercise: str = "u99.why", what: str = "explanation", text: str = "") -> list:
    words = text or f"What {len(student)} thinks."
    return [student, "u99_example", exercise, what, words, "2", "", "", f"t{student}{exercise}"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    rows = [row(student, exercise) for student in STUDENTS for exercise in ("u99.why", "u99.how")]
    rows.append(row("fay", "u99_example", "cannot be graded"))
    write_table(tmp_path / "by-hand.csv", HEAD, rows, mark=True)
    return tmp_path


def typing(*keys: str) -> Callable[[str], str]:
    """Somebody who types these, and then no more."""
    left = list(keys)
    return lambda prompt: left.pop(0) if left else ""


def session(book: Path, *keys: str, only: str | None = None) -> str:
    said: list[str] = []
    read_answers(book, only, typing(*keys), said.append)
    return "\n".join(said)


def points(book: Path) -> dict[tuple[str, str], tuple[str, str]]:
    rows = read_table(book / "by-hand.csv")
    return {(r["student"], r["exercise"]): (r["points"], r["comment"]) for r in rows if r["points"]}


def test_each_exercise_has_an_order_of_its_own_and_keeps_it(book):
    answers = waiting(book / "by-hand.csv")
    orders = [[a.key[0] for a in answers if a.exercise == name] for name in ("u99.how", "u99.why")]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(STUDENTS) and orders[0] != orders[1]
    session(book, "2", "2")
    assert [a.key for a in waiting(book / "by-hand.csv")] == [a.key for a in answers[2:]]


def test_what_is_shown_names_nobody(book):
    said = session(book, *"s" * 20)
    assert not any(name in said for name in STUDENTS) and "answer 5 of 5" in said
    assert "Read: 0. Still without points: 10." in said


def test_the_rubric_and_its_samples_are_shown(book):
    said = session(book, "r", only="u99.why")
    assert said.count("== u99.why, 2 points ==") == 2 and "(2 of 2) " in said


def test_points_comments_and_undo(book):
    order = [a.key[0] for a in waiting(book / "by-hand.csv", "u99.why")]
    said = session(book, "2", "c", "1,5 half of it", "x", "3", "0", "u", "1", only="u99.why")
    assert said.count("has 0 to 2 points: nothing was written") == 2
    assert points(book) == {
        (order[0], "u99.why"): ("2", ""),
        (order[1], "u99.why"): ("1.5", "half of it"),
        (order[2], "u99.why"): ("1", ""),
    }
    assert "Nothing was given yet" in session(book, "u", only="u99.why")


def test_control_c_loses_nothing(book):
    keys = iter("21")

    def ask(prompt: str) -> str:
        for key in keys:
            return key
        raise KeyboardInterrupt

    said: list[str] = []
    assert read_answers(book, None, ask, said.append) == 2
    assert sorted(p for p, _ in points(book).values()) == ["1", "2"] and "points: 8." in said[-1]


def test_other_lines_stay_as_somebody_saved_them_meanwhile(book):
    path = book / "by-hand.csv"
    first, second = (a.key for a in waiting(path, "u99.why")[:2])

    def ask(prompt: str) -> str:
        if points(book):
            return "q"
        rows = [[*r.values(), "mine"] for r in read_table(path)]
        for one in rows:
            if one[0] == second[0] and one[2] == "u99.why":
                one[6] = "0.5"
        write_table(path, [*HEAD, "note"], rows, mark=True)
        return "2"

    read_answers(book, "u99.why", ask, lambda text: None)
    assert points(book)[first[0], "u99.why"] == ("2", "")
    assert points(book)[second[0], "u99.why"] == ("0.5", "")
    assert {r["note"] for r in read_table(path)} == {"mine"}


def test_a_text_that_changed_gets_no_points_meant_for_another(book):
    path = book / "by-hand.csv"

    def ask(prompt: str) -> str:
        if "changed" in path.read_text():
            return "q"
        write_table(
            path, HEAD, [[*list(r.values())[:-1], "changed"] for r in read_table(path)], True
        )
        return "2"

    said: list[str] = []
    read_answers(book, None, ask, said.append)
    assert points(book) == {} and any("has changed" in text for text in said)


def test_what_a_student_wrote_moves_no_cursor(tmp_path):
    evil = "fine\x1b[2J\x1b]0;title\x07\n\u202eback\n" + "long " * 50
    write_table(tmp_path / "by-hand.csv", HEAD, [row("ada", text=evil)], mark=True)
    said = session(tmp_path, "s")
    assert "\x1b" not in said and "\x07" not in said and "\u202e" not in said
    assert "fine" in said and max(map(len, said.splitlines())) <= 100


def test_there_has_to_be_a_file(tmp_path):
    with pytest.raises(ValueError, match="grade first"):
        session(tmp_path)
    write_table(tmp_path / "by-hand.csv", HEAD, [], mark=True)
    assert "Read: 0. Still without points: 0." in session(tmp_path)


def test_at_a_terminal_one_key_is_enough(book):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "autograder", "read", "--out", book, "--exercise", "u99.why"]
    running = subprocess.Popen(command, cwd=COURSE, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    for key in (b"2", b"c", b"1 good\n", b"q"):
        wanted = b"comment: " if key.endswith(b"\n") else ASK.encode()
        while not seen.endswith(wanted):
            assert select.select([ours], [], [], 60)[0], seen
            seen += os.read(ours, 1000)
        seen = b""
        os.write(ours, key)
    while select.select([ours], [], [], 60)[0]:
        try:
            seen += os.read(ours, 1000)
        except OSError:  # Linux says so where the other end was closed
            break
    assert running.wait(60) == 0, seen
    os.close(ours)
    assert b"Read: 2. Still without points: 3." in seen
    assert sorted(points(book).values()) == [("1", "good"), ("2", "")]
