"""A check that takes long says so: what runs, when it is stopped, and how to stop it now.

    with Waiting("passes.dce", 10) as waiting:
        with alarm(10, "...", waiting.look):      # asked ten times a second, while the answer runs
            student_function()

One line, after a few seconds, in a notebook or a terminal; none where nobody looks on, as in tests
and in the grader. In a notebook it goes away when the check is done.

Next room: alarm.py, who asks.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from autograder.check.alarm import BACKSTOP
from autograder.check.cards import Note, in_notebook

AFTER = 3.0  # seconds since the first call, by the clock


class Waiting:
    def __init__(self, name: str, limit: float):
        self.name, self.limit = name, limit
        self.begin: float | None = None
        self.shown_note: Any = None  # what takes the line away again, in a notebook

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown_note is not None:
            self.shown_note.update({"text/plain": "", "text/html": ""}, raw=True)

    def look(self) -> None:
        """Say it, once, when it is time."""
        now = time.monotonic()
        if self.begin is None:
            self.begin = now
        elif now - self.begin > AFTER:
            self.begin = float("inf")
            self._say()

    def _say(self) -> None:
        if in_notebook():
            from IPython.display import display

            how = "To stop it now, press the stop button (■) above the notebook."
            self.shown_note = display(Note(f"{self.words} {how}"), display_id=True)
        elif sys.__stderr__ is not None and sys.__stderr__.isatty():
            print(f"{self.words} To stop it now, press Ctrl+C.", file=sys.__stderr__)

    @property
    def words(self) -> str:
        return (
            f"{self.name}: your answer is still running after {AFTER:g} seconds. A call that does "
            f"not end is stopped after {self.limit:g} seconds of processor time, or "
            f"{BACKSTOP * self.limit:g} seconds by the clock."
        )


class Stopped(KeyboardInterrupt):
    """The student has stopped the check. A notebook shows these words and no stack of ours."""

    def __init__(self, name: str):
        super().__init__(f"You stopped the check of {name}, so there is no verdict.")

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
