"""What a check has to say: one verdict per exercise, plain data that prints itself.

    passed          quiet: what was tried, the number achieved
    wrong           the property that failed, the smallest program that shows it, got, expected
    crashed         the student's own line number and error
    timed out       a call took longer than the limit
    not attempted   the cell is still the stub, or is gone
    by hand         an explanation: a person grades it
    grader          our fault; it never costs points

A verdict is the same in a notebook, in the grader's JSON report and in the feedback page.

Next room: judging.py, which makes verdicts; feedback.py, which shows them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

PASSED, WRONG, CRASHED, TIMED_OUT = "passed", "wrong", "crashed", "timed out"
NOT_ATTEMPTED, BY_HAND, GRADER = "not attempted", "by hand", "grader"
KINDS = (PASSED, WRONG, CRASHED, TIMED_OUT, NOT_ATTEMPTED, BY_HAND, GRADER)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise. Texts are what a learner reads; graphs are IR text."""

    exercise: str
    kind: str
    points: float
    earned: float | None = 0.0  # None: nobody knows yet (by hand, or the grader's fault)
    tried: tuple[str, ...] = ()  # passed: "40 random programs", "58 of 69 nodes left"
    check: str = ""  # the name of the check that decided
    hidden: bool = False
    problem: str = ""  # the property that failed, in one sentence
    spec: str = ""  # the words of the specification that say so
    program: str = ""  # the smallest program that shows it
    got: str = ""
    expected: str = ""
    marked: tuple[str, ...] = ()  # names of the wrong nodes, in `got` or else in `program`
    error: str = ""  # crashed: "TypeError: ..."
    line: int | None = None  # crashed: the line of the student's cell, from 1
    code: str = ""  # crashed: that line
    printed: str = ""  # what the student's code printed, shortened

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind

    def to_json(self) -> dict[str, Any]:
        """Only what says something: fields at their default are left out."""
        plain = asdict(self)
        always = ("exercise", "kind", "points", "earned")
        return {
            field.name: plain[field.name]
            for field in fields(self)
            if field.name in always or plain[field.name] != field.default
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Verdict:
        known: dict[str, Any] = {f.name: data[f.name] for f in fields(Verdict) if f.name in data}
        for name in ("tried", "marked"):
            known[name] = tuple(known.get(name, ()))
        return Verdict(**known)

    def __repr__(self) -> str:
        from autograder.check.feedback import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from autograder.check.feedback import as_html

        return as_html(self)
