"""What a student types in a notebook.

    check("passes.dce")                    # run the visible checks on what is plugged in
    check()                                # how far am I in this unit?
    hint("passes.dce")                     # the next of three hints
    predict("u02.nodes", 40, unit="nodes") # a guess before the reveal; never graded
    compare("u02.nodes", 58)               # "you said 40 nodes; it is 58"
    use_my("u02")                          # the answers of unit 2, in this notebook (mine.py)
    %%needs passes.dce                     # first line of a cell that cannot run without an answer
    %%needs xdsl                           # or without a package

`check` returns a verdict, which shows itself, and raises only where nbgrader runs the notebook. The
answer is called exactly as the grader calls it: arguments and results pass through the same codec,
so what works here works there.

Next room: autograder/check/judging.py, how checks run.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, overload

from autograder.check import here, overview
from autograder.check.attempts import failed, watch
from autograder.check.cards import Card, Note, show
from autograder.check.explained import Reading, explained
from autograder.check.feedback import as_html
from autograder.check.folded import QUIETLY, Folded
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.check.packages import needs_a_package
from autograder.check.plugs import own_alone
from autograder.check.shown import error_text
from autograder.check.validating import for_nbgrader, raise_for_nbgrader
from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    GRADER,
    LATER,
    NOT_ATTEMPTED,
    PASSED,
    STUB,
    UNKNOWN,
    UNPLUGGED,
    Verdict,
)
from autograder.check.waiting import Stopped, Waiting
from autograder.progress import clock, record
from autograder.progress.keep import PREDICTIONS, read, table
from course_lib import exercises
from course_lib.exercises import UnknownExercise, slot
from course_lib.packages import PACKAGES

IN_WORDS = (
    "Nothing is checked here. Write your answer into the text cell below the task: a person reads "
    "it and gives the points."
)
PATIENCE = 10.0  # seconds of processor time to look for the smallest program that fails


@overload
def check(name: str) -> Verdict: ...
@overload
def check() -> Card | Note: ...
def check(name: str | None = None) -> Any:
    """Run the visible checks of an exercise on the function that is plugged in; of an explanation,
    show graded answers, where the library has them. Without a name: all exercises of this
    notebook, a unit's or a lab's, with what each has earned."""
    if name is None:
        return _overview()
    reading = _reading(name)
    if reading is not None:
        return reading
    verdict = verdict_on(name, noted=True)
    raise_for_nbgrader(verdict)
    return verdict


def _overview() -> Card | Note:
    key = overview.key_of_this_notebook()
    if key is None:
        return Note('Which unit? Run the cell of an exercise first, or name one: check("...").')
    entries = overview.exercises_in(key)
    return overview.overview(
        key, [overview.known(e) or verdict_on(e.name, noted=True) for e in entries]
    )


def _reading(name: str) -> Reading | None:
    """What an explanation may be compared with; None of all else."""
    try:
        entry = slot(name)
    except UnknownExercise:
        return None
    return explained(entry) if entry.kind == "explain" else None


def verdict_on(name: str, noted: bool = False) -> Verdict:
    """What the visible checks find; if that is to be `noted`, beside the notebook as well."""
    try:
        entry = slot(name)
    except UnknownExercise as error:
        return Verdict(str(name), UNKNOWN, 0, problem=_sentence(error))
    if entry.kind == "explain":
        return Verdict.on(entry, BY_HAND, None, problem=IN_WORDS)
    if failure := failed(name):
        why = failure.sentence(entry.answered)
        place = {"error": failure.error, "line": failure.line, "code": failure.code}
        return Verdict.on(entry, CRASHED, problem=why, **place)
    if not entry.answered:
        return Verdict.on(entry, NOT_ATTEMPTED, problem=STUB if entry.empty else UNPLUGGED)
    try:
        with own_alone(name), Waiting(name, here.CALL) as waiting:
            answer = Here(entry, waiting.look)
            with exercises.using({}):  # the check's own calls reach the library, not the plugs
                verdict = judge(name, answer, patience=PATIENCE)
    except KeyboardInterrupt:
        raise Stopped(name) from None
    except ModuleNotFoundError as error:  # of the check itself: an answer's is in its verdict
        if not (lacking := needs_a_package((error.name or "").partition(".")[0])):
            raise
        return Verdict.on(entry, GRADER, None, problem=lacking)
    if not noted:
        return verdict
    overview.remember(entry, verdict)
    record.checked(verdict)
    if verdict.kind == PASSED:
        verdict = replace(verdict, so_far=overview.so_far(entry.key))
    return verdict


def predict(key: str, value: Any, unit: str = "") -> None:
    """Keep a guess beside the notebook. It is never graded."""
    if value is None or value is Ellipsis:
        _show(f"Type your own guess in place of the dots, then run the cell: {key}.")
        return
    if unit and not isinstance(value, Real):
        _show(f"This guess is a number of {unit}, and {value!r} is none: nothing was kept.")
        return
    kept = record.guessed(key, value, unit)
    _show(f"{'Kept' if kept else 'Not kept'}: you say {_amount(value, unit)}.")


def compare(key: str, actual: Any, unit: str = "") -> None:
    """Put the guess beside what came out."""
    guess = table(read(PREDICTIONS), key)
    if not guess:
        _show(f"It is {_amount(actual, unit)}. You made no prediction for {key}.")
        return
    unit, value = unit or str(guess.get("unit", "")), guess.get("value")
    record.came_out(key, actual, unit)
    apart = _apart(value, actual, unit)
    _show(f"You said {_amount(value, unit)}; it is {_amount(actual, unit)}.{apart}")


def needs(names: str, cell: str, run: Callable[[str, bool], Any]) -> None:
    """The cell magic `%%needs`: run the cell once all the named exercises have an answer, and where
    the named packages are installed. `run` is told whether all the answers have passed. A folded
    cell says nothing of what is missing: the open one below it does."""
    given = [name for name in names.split() if name != QUIETLY]
    say = _nothing if QUIETLY in names.split() else _show
    if lacking := next(filter(None, map(needs_a_package, given)), ""):
        say(lacking)
        return
    names = " ".join(name for name in given if name not in PACKAGES)
    try:
        missing = [name for name in names.split() if not slot(name).answered]
    except UnknownExercise as error:
        say(_sentence(error))
        return
    if missing:
        say(f"This cell needs your answer to {', '.join(missing)}. Write it, then run again.")
        return
    doubtful = [name for name in names.split() if not _has_passed(name)]
    if doubtful:
        them = "it has" if len(doubtful) == 1 else "they have"
        say(f"This cell uses your answer to {', '.join(doubtful)}, but {them} not passed yet.")
    run(cell, not doubtful)


def _nothing(sentence: str) -> None:
    """Say nothing."""


def _has_passed(name: str) -> bool:
    verdict = overview.known(slot(name))
    return verdict is not None and verdict.kind in (PASSED, LATER)


class CellFailed(Exception):
    """The cell under a `%%needs` line raised; its own error stands above."""

    def _render_traceback_(self) -> list[str]:
        return []


def load_ipython_extension(shell: Any) -> None:
    """Register `%%needs` and how a verdict looks, and watch the cells that hold answers. Importing
    autograder in IPython does this."""

    def run(cell: str, passed: bool) -> None:
        before = shell.custom_exceptions, shell.CustomTB
        if not passed:
            shell.set_custom_exc((Exception,), _in_words)
        try:
            if not shell.run_cell(cell).success:
                raise CellFailed  # the error is shown already; this one stops "run all"
        finally:
            shell.custom_exceptions, shell.CustomTB = before

    shell.register_magic_function(
        lambda line, cell: needs(line, cell, run), magic_kind="cell", magic_name="needs"
    )
    shell.display_formatter.formatters["text/html"].for_type(Verdict, as_html)
    for_nbgrader(shell)
    watch(shell)
    clock.start(shell)
    Folded(shell).start()


def _in_words(shell: Any, kind: type, error: Exception, *rest: Any, **more: Any) -> list[str]:
    """Show an error that an answer has caused. It may break any line of ours, and that line would
    explain nothing; but the last line of a cell that was running, the student's own, may."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if "/ipykernel_" in f.filename]
    line = linecache.getline(own[-1].filename, own[-1].lineno or 0).strip() if own else ""
    _show(f"With this answer, the cell ends in {error_text(error)}" + (line and f", in: {line}"))
    return []


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]


def _amount(value: Any, unit: str) -> str:
    number = f"{value:.3g}" if isinstance(value, float) else f"{value}"
    return f"{number} {unit}".rstrip()


def _apart(predicted: Any, actual: Any, unit: str) -> str:
    """How far a guess is off: percentages, which may be negative, by their difference."""
    try:
        guess, value = float(predicted), float(actual)
    except (TypeError, ValueError):
        return ""
    side = "high" if guess > value else "low"
    if unit.startswith(("%", "percent")):
        points = abs(guess - value)
        return f" {points:.3g} percentage points too {side}." if points >= 1 else " Nearly right."
    if min(guess, value) <= 0:
        return ""
    ratio = guess / value
    if 0.9 <= ratio <= 1.1:
        return " Within 10 %."
    return f" {max(ratio, 1 / ratio):.2g} times too {side}."


def _show(text: str) -> None:
    show(Note(text))
