"""What a check has to say: one verdict per exercise, plain data, and the words that tell it.

    passed          quiet: what was tried, the number achieved
    wrong           the property that failed, a program that shows it, got, expected
    crashed         the student's own line number and error
    timed out       a call took longer than the limit
    not attempted   nothing to call, or it says itself that it is not written yet: `problem` has why
    by hand         an explanation: a person grades it
    ungradable      the file that was handed in cannot be read: a person decides
    later           of the right form; whether it is right is said when it is graded
    grader          our fault; it never costs points
    unknown         no exercise has the name that was typed

A verdict is the same in a notebook, in the grader's JSON report and in the feedback page. Order of
a failure, the same everywhere: what failed, a program that shows it, got against
expected, the words of the specification, how to get a hint.

Next room: judging.py, which makes verdicts; feedback.py, a verdict as HTML.
"""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, fields
from typing import Any

from autograder.check.packages import NEEDS
from autograder.check.received import received, within_limits
from course_lib.exercises import Slot

PASSED, WRONG, CRASHED, TIMED_OUT = "passed", "wrong", "crashed", "timed out"
NOT_ATTEMPTED, BY_HAND, GRADER = "not attempted", "by hand", "grader"
LATER, UNGRADABLE, UNKNOWN = "later", "ungradable", "unknown"
SHOWS = "{} that shows it"
OWN = "The program"  # that the student wrote
PROGRAM = (
    OWN,
    *(SHOWS.format(f"{a} {b}") for a in ("The smallest", "A") for b in ("program", "case")),
)
HEADLINE = {
    PASSED: "passed",
    WRONG: "not yet right",
    CRASHED: "your code raised an error",
    TIMED_OUT: "timed out",
    NOT_ATTEMPTED: "not attempted yet",
    BY_HAND: "read and graded by a person",
    UNGRADABLE: "cannot be graded",
    LATER: "has the right form, and is judged when it is graded",
    GRADER: "the checker failed, not you",
    UNKNOWN: "there is no such exercise",
}
# Why an exercise counts as not attempted; what an answer that runs has said instead: `unfinished`.
STUB = "Its cell still holds the empty stub, which raises NotImplementedError."
UNPLUGGED = (
    "Nothing is plugged in: the exercise's cell has not run yet, or has no `@implements` line with "
    "the exercise's name."
)
ABSENT = "No cell of the notebook has an `@implements` line with its name."
UNREACHED = "Its cell ran, but its `@implements` line was not reached."
NO_TEXT = "You have written no text below its heading."
RAISED = "Your code raised an error."  # which the headline says, too
BLANK = frozenset((STUB, UNPLUGGED, ABSENT, UNREACHED, NO_TEXT))  # there is nothing more to say
ADVICE = {
    STUB: "Write the function in its place, run that cell, then run this one.",
    UNPLUGGED: "Write the function in the exercise cell, run that cell, then run this one.",
    UNGRADABLE: "Hand in the notebook itself: the .ipynb file that Jupyter saves and opens.",
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
    about: str = ""  # what it looks at, in words
    hidden: bool = False
    problem: str = ""  # the property that failed, in one sentence
    spec: str = ""  # the words of the specification that say so
    program: str = ""  # one that shows it
    smallest: bool = False  # everything smaller was tried, and none of it shows it
    got: str = ""
    expected: str = ""
    marked: tuple[str, ...] = ()  # names of the wrong nodes, in `got` or else in `program`
    error: str = ""  # crashed: "TypeError: ..."
    line: int | None = None  # crashed: the line of the student's cell, from 1
    code: str = ""  # crashed: that line
    printed: str = ""  # what the student's code printed, shortened
    pictures: tuple[tuple[str, str], ...] = ()  # ("program", SVG), ...: small graphs
    further: bool = False  # the points are a bonus: no part of what the unit is worth
    so_far: str = ""  # passed, in a notebook: the points of the unit until now, and what is next
    own: bool = False  # the answer takes nothing: the program that is shown is the student's

    def __post_init__(self) -> None:
        assert self.kind in HEADLINE, self.kind
        for name, value in within_limits(vars(self)).items():
            object.__setattr__(self, name, value)

    @staticmethod
    def on(entry: Slot, kind: str, earned: float | None = 0.0, **details: Any) -> Verdict:
        """The verdict on an exercise, which knows its name and what it is worth."""
        own = not entry.signature.parameters
        return Verdict(
            entry.name, kind, entry.points, earned, further=entry.further, own=own, **details
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
        values = received(data)
        known: dict[str, Any] = {
            f.name: values[f.name] for f in fields(Verdict) if f.name in values
        }
        if known["kind"] not in HEADLINE:
            raise ValueError(f"no kind of verdict: {known['kind']!r:.50}")
        return Verdict(**known)

    def __repr__(self) -> str:
        return as_text(self)


def unfinished(error: str, line: int | None, code: str, own: bool) -> str:
    """What is said of an answer that was called and ended in NotImplementedError. `own`: the line
    itself raised it; else something did that it calls."""
    where = f"line {line} of your cell, `{code}`" if line else "a line outside your cell"
    if own:
        return f"Your function runs up to {where}: the rest is not written yet."
    return (
        f"Your function calls something that raises NotImplementedError, in {where}. "
        f"It says: {error.partition(': ')[2] or error}"
    )


def lacks_points(verdict: Verdict) -> bool:
    """Right, but where points grow with a count, it does not earn them all."""
    return verdict.kind == PASSED and (verdict.earned or 0.0) < verdict.points


def headline(verdict: Verdict) -> str:
    """The words above a verdict: "passed" alone means that there is nothing left to earn."""
    if lacks_points(verdict):
        return f"works, but {'does not earn all points' if verdict.earned else 'earns nothing'} yet"
    return HEADLINE[verdict.kind]


def as_text(verdict: Verdict) -> str:
    """A few lines for a terminal."""
    title = f"{verdict.exercise}: {headline(verdict)}"
    title += f" ({score(verdict)})" if verdict.kind != UNKNOWN else ""
    if verdict.kind == PASSED:
        return "\n  ".join(filter(None, [title, "; ".join(verdict.tried), verdict.so_far]))
    parts = [title]
    for heading, text in sections(verdict):
        shown = text.rstrip("\n").replace("\n", "\n    ")
        parts.append(f"  {heading}\n    {shown}" if heading else f"  {shown}")
    return "\n".join(parts)


def sections(verdict: Verdict) -> list[tuple[str, str]]:
    """(heading, text) in the order in which a learner needs them; a heading may be empty."""
    parts = [("", lead)] if (lead := _lead(verdict)) else []
    if verdict.kind == GRADER:  # what broke in ours stands in the teacher's report
        return parts
    if verdict.error:
        where = f"line {verdict.line} of your cell: {verdict.code}\n" if verdict.line else ""
        parts.append(("The error", f"{where}{verdict.error}"))
    if verdict.program:
        parts.append((_above_program(verdict), verdict.program))
    if verdict.got and verdict.expected and "\n" in verdict.got + verdict.expected:
        parts.append(("Got (-) against expected (+)", _diff(verdict.got, verdict.expected)))
    else:
        parts += [("Got", verdict.got)] if verdict.got else []
        parts += [("Expected", verdict.expected)] if verdict.expected else []
    if verdict.spec:
        parts.append(("The specification says", f"“{verdict.spec}”"))
    if verdict.printed:
        parts.append(("Your code printed", verdict.printed))
    if verdict.kind in (WRONG, CRASHED, TIMED_OUT, NOT_ATTEMPTED):
        parts.append(("Stuck?", f'hint("{verdict.exercise}") gives the next hint.'))
    return parts


def _above_program(verdict: Verdict) -> str:
    """What the program is: the student's own, a call, or one of ours, which may be the smallest."""
    if verdict.kind in (CRASHED, TIMED_OUT) and not verdict.program.startswith("graph @"):
        return "The call"
    if verdict.own:
        return OWN
    what = "program" if "\n" in verdict.program else "case"
    return SHOWS.format(f"{'The smallest' if verdict.smallest else 'A'} {what}")


def score(verdict: Verdict) -> str:
    earned = "–" if verdict.earned is None else f"{verdict.earned:g}"
    return f"{earned} of {verdict.points:g} {'bonus points' if verdict.further else 'points'}"


def _lead(verdict: Verdict) -> str:
    ours = verdict.kind == GRADER and not verdict.problem.startswith(NEEDS)
    problem = "" if ours or verdict.problem == RAISED else verdict.problem
    advice = ADVICE.get(verdict.kind, "") or ADVICE.get(problem, "")
    text = " ".join(filter(None, [problem, advice]))
    if verdict.kind == BY_HAND:
        waiting = "Your text is kept. A person reads it and gives the points."
        text = verdict.problem or (waiting if verdict.earned is None else "A person has read it.")
    hidden = " (A check that only the grader has.)" if verdict.hidden else ""
    if not verdict.about or verdict.kind == LATER:  # only the form was looked at
        return text
    return "\n".join(filter(None, [text, f"Checked: {verdict.about}{hidden}"]))


def _diff(got: str, expected: str) -> str:
    mine, ours = got.splitlines(), expected.splitlines()
    lines = list(difflib.unified_diff(mine, ours, n=len(mine), lineterm=""))[3:]
    return "\n".join(f"{line[0]} {line[1:]}" for line in lines) or got
