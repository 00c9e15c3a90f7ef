"""What a learner has done of the course, put together from the files beside the notebooks.

    for part in progress(): part.units[0].state          "passed", "tried" or "open"
    total(units)                                         points earned, points of the core

Next room: page.py, which shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.check.explained import texts
from autograder.check.rubrics import TEXT_STUB
from autograder.check.verdict import LATER, PASSED
from autograder.progress.clock import minutes
from autograder.progress.course import Task, Unit, course
from autograder.progress.keep import PREDICTIONS, PROGRESS, number, read, table
from autograder.progress.record import TRIED

OPEN, WRITTEN = "open", "written"
WORDS = {
    PASSED: "passed",
    TRIED: "tried",
    LATER: "answered; the grader judges",
    WRITTEN: "written; a person reads it",
    OPEN: "open",
}
DONE = (PASSED, LATER, WRITTEN)


@dataclass(frozen=True)
class Done:
    """An exercise, and what became of it until now."""

    task: Task
    state: str = OPEN
    earned: float = 0.0
    checks: int = 0
    was_wrong: bool = False  # it passed once, and its latest check did not


@dataclass(frozen=True)
class Guess:
    """A prediction; `actual` is None until it was compared."""

    key: str
    value: Any
    actual: Any
    unit: str


@dataclass(frozen=True)
class Progress:
    """A unit or lab, and what was done of it."""

    unit: Unit
    done: tuple[Done, ...]
    guesses: tuple[Guess, ...] = ()
    measured: float | None = None  # minutes; None where nobody measured

    @property
    def core(self) -> list[Done]:
        return [one for one in self.done if not one.task.further]

    @property
    def further(self) -> list[Done]:
        return [one for one in self.done if one.task.further]

    @property
    def state(self) -> str:
        """ "passed" when nothing of the core is left to do; "tried" when something was done."""
        if self.core and all(one.state in DONE for one in self.core):
            return PASSED
        begun = self.guesses or any(one.state != OPEN for one in self.done)
        return TRIED if begun else OPEN


@dataclass(frozen=True)
class PartOfCourse:
    name: str
    units: tuple[Progress, ...]


def progress() -> list[PartOfCourse]:
    """The course in this folder with what was done of it; [] where there is none."""
    kept, guesses, spent = table(read(PROGRESS), "exercises"), read(PREDICTIONS), minutes()
    return [
        PartOfCourse(part.name, tuple(_progress(unit, kept, guesses, spent) for unit in part.units))
        for part in course()
    ]


def total(units: list[Progress]) -> tuple[float, float, float]:
    """Points of the core that are earned and that there are; then those of the bonus."""
    core = [one for unit in units for one in unit.core]
    bonus = sum(one.earned for unit in units for one in unit.further)
    return sum(one.earned for one in core), sum(one.task.points for one in core), bonus


def _progress(
    unit: Unit, kept: dict[str, Any], guesses: dict[str, Any], spent: dict[str, float]
) -> Progress:
    mine = tuple(
        Guess(key, entry.get("value"), entry.get("actual"), str(entry.get("unit", "")))
        for key in guesses
        if key.split(".")[0] == unit.key and (entry := table(guesses, key))
    )
    done = tuple(_done(task, unit, table(kept, task.name)) for task in unit.tasks)
    return Progress(unit, done, mine, spent.get(unit.key))


def _done(task: Task, unit: Unit, entry: dict[str, Any]) -> Done:
    if task.kind == "explain":
        return Done(task, WRITTEN if _is_written(unit, task) else OPEN)
    state = entry.get("state")
    if state not in (PASSED, LATER, TRIED):
        return Done(task)
    earned = min(number(entry.get("earned")), task.points)
    was_wrong = state == PASSED and entry.get("last") not in (PASSED, LATER)
    return Done(task, state, earned, int(number(entry.get("checks"))), was_wrong)


def _is_written(unit: Unit, task: Task) -> bool:
    """Does the saved notebook hold a text for this explanation?"""
    path = Path(unit.notebook)
    return any(text not in ("", TEXT_STUB) for text in texts(path, task.name))
