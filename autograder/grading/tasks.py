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
from autograder.grading.program import Notebook, Program, Unreadable
from autograder.grading.submissions import Handed
from autograder.process.start import mode
from autograder.progress.clock import handed_in

File = tuple[Handed, Notebook | str]  # what was handed in, and the notebook or why there is none


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
    files = [(item, _opened(item)) for item in items]  # once, however many assignments there are
    own_tasks: list[Task] = []
    for assignment in assignments:
        task = _best(files, assignment)
        if task is None and (named := [f for f in files if assignment.name in f[0].name]):
            task = _nothing(named, assignment)
        own_tasks += [task] if task else []
    return own_tasks or [_nothing(files, assignment) for assignment in assignments]


def _opened(item: Handed) -> Notebook | str:
    """The notebook, or why it cannot be read."""
    try:
        return item.problem or Notebook.of(item.data)
    except Unreadable as error:
        return str(error)


def _best(files: list[File], assignment: Assignment) -> Task | None:
    candidates = []
    problems = [f"{item.name}: {read}" for item, read in files if isinstance(read, str)]
    asked = set(assignment.exercises)
    for item, notebook in files:
        if isinstance(notebook, str):
            continue
        program = notebook.program(assignment.explanations, assignment.prose)
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


def _nothing(files: list[File], assignment: Assignment) -> Task:
    """The task where none of these files can be graded: with the reason."""
    reasons = []
    for item, notebook in files:
        unread = isinstance(notebook, str)
        reason = notebook if unread else "The notebook answers none of the exercises."
        reasons.append(f"{item.name}: {reason}" if len(files) > 1 else reason)
    names = ", ".join(item.name for item, _ in files)
    blank = _task(files[0][0], assignment, names, Program())
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
