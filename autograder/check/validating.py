"""When nbgrader runs a notebook, a check cell has to raise where points are missing.

    check("u02.shared") in JupyterLab          ->  a card, and the next cell runs
    the same under Validate, answered wrongly  ->  the words of the card as the cell's error

nbgrader's Validate (and its own autograder) takes every check cell that ends without an error for a
right answer, and says which run it is in NBGRADER_EXECUTION. The answer's own cell fails unseen
there; the card below it says what it raised (attempts.py).

Next room: autograder/notebook.py, which has `check`.
"""

from __future__ import annotations

import os
import textwrap
from typing import Any

from autograder.check.feedback import as_html
from autograder.check.verdict import BY_HAND, LATER, PASSED, Verdict, as_text, lacks_points

RUN = "NBGRADER_EXECUTION"  # "validate" or "autograde" in a kernel that nbgrader has started
WIDTH = 80  # nbgrader cuts longer lines off


class NotPassed(Exception):
    """What nbgrader shows below a check cell: the verdict in words, and no traceback of ours."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def raise_for_nbgrader(verdict: Verdict) -> None:
    """In a run of nbgrader, and only there: NotPassed, unless all points are earned, or are given
    by a person or when it is graded."""
    full = verdict.kind == PASSED and not lacks_points(verdict)
    if RUN in os.environ and not full and verdict.kind not in (BY_HAND, LATER):
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
    return "\n".join(_wrapped(line) for line in as_text(verdict).splitlines())


def _wrapped(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, WIDTH, subsequent_indent=indent) if len(line) > WIDTH else line
