"""The lines of the grade book: one for each person and assignment, and for each file handed in.

    raw points, less the penalty for being late, are the final points; never less than 0

Points of further exercises are raw points like all others, so the final points may be more than the
assignment is worth (`possible`).

Whoever is on the roster has a line for every assignment, if only to say that nothing was handed in.
Whatever was handed in has one, if only to say that nobody on the roster has that name, or that
another file of the same person counts. A line whose points are not all known has no final points.

Next room: exports.py, the lines as files; by_hand.py, points that a person gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from autograder.check.verdict import GRADER
from autograder.grading.assignment import Assignment
from autograder.grading.book.course import Course, Unit
from autograder.grading.book.lateness import Lateness, Times, lateness
from autograder.grading.book.roster import Matcher, Person
from autograder.grading.report import Report
from autograder.grading.tasks import Task

HANDED_IN, UNREAD, NOTHING = "handed in", "cannot be graded", "nothing handed in"
UNKNOWN, OTHER, UNDECIDED = "not on the roster", "another file counts", "undecided"


@dataclass(frozen=True)
class Entry:
    """One line. Without a report there is nothing that was graded."""

    student: str
    assignment: str
    key: str
    possible: float
    status: str
    person: Person | None = None
    task: Task | None = None
    report: Report | None = None
    submitted: datetime | None = None
    source: str = ""  # where the time is from
    late: Lateness | None = None
    notes: tuple[str, ...] = ()
    bonus: float = 0.0  # what the further exercises give at most, beyond `possible`
    by: str = ""  # who of the group handed it in, if somebody else did

    @property
    def earned(self) -> float | None:
        """The raw points that are known; no number for what cannot be graded."""
        known = self.report is not None and not self.report.is_ungradable
        return self.report.earned if self.report is not None and known else None

    @property
    def to_grade(self) -> float:
        return 0.0 if self.report is None else self.report.to_grade

    @property
    def penalty(self) -> float:
        """What is lost by being late: never more than was earned."""
        return round((self.earned or 0.0) * self.late.share, 2) if self.late else 0.0

    @property
    def final(self) -> float | None:
        """What counts; None as long as a person has to look at something."""
        if self.report is None or self.to_grade:
            return None
        return max(0.0, round(self.report.earned - self.penalty, 2))

    @property
    def is_fault(self) -> bool:
        """True if the grader itself failed and nobody has given points instead."""
        verdicts = () if self.report is None else self.report.verdicts
        return any(v.kind == GRADER and v.earned is None for v in verdicts)

    @property
    def waits(self) -> bool:
        """True if a person has to look at something before it counts."""
        return self.to_grade > 0 and self.status != OTHER

    def to_json(self) -> dict[str, object]:
        """What the report's file says besides the report."""
        return {
            "student": self.student,
            "name": self.person.name if self.person else "",
            "status": self.status,
            "file": self.task.file if self.task else "",
            "submitted": self.submitted.isoformat() if self.submitted else "",
            "submitted_from": self.source,
            "late": self.late.words if self.late else "",
            "penalty": self.penalty,
            "final": self.final,
        }


def entries(
    tasks: Iterable[Task],
    assignments: list[Assignment],
    course: Course,
    people: list[Person],
    submissions: Path,
    seed: int | None = None,
    participants: dict[str, str] | None = None,
) -> list[Entry]:
    """Everybody's lines before anything is graded. `seed` is for all; else the course says it.
    `participants` are Moodle's numbers of people."""
    matcher = Matcher(people, course.hand_ins, participants)
    times = Times(course, submissions)
    lines: list[Entry] = []
    waiting: dict[tuple[str, str], list[tuple[int, Entry]]] = {}
    for task in tasks:
        person, how = matcher.find(task.outer, task.short)
        entry = _entry(task, person, course)
        if person is not None:
            waiting.setdefault((person.id, entry.assignment), []).append((how, entry))
        else:
            own = task.student not in matcher.by_id
            name = task.student if own else f"{task.student} (file)"
            status = UNKNOWN if people else entry.status
            lines.append(replace(_owned(entry, name), status=status))
    for rivals in waiting.values():
        lines += _decided(rivals)
    there = {(e.student, e.assignment) for e in lines}
    for assignment in assignments:
        for person in people:
            if (person.id, assignment.name) not in there:
                lines.append(_blank(person.id, assignment, NOTHING, person))
    timed = [_timed(line, course, times) for line in lines]
    seeded = [_seeded(line, course, seed) for line in timed]
    return sorted(seeded, key=lambda e: (e.student, e.key, e.status))


def _entry(task: Task, person: Person | None, course: Course) -> Entry:
    status = UNREAD if task.reason else HANDED_IN
    return replace(_blank(task.student, task.assignment, status, person), task=task)


def _blank(student: str, assignment: Assignment, status: str, person: Person | None) -> Entry:
    points, bonus = assignment.points, assignment.bonus
    return Entry(student, assignment.name, assignment.key, points, status, person, bonus=bonus)


def _decided(rivals: list[tuple[int, Entry]]) -> list[Entry]:
    """One person's hand-ins for one assignment: which counts, if one can tell."""
    graded = [(how, e) for how, e in rivals if e.task and not e.task.reason] or rivals[:1]
    surest = min(how for how, _ in graded)
    best = [entry for how, entry in graded if how == surest]
    person = best[0].person
    assert person is not None
    others = [entry for _, entry in rivals if entry is not best[0] or len(best) > 1]
    if len(best) == 1:
        note = f"{person.id}: {best[0].student} counts"
        return [_owned(best[0], person.id), *(_aside(e, person, note) for e in others)]
    files = ", ".join(entry.student for entry in best)
    note = f"{files}: which one counts? Say it in course.toml under [hand_ins]."
    blank = replace(best[0], student=person.id, status=UNDECIDED, task=None, notes=(note,))
    return [blank, *(_aside(e, person, note) for e in others)]


def _owned(entry: Entry, student: str) -> Entry:
    assert entry.task is not None
    return replace(entry, student=student, task=replace(entry.task, student=student))


def _aside(entry: Entry, person: Person, note: str) -> Entry:
    """A line that does not count. It keeps its own name, which must not be the person's."""
    name = f"{entry.student} (file)" if entry.student == person.id else entry.student
    return replace(_owned(entry, name), person=None, status=OTHER, notes=(note,))


def _timed(entry: Entry, course: Course, times: Times) -> Entry:
    if entry.task is None:
        return entry
    person, task = entry.person, entry.task
    own = (person.id, person.email, person.login, person.sis) if person else ()
    names = [name for name in (*own, task.short, task.student, task.outer) if name]
    when, source = times.of(names, task.outer, entry.assignment, task.time)
    due = course.due(entry.key, entry.student)
    rule = course.units.get(entry.key, Unit()).late
    late = lateness(when, due, rule, course.zone)
    return replace(entry, submitted=when, source=source, late=late)


def _seeded(entry: Entry, course: Course, seed: int | None) -> Entry:
    if entry.task is None:
        return entry
    own = course.seed(entry.student) if seed is None else seed
    return replace(entry, task=replace(entry.task, seed=own))
