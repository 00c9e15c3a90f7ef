"""When nbgrader runs a notebook, a check cell has to raise where points are missing.

    check("u02.shared") in JupyterLab          ->  a card, and the next cell runs
    the same under Validate, answered wrongly  ->  the words of the card as the cell's error

nbgrader's Validate (and its own autograder) takes every check cell that ends without an error for a
right answer, and says which run it is in NBGRADER_EXECUTION. The answer's own cell fails unseen
there, so what it raised is told where its check stands.

Next room: autograder/notebook.py, which has `check`.
"""

from __future__ import annotations

import linecache
import os
import sys
import textwrap
import traceback
from dataclasses import replace
from typing import Any

from autograder.check.feedback import as_html
from autograder.check.shown import error_text
from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    NOT_ATTEMPTED,
    PASSED,
    Verdict,
    as_text,
    lacks_points,
)

RUN = "NBGRADER_EXECUTION"  # "validate" or "autograde" in a kernel that nbgrader has started
WIDTH = 80  # nbgrader cuts longer lines off
NOTHING_YET = "The cell for your answer is as it was handed out: nothing is written there yet."
NO_FUNCTION = "The cell with your answer raised an error before the function was there."


class NotPassed(Exception):
    """What nbgrader shows below a check cell: the verdict in words, and no traceback of ours."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def raise_for_nbgrader(verdict: Verdict) -> None:
    """In a run of nbgrader, and only there: NotPassed, unless all points are earned, or a person
    gives them."""
    full = verdict.kind == PASSED and not lacks_points(verdict)
    if RUN in os.environ and not full and verdict.kind != BY_HAND:
        raise NotPassed(_words(verdict))


def for_nbgrader(shell: Any) -> None:
    """In a run of nbgrader, show a verdict as an output and not as the value of its cell: nbgrader
    takes a value for a number of points."""
    if RUN in os.environ:
        shell.display_formatter.ipython_display_formatter.for_type(Verdict, _show)


def _show(verdict: Verdict) -> None:
    from IPython.display import display

    display({"text/plain": as_text(verdict), "text/html": as_html(verdict)}, raw=True)


def _words(verdict: Verdict) -> str:
    text = as_text(verdict)
    if verdict.kind == NOT_ATTEMPTED:
        failed = _failed_cell(verdict)
        text = as_text(failed) if failed else f"{text.splitlines()[0]}\n  {NOTHING_YET}"
    return "\n".join(_wrapped(line) for line in text.splitlines())


def _failed_cell(verdict: Verdict) -> Verdict | None:
    """The verdict on an answer whose cell raised the last error that this kernel has shown."""
    error = getattr(sys, "last_value", None)
    if error is None:
        return None
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    for file, line in frames:
        if f'@implements("{verdict.exercise}")' in "".join(linecache.getlines(file)):
            code = linecache.getline(file, line or 0).strip()
            said = {"problem": NO_FUNCTION, "error": error_text(error), "line": line, "code": code}
            return replace(verdict, kind=CRASHED, **said)
    return None


def _wrapped(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, WIDTH, subsequent_indent=indent) if len(line) > WIDTH else line
