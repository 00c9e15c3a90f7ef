"""Grading again: who gets other points, and why. changes.csv, and one sentence for the teacher.

    student,assignment,exercise,before,after,why
    ada,u02_rewrites,passes.dce,0,3,the check or the course changed: not yet right -> passed

Next room: statistics.py, the class as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.check.verdict import HEADLINE
from autograder.grading.book.entries import Entry
from autograder.grading.book.tables import write_table

HEAD = ["student", "assignment", "exercise", "before", "after", "why"]
Reports = dict[tuple[str, str], dict[str, Any]]


def read_reports(out: Path) -> Reports:
    """The reports under `out`/reports as plain data, by student and assignment."""
    reports: Reports = {}
    for path in sorted((out / "reports").glob("*/*.json")):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
            reports[report.get("student", path.stem), report["assignment"]] = report
        except (OSError, ValueError, KeyError, AttributeError):
            raise ValueError(f"{path} cannot be read as a report") from None
    return reports


def changes(before: Reports, lines: Iterable[Entry]) -> list[list[str]]:
    """A row for each exercise whose points differ, and for the final points where these do."""
    rows: list[list[str]] = []
    left = dict(before)
    for line in lines:
        old = left.pop((line.student, line.assignment), None)
        if line.report is None:
            continue
        if old is None:
            rows.append([line.student, line.assignment, "", "", _text(line.earned), "new"])
            continue
        rows += _changed(old, line)
    for (student, assignment), old in left.items():
        rows.append(
            [student, assignment, "", _text(old.get("earned")), "", "not handed in any more"]
        )
    return sorted(rows)


def write_changes(rows: list[list[str]], out: Path) -> Path:
    return write_table(out / "changes.csv", HEAD, rows, mark=False)


def told(rows: list[list[str]]) -> list[str]:
    """The changes in words, the first few by name."""
    if not rows:
        return ["No one's points change."]
    people = sorted({row[0] for row in rows})
    lines = [f"Points change for {len(people)}: {', '.join(people[:12])}"]
    if len(people) > 12:
        lines[0] += f" and {len(people) - 12} more"
    for student, assignment, exercise, old, new, why in rows[:20]:
        lines.append(f"  {student}  {exercise or assignment}: {old or '–'} -> {new or '–'}  {why}")
    if len(rows) > 20:
        lines.append(f"  ... {len(rows) - 20} more rows in changes.csv")
    return lines


def _changed(old: dict[str, Any], line: Entry) -> list[list[str]]:
    assert line.report is not None
    before = {v["exercise"]: v for v in old.get("exercises", [])}
    after = {v.exercise: v.to_json() for v in line.report.verdicts}
    rows = []
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name, {}), after.get(name, {})
        if was.get("earned") != now.get("earned"):
            row = [line.student, line.assignment, name, _text(was.get("earned"))]
            rows.append([*row, _text(now.get("earned")), _why(old, line, was, now)])
    if old.get("penalty", 0) != line.penalty:
        row = [
            line.student,
            line.assignment,
            "penalty",
            _text(old.get("penalty")),
            _text(line.penalty),
        ]
        rows.append([*row, line.late.words if line.late else "no longer late"])
    return rows


def _why(old: dict[str, Any], line: Entry, was: dict[str, Any], now: dict[str, Any]) -> str:
    report = line.report
    assert report is not None
    given = tuple(f"{name}: " for name in (now.get("exercise"), line.assignment))
    if any(note.startswith(given) and "by hand" in note for note in line.notes):
        return "points given by hand"
    if old.get("submission_digest") != report.submission_digest:
        cause = "handed in again"
    elif old.get("assignment_digest") != report.assignment_digest:
        cause = "the check or the course changed"
    elif old.get("seed") != report.seed:
        cause = "another seed"
    else:
        cause = "graded again"
    kinds = [HEADLINE.get(str(v.get("kind")), "not asked") for v in (was, now)]
    checks = [f" ({v['check']})" if v.get("check") else "" for v in (was, now)]
    return f"{cause}: {kinds[0]}{checks[0]} -> {kinds[1]}{checks[1]}"


def _text(points: Any) -> str:
    return "" if points is None else f"{points:g}"
