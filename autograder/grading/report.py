"""A report: everything that is known about a submission, as plain data.

    report.to_json(), Report.from_json(data), load_report(path)
    Report.sent(data, assignment)       # by a process that graded: a bad verdict costs one exercise

Next room: grade.py, where reports are made.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.check.verdict import GRADER, UNGRADABLE, Verdict
from autograder.grading.assignment import SCHEMA, Assignment
from autograder.grading.program import Program
from autograder.process.start import unprotected
from course_lib.exercises import Slot


@dataclass(frozen=True)
class Report:
    """Everything that is known about a submission, as plain data."""

    assignment: str
    unit: int
    assignment_digest: str
    submission_digest: str
    seed: int
    sandbox: str
    verdicts: tuple[Verdict, ...]
    texts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    by_wall: bool = (
        False  # something ended that perhaps only waited for a processor: not for keeping
    )

    @property
    def earned(self) -> float:
        return sum(v.earned for v in self.verdicts if v.earned is not None)

    @property
    def bonus(self) -> float:
        """Those of the points earned that further exercises gave."""
        return sum(v.earned for v in self.verdicts if v.further and v.earned is not None)

    @property
    def possible(self) -> float:
        """What the unit is worth: its core. With a bonus more than that may be earned."""
        return sum(v.points for v in self.verdicts if not v.further)

    @property
    def to_grade(self) -> float:
        """Points that a person has to give: explanations, and what the grader could not grade."""
        return sum(v.points for v in self.verdicts if v.earned is None)

    @property
    def is_ungradable(self) -> bool:
        """True if nothing in what was handed in can be graded, and nobody has decided yet."""
        return any(v.kind == UNGRADABLE and v.earned is None for v in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "assignment": self.assignment,
            "unit": self.unit,
            "earned": None if self.is_ungradable else self.earned,
            "bonus": self.bonus,
            "possible": self.possible,
            "to_grade": self.to_grade,
            "seed": self.seed,
            "sandbox": self.sandbox,
            "unprotected": unprotected(self.sandbox),
            "assignment_digest": self.assignment_digest,
            "submission_digest": self.submission_digest,
            "exercises": [verdict.to_json() for verdict in self.verdicts],
            "texts": self.texts,
            "notes": list(self.notes),
            **({"by_wall": True} if self.by_wall else {}),
        }

    @staticmethod
    def sent(data: dict[str, Any], assignment: Assignment) -> Report:
        """What a process that graded has sent. What it says of an exercise may be no verdict: then
        that one waits for a person, and the others keep their points."""
        pairs = zip(assignment.slots, data["exercises"], strict=True)
        verdicts = [_verdict_or_fault(entry, content).to_json() for entry, content in pairs]
        return Report.from_json({**data, "exercises": verdicts})

    @staticmethod
    def from_json(data: dict[str, Any]) -> Report:
        return Report(
            data["assignment"],
            data["unit"],
            data["assignment_digest"],
            data["submission_digest"],
            data["seed"],
            data["sandbox"],
            tuple(Verdict.from_json(v) for v in data["exercises"]),
            dict(data["texts"]),
            tuple(data["notes"]),
            data.get("by_wall") is True,
        )


def _verdict_or_fault(entry: Slot, content: Any) -> Verdict:
    try:
        verdict = Verdict.from_json(content)
        if (verdict.exercise, verdict.points) != (entry.name, entry.points):
            raise ValueError(f"it is about {verdict.exercise} with {verdict.points:g} points")
    except (ValueError, KeyError, TypeError) as error:
        problem = f"The grader's process sent no valid verdict on this exercise: {error}"
        return Verdict.on(entry, GRADER, None, problem=problem)
    return verdict


def ungradable(assignment: Assignment, data: bytes, reason: str, seed: int = 0) -> Report:
    """The report on files in which there is nothing to grade: no points, until a person decides."""
    verdicts = [Verdict.on(entry, UNGRADABLE, None, problem=reason) for entry in assignment.slots]
    digest = hashlib.sha256(data).hexdigest()
    name, unit, mine = assignment.name, assignment.unit, assignment.digest
    return Report(name, unit, mine, digest, seed, "", tuple(verdicts), {}, (reason,))


def grader_failed(assignment: Assignment, program: Program, reason: str, seed: int = 0) -> Report:
    """The report when the grader itself broke: no points are lost, a person has to look."""
    verdicts = [Verdict.on(entry, GRADER, None, problem=reason) for entry in assignment.slots]
    name, unit, mine = assignment.name, assignment.unit, assignment.digest
    return Report(
        name, unit, mine, program.digest, seed, "", tuple(verdicts), program.texts, (reason,)
    )


def load_report(path: Path) -> Report | None:
    """A report from the cache; None where there is none that can be read."""
    try:
        return Report.from_json(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
