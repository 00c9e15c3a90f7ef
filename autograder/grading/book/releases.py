"""What may be handed out today: units and labs from their release date on, solutions from theirs.

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

from autograder.check.keys import is_lab
from autograder.grading.book.course import Course, Unit
from course_lib.exercises import MODULES, slot


@dataclass(frozen=True)
class Due:
    """What is to be done with one unit or lab now, and what there is to say."""

    key: str
    release: bool
    solutions: bool
    notes: tuple[str, ...] = ()


def due_now(
    course: Course, units: dict[str, str], now: datetime, anyway: bool = False
) -> list[Due]:
    """For each unit and lab, in order: is it due, and are its solutions? `units` maps keys to
    names."""
    plan = []
    for key, name in sorted(units.items()):
        unit = course.units.get(key, Unit())
        early = unit.release is not None and now < unit.release
        release = not early or anyway
        solutions = unit.solutions is not None and now >= unit.solutions
        notes = []
        if unit.release is not None and early:
            word = "handed out before" if anyway else "not before"
            notes.append(f"{name}: {word} {shown(unit.release, course)}")
        if release:
            notes += [
                f"{name}: it shows the answers to {text}" for text in _open(course, units, key, now)
            ]
        if solutions:
            notes += _still_open(course, name, key, now)
        plan.append(Due(key, release, solutions and release, tuple(notes)))
    return plan


def last_moment(course: Course, key: str) -> datetime | None:
    """When nobody can hand this in any more and get points; None if nothing is due."""
    rule = course.units.get(key, Unit()).late
    dues = [course.due(key, student) for student in ("", *course.extensions)]
    known = [due for due in dues if due is not None]
    if not known:
        return None
    return max(known) + timedelta(days=rule.cut_off_days or 0)


def shown(moment: datetime, course: Course) -> str:
    return moment.astimezone(course.zone).strftime("%Y-%m-%d %H:%M %Z")


def _open(course: Course, units: dict[str, str], key: str, now: datetime) -> list[str]:
    """What may still be handed in of the units before this one, and their labs. A lab has the
    library of its unit, so it does not show that one's answers."""
    still_open = []
    for earlier in (one for one in sorted(units) if one[:3] < key[:3]):
        end = last_moment(course, earlier)
        if end is not None and now <= end and _in_the_library(earlier):
            still_open.append(f"{earlier}, which is open until {shown(end, course)}")
    return still_open


def _in_the_library(key: str) -> bool:
    """Do later releases hold its answers? Of a lab, only functions of the library."""
    return not is_lab(key) or any(slot(name).key == key for name in MODULES)


def _still_open(course: Course, name: str, key: str, now: datetime) -> list[str]:
    end = last_moment(course, key)
    if end is None or now > end:
        return []
    return [
        f"{name}: its solutions are out, and it is open for somebody until {shown(end, course)}"
    ]
