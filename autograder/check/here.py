"""A student's answer in a notebook: called in this process the way the grader calls it.

    with Waiting(name, CALL) as waiting:
        judge(name, Here(entry, waiting.look))

What goes in and what comes out is copied as if another process ran it, so a check sees the same in
both places.

Next room: autograder/notebook.py, which asks for the verdict.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import traceback
from collections.abc import Callable
from typing import Any

from autograder.check.alarm import BACKSTOP, alarm
from autograder.check.answer import Answer
from autograder.check.framework import BESIDE, Changed, Crashed, NotAttempted, Unusable
from autograder.check.plugs import plugs_for
from autograder.check.shown import error_text
from autograder.check.steps import counted, limit_now
from autograder.check.verdict import unfinished
from autograder.wire.arguments import Given
from autograder.wire.codec import Codec, Unsendable
from autograder.wire.iterators import run_out
from course_lib import exercises
from course_lib.exercises import Slot

PRINTED = 2000  # characters of what one call prints that are kept for the verdict
CALL = 10  # seconds, as in the grader
TOO_LONG = (
    f"One call was stopped after {CALL} seconds of processor time, "
    f"or {BACKSTOP * CALL} by the clock: does it end?"
)


class Here(Answer):
    """The plugged function of an exercise. `meanwhile` is called ten times a second while it
    runs."""

    def __init__(self, entry: Slot, meanwhile: Callable[[], None] = lambda: None):
        super().__init__(entry.name)
        self.entry, self.meanwhile = entry, meanwhile
        self.function, self.call = entry.plugged, entry.run
        self.beside = plugs_for(entry.name)
        self.plugs = exercises.plugs_now()  # for a check that is about all of the student's passes
        self.ours = Codec()
        self.theirs = Codec(call=lambda *message: self._callback(*message))

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.ours.reset()
        self.theirs.reset()
        a, k = self.theirs.decode(self.ours.encode((args, kwargs)))
        beside = self.beside | k.pop(BESIDE, {})
        given = Given(self.entry.signature.bind(*a, **k).arguments)
        output = io.StringIO()
        try:
            with (
                exercises.using(beside),
                contextlib.redirect_stdout(output),
                alarm(CALL, TOO_LONG, self.meanwhile),
                counted(limit_now()),
            ):
                result = run_out(self.call(*a, **k))
        except NotImplementedError as error:
            where, own = crashed(error, self.function), raised_by(error, self.function)
            raise NotAttempted(unfinished(where.error, where.line, where.code, own)) from None
        except (Exception, SystemExit) as error:
            raise crashed(error, self.function) from None
        finally:
            self.printed = output.getvalue()[:PRINTED]
        self.returned = True
        if changed := given.changed():
            raise Changed(changed)
        try:
            return self.ours.decode(self.theirs.encode(result))
        except Unsendable as error:
            raise Unusable(error) from None

    def _callback(self, number: int, args: tuple, kwargs: dict) -> Any:
        """The answer calls a function that it was given: that one runs on our side."""
        a, k = self.ours.decode(self.theirs.encode((args, kwargs)))
        with exercises.using({}):
            return self.theirs.decode(self.ours.encode(self.ours.functions[number](*a, **k)))


def crashed(error: BaseException, function: Any) -> Crashed:
    """The student's own line: the deepest frame that lies in the cell of their function."""
    line, code = None, ""
    cell = _cell_of(function)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == cell:
            line = frame.lineno
            code = linecache.getline(cell, line or 0).strip()
    kinds = tuple(kind.__name__ for kind in type(error).__mro__)
    return Crashed(error_text(error), line, code, kinds=kinds)


def raised_by(error: BaseException, function: Any) -> bool:
    """Did the cell of the function raise this itself, and nothing that it called?"""
    return traceback.extract_tb(error.__traceback__)[-1].filename == _cell_of(function)


def _cell_of(function: Any) -> str:
    return getattr(getattr(function, "__code__", None), "co_filename", "")
