"""What takes seconds says how far it is: one line that changes, and goes away at the end.

    with Working(12) as working:
        for working.number, name in enumerate(names, 1):
            working.say(f"counting {name}")                    "3 of 12: counting resnet18."

In a notebook the line tells how to stop it; in a terminal it stands where somebody looks on.

Next room: waiting.py, a check that takes long.
"""

from __future__ import annotations

import sys
from typing import Any

from autograder.check.cards import Note, in_notebook

STOP = "To stop, press the stop button (■) above the notebook."


class Working:
    """`of` so many things, `number` is the one that is done now, from 1."""

    def __init__(self, of: int) -> None:
        self.number, self.of = 0, of
        self.line: Any = None  # what changes it, in a notebook
        self.wide = 0  # of what stands in the terminal

    def __enter__(self) -> Working:
        return self

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.update({"text/plain": "", "text/html": ""}, raw=True)
        elif self.wide:
            print(f"\r{' ' * self.wide}\r", end="", file=sys.__stderr__, flush=True)

    def say(self, what: str) -> None:
        words = f"{self.number} of {self.of}: {what}."
        if in_notebook():
            from IPython.display import display  # only a notebook has lines that change

            if self.line is None:
                self.line = display(Note(f"{words} {STOP}"), display_id=True)
            else:
                self.line.update(Note(f"{words} {STOP}"))
        elif sys.__stderr__ is not None and sys.__stderr__.isatty():
            print(f"\r{words:<{self.wide}}", end="", file=sys.__stderr__, flush=True)
            self.wide = max(self.wide, len(words))
