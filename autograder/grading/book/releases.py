"""What may be handed out today: units from their release date on, solutions from theirs.

    python -m autograder release --course course.toml --into build/release

    u02_rewrites: ready to hand out
    u02_rewrites: solutions in build/release/solutions/u02_rewrites
    u03_fusion: not before 2026-10-12 00:00 CEST
    u03_fusion: it shows the answers to u02, which is open until 2026-10-19 23:59 CEST

A release holds the answers to the units before it, because the compiler in it uses them. So it is
handed out and said, where one of those may still be handed in; whoever has more time is counted.

Next room: autograder/edition/release.py, which writes the folders.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.grading.book.course import Course, Unit


@dataclass(frozen=True)
class Due:
    """What is to be done with one unit now, and what there is to say."""

    unit: int
    release: bool
    solutions: bool
    notes: tuple[str, ...] = ()


def due_now(
    course: Course, units: dict[int, str], now: datetime, anyway: bool = False
) -> list[Due]:
    """For each unit, in order: is it due, and are its solutions? `units` maps number to name."""
    plan = []
    for number, name in sorted(units.items()):
        unit = course.units.get(number, Unit())
        early = unit.release is not None and now < unit.release
        release = not early or anyway
        solutions = unit.solutions is not None and now >= unit.solutions
        notes = []
        if unit.release is not None and early:
            word = "handed out before" if anyway else "not before"
            notes.append(f"{name}: {word} {shown(unit.release, course)}")
        if release:
            notes += [
                f"{name}: it shows the answers to {text}"
                for text in _open(course, units, number, now)
            ]
        if solutions:
            notes += _still_open(course, name, number, now)
        plan.append(Due(number, release, solutions and release, tuple(notes)))
    return plan


def last_moment(course: Course, unit: int) -> datetime | None:
    """When nobody can hand this unit in any more and get points; None if nothing is due."""
    rule = course.units.get(unit, Unit()).late
    dues = [course.due(unit, student) for student in ("", *course.extensions)]
    known = [due for due in dues if due is not None]
    if not known:
        return None
    return max(known) + timedelta(days=rule.cut_off_days or 0)


def shown(moment: datetime, course: Course) -> str:
    return moment.astimezone(course.zone).strftime("%Y-%m-%d %H:%M %Z")


def _open(course: Course, units: dict[int, str], number: int, now: datetime) -> list[str]:
    """The units before this one that may still be handed in."""
    still_open = []
    for earlier in (n for n in sorted(units) if n < number):
        end = last_moment(course, earlier)
        if end is not None and now <= end:
            still_open.append(f"u{earlier:02d}, which is open until {shown(end, course)}")
    return still_open


def _still_open(course: Course, name: str, number: int, now: datetime) -> list[str]:
    end = last_moment(course, number)
    if end is None or now > end:
        return []
    return [
        f"{name}: its solutions are out, and it is open for somebody until {shown(end, course)}"
    ]
