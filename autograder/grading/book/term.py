"""Where everybody stands over the term: plain facts from the lines of the grade book.

    standing = standings(lines, course, now)     # a Standing for each person
    standing["ada"].shares["u02_rewrites"]       # 0.75 of the core points that are known
    standing["ada"].reasons                      # ("handed nothing in for u03_ir and u04_types",)
    stuck(lines)                                 # for each exercise: who tried and does not pass

Shares leave out what waits for a person, on both sides, and what a late hand-in lost: they say what
somebody can do. A reason is a sentence of facts that the teacher can repeat to the student; the
rules that lead to one are `RULES`, and nothing else counts.

Next room: dashboard.py, the page; statistics.py, one assignment in more detail.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from autograder.check.verdict import CRASHED, PASSED, TIMED_OUT, WRONG, Verdict
from autograder.grading.book.course import Course
from autograder.grading.book.entries import NOTHING, OTHER, Entry

MISSING = 2  # assignments without a hand-in
LOW = 0.5  # of the points
LATEST = 2  # hand-ins that have to be low
FALL = 0.3  # below one's own mean
BEFORE = 2  # earlier hand-ins that a mean needs
FAILED = (WRONG, CRASHED, TIMED_OUT)
RULES = (
    f"handed nothing in for {MISSING} or more assignments that were due for them (where no date "
    "is set: that at least half of the class handed in)",
    f"under {100 * LOW:.0f} % of the known points in each of their latest {LATEST} hand-ins",
    f"latest hand-in {100 * FALL:.0f} percentage points or more below the mean of their earlier "
    f"ones, of which there are {BEFORE} or more",
    "latest hand-in is a file that cannot be graded, which the student may not know",
)
UNSAID = "no message"


@dataclass
class Standing:
    """One person. Shares are from 0 to 1, by assignment; no entry where nothing is known."""

    student: str
    name: str = ""
    shares: dict[str, float] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stuck:
    """One exercise: who tried and did not pass, and what most of them were told.

    `message` is that of the check (or kind of error) at which most of these answers ended, in the
    words that came most often; `told` says for how many of them it ended there.
    """

    assignment: str
    exercise: str
    tried: int
    people: tuple[str, ...]
    check: str = ""
    message: str = ""
    told: int = 0


def in_order(lines: Iterable[Entry], course: Course) -> dict[str, datetime | None]:
    """The assignments, by name, as the term goes: by due date, then by key; and when each is due.

    Those without a date keep the place that their key gives them among the others.
    """
    keys = {line.assignment: line.key for line in lines}
    due = {name: course.due(key, "") for name, key in keys.items()}
    placed: list[tuple[datetime, str, str]] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for name, key in sorted(keys.items(), key=lambda item: item[1]):
        latest = due[name] or latest
        placed.append((latest, key, name))
    return {name: due[name] for *_, name in sorted(placed)}


def share_of(entry: Entry) -> float | None:
    """How much of the core points that are known was earned; None where none are known."""
    if entry.report is None or entry.report.is_ungradable:
        return None
    known = [v for v in entry.report.verdicts if v.earned is not None and not v.further]
    possible = sum(v.points for v in known)
    return sum(v.earned or 0.0 for v in known) / possible if possible else None


def standings(lines: Iterable[Entry], course: Course, now: datetime) -> dict[str, Standing]:
    """Everybody, by id. On a roster or not: whoever handed something in is somebody."""
    lines = [line for line in lines if line.status != OTHER]
    order = in_order(lines, course)
    usual = _usual(lines)
    people: dict[str, Standing] = {}
    for line in sorted(lines, key=lambda e: (e.student, list(order).index(e.assignment))):
        person = people.setdefault(line.student, Standing(line.student))
        person.name = line.person.name if line.person else person.name
        share = share_of(line)
        if share is not None:
            person.shares[line.assignment] = share
        if line.report is not None and line.report.is_ungradable:
            person.unread.append(line.assignment)
        if line.late:
            person.late.append(line.assignment)
        due = course.due(line.key, line.student)
        expected = due <= now if due else line.assignment in usual
        if line.status == NOTHING and expected:
            person.missing.append(line.assignment)
    for person in people.values():
        person.reasons = tuple(_reasons(person, list(order)))
    return people


def at_risk(people: Mapping[str, Standing]) -> list[Standing]:
    """Those with a reason: most reasons first, then most missing, then by id."""
    there = [person for person in people.values() if person.reasons]
    return sorted(there, key=lambda p: (-len(p.reasons), -len(p.missing), p.student))


def stuck(lines: Iterable[Entry]) -> list[Stuck]:
    """Every exercise that somebody tried, in the order of the assignments' keys."""
    found: dict[tuple[str, str, str], list[tuple[str, Verdict]]] = {}
    for line in lines:
        if line.status == OTHER or line.report is None:
            continue
        for verdict in line.report.verdicts:
            if verdict.kind in (PASSED, *FAILED):
                key = (line.key, line.assignment, verdict.exercise)
                found.setdefault(key, []).append((line.student, verdict))
    return [_stuck(name, exercise, there) for (_, name, exercise), there in _sorted(found)]


def told_by(verdict: Verdict) -> str:
    """What a failing answer is told first; of an error, which one: all are told that there was."""
    if verdict.kind == CRASHED and verdict.error:
        return verdict.error
    return verdict.problem or verdict.error or UNSAID


def quartiles(shares: list[float]) -> tuple[float, float, float]:
    """A quarter of the class has at most the first, half the second, three quarters the third."""
    if len(shares) == 1:
        return shares[0], shares[0], shares[0]
    low, middle, high = statistics.quantiles(shares, n=4, method="inclusive")
    return low, middle, high


def _sorted(found: dict[tuple[str, str, str], list[tuple[str, Verdict]]]):
    """By assignment's key; within one as the notebook asks, which is how they came."""
    return sorted(found.items(), key=lambda item: item[0][0])


def _stuck(assignment: str, exercise: str, there: list[tuple[str, Verdict]]) -> Stuck:
    failed = [(student, verdict) for student, verdict in there if verdict.kind in FAILED]
    people = tuple(sorted(student for student, _ in failed))
    if not failed:
        return Stuck(assignment, exercise, len(there), people)
    ends = Counter(_end(verdict) for _, verdict in failed)
    end, told = min(ends.items(), key=lambda item: (-item[1], item[0]))
    words = Counter(told_by(v) for _, v in failed if _end(v) == end)
    message = min(words.items(), key=lambda item: (-item[1], item[0]))[0]
    return Stuck(assignment, exercise, len(there), people, end, message, told)


def _end(verdict: Verdict) -> str:
    """Where an answer ended: a check's name, an error's, or that it took too long."""
    if verdict.kind == CRASHED:
        return verdict.error.partition(":")[0].strip() or "an error"
    return verdict.check or ("took too long" if verdict.kind == TIMED_OUT else "wrong")


def _usual(lines: list[Entry]) -> set[str]:
    """The assignments that at least half of those who have a line for it handed in."""
    asked = Counter(line.assignment for line in lines)
    handed = Counter(line.assignment for line in lines if line.status != NOTHING)
    return {name for name, count in asked.items() if 2 * handed[name] >= count}


def _reasons(person: Standing, order: list[str]) -> Iterable[str]:
    if len(person.missing) >= MISSING:
        yield f"handed nothing in for {_listed(person.missing)}"
    handed = [name for name in order if name in person.shares]
    latest = handed[-LATEST:]
    if len(latest) == LATEST and all(person.shares[name] < LOW for name in latest):
        told = " and ".join(f"{_percent(person.shares[name])} in {name}" for name in latest)
        yield f"{told} of the points known"
    if len(handed) > BEFORE:
        before = statistics.mean(person.shares[name] for name in handed[:-1])
        last = person.shares[handed[-1]]
        if before - last >= FALL - 1e-9:
            yield f"{_percent(last)} in {handed[-1]}, after {_percent(before)} on average before"
    came = [name for name in order if name in person.shares or name in person.unread]
    if came and came[-1] in person.unread:
        yield f"the file for {came[-1]} cannot be graded"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
