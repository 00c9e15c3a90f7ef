"""The course as the edition describes it, in .course-map.json: parts, units, labs, exercises.

    [Part("Part I. Graphs", (Unit("u00", "The tour", ...), ...)), ...]

Next room: state.py, what a learner has done of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.progress.keep import MAP, read


@dataclass(frozen=True)
class Task:
    """An exercise: what it is worth, whether it is beyond the core, whether a person reads it."""

    name: str
    points: float
    further: bool
    kind: str


@dataclass(frozen=True)
class Unit:
    """A unit or lab. `needs` are keys of units, `minutes` an estimate of its core."""

    key: str
    name: str
    notebook: str
    question: str
    changed: str
    needs: tuple[str, ...]
    minutes: float
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Part:
    name: str
    units: tuple[Unit, ...]


def course() -> list[Part]:
    """Its parts, in order; [] where the folder has no course, or another program wrote the file."""
    try:
        return [_part(part) for part in read(MAP)["parts"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def _part(data: dict[str, Any]) -> Part:
    return Part(str(data["name"]), tuple(_unit(unit) for unit in data["units"]))


def _unit(data: dict[str, Any]) -> Unit:
    tasks = [Task(str(name), float(p), bool(f), str(k)) for name, p, f, k in data["exercises"]]
    return Unit(
        str(data["key"]),
        str(data["name"]),
        str(data["notebook"]),
        str(data["question"]),
        str(data["changed"]),
        tuple(map(str, data["needs"])),
        float(data["minutes"]),
        tuple(tasks),
    )
