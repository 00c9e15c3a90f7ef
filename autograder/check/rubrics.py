"""How a person grades an explanation: what gives points, and three texts with the points they got.

Exercises of kind "explain" return one of these as their "solution". It is in no class's edition.

Next room: explained.py, which shows it to whoever learns alone; autograder/edition/sources.py,
which shows it in the instructor's notebook.
"""

from __future__ import annotations

from dataclasses import dataclass

TEXT_STUB = "*Write your answer here.*"


@dataclass(frozen=True)
class Sample:
    points: float
    text: str


@dataclass(frozen=True)
class Rubric:
    criteria: str
    samples: tuple[Sample, ...]

    def as_markdown(self) -> str:
        parts = [f"**Rubric.** {self.criteria}"]
        parts += [f"**Sample answer, {s.points:g} points.** {s.text}" for s in self.samples]
        return "\n\n".join(parts)
