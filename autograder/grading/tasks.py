"""Which file answers which assignment: a student's files become tasks for the grader.

    tasks(collect(Path("submissions"), names), assignments)     # -> [Task("ada", u02, ...), ...]

For each student and assignment the file counts that answers most of it. Where nothing can be graded
there is a task as well, with the reason: for the assignments that the files' names say, if none of
them says any for all. Everybody has a row.

Next room: classroom.py, which grades them all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby

from autograder.grading.assignment import Assignment
from autograder.grading.program import Program, Unreadable, read
from autograder.grading.submissions import Handed
from autograder.process.start import mode
from autograder.progress.clock import handed_in


@dataclass(frozen=True)
class Task:
    """One student's answer to one assignment."""

    student: str
    assignment: Assignment
    file: str
    program: Program
    reason: str = ""  # why there is nothing to grade
    seed: int = 0
    outer: str = ""  # the outermost name of what was handed in, as it is
    short: str = ""  # that name without the assignment's
    time: datetime | None = None  # when the file was changed; without zone if from a zip
    hints: tuple[tuple[str, int], ...] = ()  # how many the outputs show, by exercise
    minutes: float | None = None  # that the student measured and handed in with the outputs

    @cached_property
    def cache_name(self) -> str:
        content = f"{self.assignment.digest} {self.program.digest} {self.seed} {mode()}"
        return hashlib.sha256(content.encode()).hexdigest()


def tasks(handed: Iterable[Handed], assignments: list[Assignment], seed: int = 0) -> list[Task]:
    """Everybody's tasks. `handed` comes student by student and is read once."""
    all_tasks: list[Task] = []
    for _, items in groupby(handed, lambda item: item.student):
        all_tasks += _tasks_of(list(items), assignments)
    return [replace(task, seed=seed) for task in all_tasks]


def _tasks_of(items: list[Handed], assignments: list[Assignment]) -> list[Task]:
    """One student's tasks: what can be graded, and where that is nothing, why."""
    own_tasks: list[Task] = []
    for assignment in assignments:
        task = _best(items, assignment)
        if task is None and (named := [i for i in items if assignment.name in i.name]):
            task = _nothing(named, assignment)
        own_tasks += [task] if task else []
    return own_tasks or [_nothing(items, assignment) for assignment in assignments]


def _best(items: list[Handed], assignment: Assignment) -> Task | None:
    candidates = []
    problems = [f"{item.name}: {item.problem}" for item in items if item.problem]
    for item in items:
        try:
            given = (assignment.explanations, assignment.prose)
            program = read(item.data, *given) if not item.problem else Program()
        except Unreadable as error:
            problems.append(f"{item.name}: {error}")
            continue
        asked = set(assignment.exercises)
        if program.answers & asked:
            rank = (len(program.attempted & asked), item.name)
            hints = _hints(item.data, assignment)
            spent = handed_in(item.data).get(assignment.key)
            task = _task(item, assignment, item.name, program)
            task = replace(task, hints=hints, minutes=spent)
            candidates.append((rank, task))
    if not candidates:
        return None
    best = max(candidates, key=lambda candidate: candidate[0])[1]
    notes = [*best.program.notes, *problems[:5]]
    if len(candidates) > 1:
        notes.append(f"{len(candidates)} files answer this assignment; graded: {best.file}")
    return replace(best, program=replace(best.program, notes=tuple(notes)))


def _nothing(items: list[Handed], assignment: Assignment) -> Task:
    """The task where none of these files can be graded: with the reason."""
    reasons = []
    for item in items:
        try:
            read(item.data) if not item.problem else None
            reason = item.problem or "The notebook answers none of the exercises."
        except Unreadable as error:
            reason = str(error)
        reasons.append(f"{item.name}: {reason}" if len(items) > 1 else reason)
    files = ", ".join(item.name for item in items)
    blank = _task(items[0], assignment, files, Program())
    return replace(blank, reason=" ".join(dict.fromkeys(reasons)))


def _hints(data: bytes, assignment: Assignment) -> tuple[tuple[str, int], ...]:
    """What `hint` printed and the outputs still hold. Nobody is graded by it: anybody can clear
    their outputs."""
    hints = []
    for name in assignment.exercises:
        shown = re.findall(rf"{re.escape(name)}, hint ([123]) of 3:".encode(), data)
        if shown:
            hints.append((name, max(map(int, shown))))
    return tuple(hints)


def _task(item: Handed, assignment: Assignment, file: str, program: Program) -> Task:
    return Task(
        item.student, assignment, file, program,
        outer=item.outer, short=item.short, time=item.time,
    )  # fmt: skip
