"""What became of the cells that hold answers. One that failed leaves an earlier answer plugged in.

    watch(shell)               # IPython's, from now on
    failed("passes.dce")       # how its latest cell failed before it plugged anything in, or None

Next room: autograder/notebook.py, whose `check` asks.
"""

from __future__ import annotations

import linecache
import re
import traceback
from dataclasses import dataclass
from typing import Any

from autograder.check.shown import error_text
from course_lib.exercises import answers_until_now

ANSWERED = re.compile(r"""^[^#"'\n]*\bimplements\(\s*["']([\w.]+)["']""", re.MULTILINE)
CELL = ("/ipykernel_", "<ipython-input-")  # in the file name that IPython gives to a cell


@dataclass(frozen=True)
class Failure:
    """How a cell ended. `line` counts from 1 in the cell, `code` is that line."""

    error: str
    line: int | None = None
    code: str = ""

    def sentence(self, earlier: bool) -> str:
        kind = self.error.partition(":")[0]
        where = f" in line {self.line}" if self.line else ""
        rest = (
            "Your earlier answer is still plugged in, and was not checked again."
            if earlier
            else "So nothing is plugged in, and nothing was checked."
        )
        return f"The cell with your answer stopped before its end: {kind}{where}. {rest}"


_failed: dict[str, Failure] = {}


def failed(name: str) -> Failure | None:
    return _failed.get(name)


def watch(shell: Any) -> None:
    """Look at every cell that has run: which answers it was to plug in, and whether it did."""
    before = answers_until_now()

    def after(result: Any) -> None:
        nonlocal before
        now = answers_until_now()
        given, before = now - before, now
        source = result.info.raw_cell or ""
        inside = source.startswith("%%needs")  # its body runs as a cell of its own
        asked = () if inside else ANSWERED.findall(source)
        for name in {*asked, *given}:
            if result.success or name in given:
                _failed.pop(name, None)
            else:
                _failed[name] = _failure(result.error_before_exec or result.error_in_exec)

    shell.events.register("post_run_cell", after)


def _failure(error: BaseException) -> Failure:
    if isinstance(error, SyntaxError):
        message = f"{type(error).__name__}: {error.msg}"
        return Failure(message, error.lineno, (error.text or "").strip())
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if any(mark in frame.filename for mark in CELL)]
    if not own:
        return Failure(error_text(error))
    last = [frame for frame in own if frame.filename == own[0].filename][-1]  # in this cell
    code = linecache.getline(last.filename, last.lineno or 0).strip()
    return Failure(error_text(error), last.lineno, code)
