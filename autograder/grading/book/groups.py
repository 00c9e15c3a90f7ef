"""Groups that hand in together: what one of them hands in is everybody's.

    roster.csv: id,name,group            course.toml: [u02]
                ada,Ada Lovelace,Red                  groups = true
                bob,Bob Babbage,Red      ->  Bob has the points of what Ada handed in

Moodle names the folder of a group by the group, Canvas a file by one of its members. If several of
a group hand in, each has what is their own, and for the others a person decides. Whoever is late
is late for all of them.

Next room: entries.py, the lines before they are shared; roster.py, who is in which group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder.grading.book.course import Course, Unit
from autograder.grading.book.entries import HANDED_IN, NOTHING, UNDECIDED, UNREAD, Entry


def shared(lines: Iterable[Entry], course: Course) -> list[Entry]:
    """The lines, with those of a group in place of "nothing handed in"."""
    lines = list(lines)
    handed: dict[tuple[str, str], list[Entry]] = {}
    for entry in lines:
        if entry.status in (HANDED_IN, UNREAD) and _group(entry, course):
            handed.setdefault((entry.key, _group(entry, course)), []).append(entry)
    return [
        _of_group(entry, handed.get((entry.key, _group(entry, course)), []))
        if entry.status == NOTHING
        else entry
        for entry in lines
    ]


def _group(entry: Entry, course: Course) -> str:
    """The group to which the line's person belongs; "" where groups do not count."""
    unit = course.units.get(entry.key, Unit())
    return entry.person.group if unit.groups and entry.person else ""


def _of_group(entry: Entry, handed: list[Entry]) -> Entry:
    """The line of somebody who handed in nothing, in whose group these were handed in."""
    if not handed:
        return entry
    names = ", ".join(one.student for one in handed)
    if len(handed) > 1:
        note = f"{names}: several of the group handed in. Give points in by-hand.csv, or keep one."
        return replace(entry, status=UNDECIDED, notes=(note,))
    (first,) = handed
    assert first.task is not None
    task = replace(first.task, student=entry.student)
    note = f"Handed in by {names}, for the group."
    return replace(
        first, student=entry.student, person=entry.person, task=task, by=first.student,
        notes=(*first.notes, note),
    )  # fmt: skip
