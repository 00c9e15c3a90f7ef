"""What a check has to say: one verdict per exercise, plain data, and the words that tell it.

    passed          quiet: what was tried, the number achieved
    wrong           the property that failed, the smallest program that shows it, got, expected
    crashed         the student's own line number and error
    timed out       a call took longer than the limit
    not attempted   the cell is still the stub, or is gone
    by hand         an explanation: a person grades it
    later           of the right form; whether it is right is said when it is graded
    grader          our fault; it never costs points
    unknown         no exercise has the name that was typed

A verdict is the same in a notebook, in the grader's JSON report and in the feedback page. Order of
a failure, the same everywhere: what failed, the smallest program that shows it, got against
expected, the words of the specification, how to get a hint.

Next room: judging.py, which makes verdicts; feedback.py, a verdict as HTML.
"""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, fields
from typing import Any

from autograder.check.packages import NEEDS
from autograder.check.received import received
from course_lib.exercises import Slot

PASSED, WRONG, CRASHED, TIMED_OUT = "passed", "wrong", "crashed", "timed out"
NOT_ATTEMPTED, BY_HAND, GRADER = "not attempted", "by hand", "grader"
LATER, UNKNOWN = "later", "unknown"
PROGRAM = ("The smallest program that shows it", "The program")  # ours; the student's own
HEADLINE = {
    PASSED: "passed",
    WRONG: "not yet right",
    CRASHED: "your code raised an error",
    TIMED_OUT: "timed out",
    NOT_ATTEMPTED: "not attempted yet",
    BY_HAND: "read and graded by a person",
    LATER: "of the right form, judged when it is graded",
    GRADER: "the checker failed, not you",
    UNKNOWN: "there is no such exercise",
}
ADVICE = {
    NOT_ATTEMPTED: "Write the function in the exercise cell, run that cell, then run this one.",
    GRADER: "This costs no points. Please show it to your teacher.",
}


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise. Texts are what a learner reads; graphs are IR text."""

    exercise: str
    kind: str
    points: float
    earned: float | None = 0.0  # None: nobody knows yet (by hand, later, or the grader's fault)
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
    pictures: tuple[tuple[str, str], ...] = ()  # ("program", SVG), ...: small graphs
    further: bool = False  # the points are a bonus: no part of what the unit is worth
    own: bool = False  # the answer takes nothing: the program that is shown is the student's

    def __post_init__(self) -> None:
        assert self.kind in HEADLINE, self.kind

    @staticmethod
    def on(entry: Slot, kind: str, earned: float | None = 0.0, **said: Any) -> Verdict:
        """The verdict on an exercise, which knows its name and what it is worth."""
        own = not entry.signature.parameters
        return Verdict(
            entry.name, kind, entry.points, earned, further=entry.further, own=own, **said
        )

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
        """From another process: ValueError if it is no verdict."""
        found = received(data)
        known: dict[str, Any] = {f.name: found[f.name] for f in fields(Verdict) if f.name in found}
        if known["kind"] not in HEADLINE:
            raise ValueError(f"no kind of verdict: {known['kind']!r:.50}")
        return Verdict(**known)

    def __repr__(self) -> str:
        return as_text(self)


def lacks_points(verdict: Verdict) -> bool:
    """Right, but where points grow with a count, it does not earn them all."""
    return verdict.kind == PASSED and (verdict.earned or 0.0) < verdict.points


def headline(verdict: Verdict) -> str:
    """The words above a verdict: "passed" alone means that there is nothing left to earn."""
    if lacks_points(verdict):
        return f"works, but earns {'not all points' if verdict.earned else 'nothing'} yet"
    return HEADLINE[verdict.kind]


def as_text(verdict: Verdict) -> str:
    """A few lines for a terminal."""
    title = f"{verdict.exercise}: {headline(verdict)}"
    title += f" ({score(verdict)})" if verdict.kind != UNKNOWN else ""
    if verdict.kind == PASSED:
        return f"{title}\n  {'; '.join(verdict.tried)}"
    parts = [title]
    for heading, text in sections(verdict):
        shown = text.rstrip("\n").replace("\n", "\n    ")
        parts.append(f"  {heading}\n    {shown}" if heading else f"  {shown}")
    return "\n".join(parts)


def sections(verdict: Verdict) -> list[tuple[str, str]]:
    """(heading, text) in the order in which a learner needs them; a heading may be empty."""
    found = [("", _lead(verdict))]
    if verdict.kind == GRADER:  # what broke in ours stands in the teacher's report
        return found
    if verdict.error:
        where = f"line {verdict.line} of your cell: {verdict.code}\n" if verdict.line else ""
        found.append(("The error", f"{where}{verdict.error}"))
    if verdict.program:
        stopped = verdict.kind in (CRASHED, TIMED_OUT) and not verdict.program.startswith("graph @")
        heading = "The call" if stopped else PROGRAM[verdict.own]
        found.append((heading, verdict.program))
    if verdict.got and verdict.expected and "\n" in verdict.got + verdict.expected:
        found.append(("Got (-) against expected (+)", _diff(verdict.got, verdict.expected)))
    else:
        found += [("Got", verdict.got)] if verdict.got else []
        found += [("Expected", verdict.expected)] if verdict.expected else []
    if verdict.spec:
        found.append(("The specification says", f"“{verdict.spec}”"))
    if verdict.printed:
        found.append(("Your code printed", verdict.printed))
    if verdict.kind in (WRONG, CRASHED, TIMED_OUT, NOT_ATTEMPTED):
        found.append(("Stuck?", f'hint("{verdict.exercise}") gives the next hint.'))
    return found


def score(verdict: Verdict) -> str:
    earned = "–" if verdict.earned is None else f"{verdict.earned:g}"
    return f"{earned} of {verdict.points:g} {'bonus points' if verdict.further else 'points'}"


def _lead(verdict: Verdict) -> str:
    ours = verdict.kind == GRADER and not verdict.problem.startswith(NEEDS)
    problem = "" if ours else verdict.problem
    text = " ".join(filter(None, [problem, ADVICE.get(verdict.kind, "")]))
    if verdict.kind == BY_HAND:
        waiting = "Your text is kept. A person reads it and gives the points."
        text = verdict.problem or (waiting if verdict.earned is None else "A person has read it.")
    hidden = " (a check that only the grader has)" if verdict.hidden else ""
    return f"{text}\ncheck: {verdict.check}{hidden}" if verdict.check else text


def _diff(got: str, expected: str) -> str:
    mine, ours = got.splitlines(), expected.splitlines()
    lines = list(difflib.unified_diff(mine, ours, n=len(mine), lineterm=""))[3:]
    return "\n".join(f"{line[0]} {line[1:]}" for line in lines) or got
