"""One check on one answer, example by example; after a failure, on smaller and smaller ones.

    trial = Trial(check, implementation, seed)
    trial(example)                # raises Wrong or Crashed, and keeps it
    trial.look_for_smaller()      # trial.smallest: the failure on the smallest program

First Hypothesis makes the example smaller, then shrink.py the graph that it found.
Next room: judging.py, which makes a verdict of the failure.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.check.examples import explore
from autograder.check.framework import Check, Crashed, Died, Implementation, Stop, TimedOut, Wrong
from autograder.check.shown import printed
from autograder.check.shrink import smallest
from course_lib import exercises
from course_lib.ir.graph.graph import Graph

# Calls after the first failure, by Hypothesis and on the graph that it found. Counts, so that a
# verdict does not depend on speed.
SHRINK_CALLS, REDUCE_CALLS = 500, 200


def randomness(check: Check, offset: int) -> dict[str, Any]:
    """A generator of random numbers for a check that asks for one: another in every run."""
    if "rng" not in inspect.signature(check.function).parameters:
        return {}
    return {"rng": np.random.default_rng([check.seed, offset])}


class Trial:
    """One check on one answer, example by example; it keeps the failure on the smallest program."""

    def __init__(self, check: Check, implementation: Implementation, offset: int):
        self.check, self.implementation, self.offset = check, implementation, offset
        self.smallest: Wrong | Crashed | None = None
        self.example: Any = None  # the one on which it failed
        self.calls_after = 0

    def __call__(self, example: Any) -> None:
        if self.smallest is not None:
            self.calls_after += 1
            if self.calls_after > SHRINK_CALLS + REDUCE_CALLS:
                raise _Enough
        try:
            self.check.function(self.implementation, example, **randomness(self.check, self.offset))
        except (Wrong, Crashed) as error:
            error.program = example if error.program is None else error.program
            error.printed = getattr(self.implementation, "printed", "")
            if self.smallest is None or _size(error) <= _size(self.smallest):
                self.smallest, self.example = error, example
            raise
        except (TimedOut, Died) as stop:
            stop.program = stop.program or example
            raise
        except Exception as error:
            error.__dict__.setdefault("program", example)
            raise

    def look_for_smaller(self) -> None:
        """By Hypothesis, then on the graph itself. An answer that changes its mind is "flaky";
        what it did wrong is enough. Nor does it matter if the time is over before the end."""
        from hypothesis.errors import HypothesisException

        with contextlib.suppress(TimedOut, Died, _Enough):
            with contextlib.suppress(Wrong, Crashed, _Enough, HypothesisException):
                explore(self.check, self.offset, self._within(SHRINK_CALLS))
            if isinstance(self.example, Graph):
                self.calls_after = SHRINK_CALLS
                smallest(self.example, self._fails_alike, REDUCE_CALLS)

    def _within(self, calls: int) -> Callable[[Any], None]:
        def one(example: Any) -> None:
            if self.calls_after >= calls:
                raise _Enough
            self(example)

        return one

    def _fails_alike(self, graph: Graph) -> bool:
        """Does the answer fail there in the same way, and ours pass? A smaller graph may be none
        that the check is made for. In an edition without our answer nothing is reduced."""
        reference = exercises.slot(self.check.slot).reference
        before = self.smallest, self.example
        try:
            self.check.function(reference, graph, **randomness(self.check, self.offset))
        except (Exception, Stop):
            return False
        try:
            self(graph)
        except (Wrong, Crashed) as error:
            if before[0] is not None and _way(error) == _way(before[0]):
                self.smallest, self.example = error, graph
                return True
            self.smallest, self.example = before
        return False


def _way(error: Wrong | Crashed) -> tuple[str, str]:
    """In which way it fails: the words before the first name or number."""
    words = error.error if isinstance(error, Crashed) else error.problem
    return getattr(error, "spec", ""), re.split(r"[%\d:]", words)[0]


class _Enough(BaseException):
    """The shrinking took its share of calls."""


def _size(error: Wrong | Crashed) -> int:
    return len(printed(error.program)) if error.program is not None else 0
