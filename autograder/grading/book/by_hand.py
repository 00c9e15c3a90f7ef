"""by-hand.csv: what a person has to read, and the points that they give.

    student,assignment,exercise,what,text,possible,points,comment,seen
    ada,u02_rewrites,u02.meaning,explanation,"Dead code has ...",2,,,t61f0

Grading writes it with a line for each explanation and each fault of the grader. Fill in points and
comment, in a spreadsheet if you like, and grade again: what stands there is kept whatever changes,
and shown in the feedback. A line that you add for another exercise replaces the grader's verdict.

What cannot be graded, because it cannot be read, has one line with the assignment's name in place
of an exercise's: points there are for the whole of it, until a file comes that can be graded.

Next room: exports.py, where the points arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.check.verdict import BY_HAND, GRADER, Verdict
from autograder.edition.manifest import digest
from autograder.grading.book.entries import OTHER, Entry
from autograder.grading.book.tables import MAX_CELL, Row, number, read_table, write_table
from autograder.grading.report import Report

FILE = "by-hand.csv"
HEAD = [
    "student", "assignment", "exercise", "what", "text", "possible", "points", "comment", "seen",
]  # fmt: skip
NEEDED = ("student", "assignment", "exercise", "points")
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Given:
    """One line of the file: points (None: not yet), and which text they were given for."""

    points: float | None
    comment: str = ""
    seen: str = ""
    what: str = ""
    text: str = ""
    possible: str = ""


def read_points(
    path: Path, possible: dict[str, float], students: Iterable[str] = ()
) -> dict[Key, Given]:
    """The file's lines; none if there is no file. Raises ValueError with line and column.

    `possible` has the points of every exercise and assignment that there is. A number that a
    spreadsheet made of an id in `students` (7 of 007) means that id.
    """
    if not path.exists():
        return {}
    given: dict[Key, Given] = {}
    whole = {student.lstrip("0"): student for student in students if student.isdigit()}
    for row in read_table(path, NEEDED):
        student = whole.get(row["student"], row["student"])
        key = (student, row["assignment"], row["exercise"])
        where = f"{path.name}, line {row.line}"
        if key in given:
            raise ValueError(f"{where}: {', '.join(key)} stands there twice")
        given[key] = _given(row, path.name, possible)
    return given


def with_points(entry: Entry, given: dict[Key, Given]) -> Entry:
    """The line with the points that a person gave in its report, and a note on each."""
    if entry.report is None:
        return entry
    notes: list[str] = []
    verdicts = []
    whole = given.get((entry.student, entry.assignment, entry.assignment))
    if entry.report.is_ungradable and whole is not None and whole.points is not None:
        entry = replace(entry, report=_shared_out(entry.report, whole.points))
        comment = f": {whole.comment}" if whole.comment else ""
        points = f"{whole.points:g} of {entry.possible:g} points by hand"
        notes.append(f"{entry.assignment}: {points}{comment}")
    assert entry.report is not None
    for verdict in entry.report.verdicts:
        mine = given.get((entry.student, entry.assignment, verdict.exercise))
        if mine is None or mine.points is None:
            verdicts.append(verdict)
            continue
        verdicts.append(_decided(verdict, mine))
        notes.append(_note(verdict, mine, entry.report))
    report = replace(entry.report, verdicts=tuple(verdicts))
    return replace(entry, report=report, notes=(*entry.notes, *notes))


def write_worklist(path: Path, lines: Iterable[Entry], given: dict[Key, Given]) -> int:
    """Write the file anew: everything that needs a person, and everything ever given. Returns how
    many lines have no points yet. `lines` are as the grader left them, without anybody's points."""
    rows: dict[Key, list[str]] = {}
    for key, mine in given.items():
        points = "" if mine.points is None else f"{mine.points:g}"
        kept = [mine.what, mine.text, mine.possible, points, mine.comment, mine.seen]
        if points or mine.comment:
            rows[key] = [*key, *kept]
    for entry in lines:
        if entry.report is None or entry.status == OTHER:
            continue
        if entry.report.is_ungradable:
            key = (entry.student, entry.assignment, entry.assignment)
            rows[key] = _whole(key, entry.report, given.get(key, Given(None)))
            continue
        for verdict in entry.report.verdicts:
            if verdict.earned is None:
                key = (entry.student, entry.assignment, verdict.exercise)
                rows[key] = _row(key, verdict, entry.report, given.get(key, Given(None)))
    write_table(path, HEAD, [rows[key] for key in sorted(rows)], mark=True)
    return sum(not row[HEAD.index("points")] for row in rows.values())


def _shared_out(report: Report, points: float) -> Report:
    """The report with points for the whole of it: each exercise takes what is left, up to its own;
    a bonus takes nothing."""
    verdicts = []
    for verdict in report.verdicts:
        earned = 0.0 if verdict.further else min(points, verdict.points)
        points -= earned
        verdicts.append(replace(verdict, earned=earned))
    return replace(report, verdicts=tuple(verdicts))


def _whole(key: Key, report: Report, mine: Given) -> list[str]:
    points = "" if mine.points is None else f"{mine.points:g}"
    reason = " ".join(report.notes)[:MAX_CELL]
    return [*key, "cannot be graded", reason, f"{report.possible:g}", points, mine.comment, ""]


def _given(row: Row, name: str, possible: dict[str, float]) -> Given:
    where, exercise = f"{name}, line {row.line}", row["exercise"]
    points = number(row, "points", name)
    if points is not None:
        if exercise not in possible:
            raise ValueError(f"{where}: there is no exercise {exercise!r}")
        if not 0 <= points <= possible[exercise]:
            most = possible[exercise]
            raise ValueError(f"{where}: {exercise} has 0 to {most:g} points, not {points:g}")
    known = {key: row.get(key, "") for key in ("comment", "seen", "what", "text", "possible")}
    return Given(points, **known)


def _decided(verdict: Verdict, mine: Given) -> Verdict:
    kind = BY_HAND if verdict.kind == GRADER else verdict.kind
    problem = mine.comment if kind == BY_HAND else verdict.problem
    return replace(verdict, kind=kind, earned=mine.points, problem=problem, error="")


def _note(verdict: Verdict, mine: Given, report: Report) -> str:
    comment = f": {mine.comment}" if mine.comment else ""
    text = f"{verdict.exercise}: {mine.points:g} of {verdict.points:g} points by hand{comment}"
    if mine.seen and verdict.kind == BY_HAND and mine.seen != _seen(verdict, report):
        text += " (the text has changed since)"
    return text


def _row(key: Key, verdict: Verdict, report: Report, mine: Given) -> list[str]:
    fault = verdict.kind == GRADER
    text = verdict.problem if fault else report.texts.get(verdict.exercise, "")
    if len(text) > MAX_CELL:
        text = text[:MAX_CELL] + " ... (the whole text is in the report)"
    points = "" if mine.points is None else f"{mine.points:g}"
    seen = mine.seen if points and mine.seen else _seen(verdict, report)
    what = "the grader failed" if fault else "explanation"
    return [*key, what, text, f"{verdict.points:g}", points, mine.comment, seen]


def _seen(verdict: Verdict, report: Report) -> str:
    """A short name of the text, which no spreadsheet takes for a number."""
    text = report.texts.get(verdict.exercise, "")
    return f"t{digest(text.encode('utf-8', 'replace'))[:11]}"
