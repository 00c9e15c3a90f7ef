"""One check on one answer, example by example; after a failure, on smaller and smaller ones.

    trial = Trial(check, answer, seed)
    trial(example)                # raises Wrong or Crashed, and keeps it
    trial.look_for_smaller()      # trial.smallest: the failure on the smallest program

First Hypothesis makes the example smaller, then shrink.py the graph that it found; last, all that
is smaller still is tried, if that is little (listed.py). Only then is it called the smallest.
Next room: judging.py, which makes a verdict of the failure.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autograder.check.answer import BESIDE, Answer
from autograder.check.examples import examples_of, explore
from autograder.check.framework import (
    Changed,
    Check,
    Crashed,
    Died,
    Stop,
    TimedOut,
    Unusable,
    Wrong,
)
from autograder.check.listed import smaller_cases, smaller_graphs
from autograder.check.shown import call_shown, is_typed, printed
from autograder.check.shrink import smallest
from course_lib import exercises
from course_lib.ir.graph.graph import Graph

# Calls after the first failure: by Hypothesis, on the graph that it found, and on all that is
# smaller. Counts, so that a grader's verdict does not depend on speed.
SHRINK_CALLS, REDUCE_CALLS, LISTED_CALLS = 500, 200, 200


def randomness(check: Check, offset: int) -> dict[str, Any]:
    """A generator of random numbers for a check that asks for one: another in every run."""
    if "rng" not in inspect.signature(check.function).parameters:
        return {}
    return {"rng": np.random.default_rng([check.seed, offset])}


class Trial:
    """One check on one answer, example by example; it keeps the failure on the smallest program."""

    def __init__(self, check: Check, answer: Answer, offset: int):
        self.check, self.answer, self.offset = check, answer, offset
        self.smallest: Wrong | Crashed | None = None
        self.example: Any = None  # the one on which it failed
        self.calls_after = 0
        self.until = math.inf  # of the processor time of this thread

    def __call__(self, example: Any) -> None:
        if self.smallest is not None:
            self.calls_after += 1
            if time.thread_time() > self.until:
                raise _Enough
        self.answer.latest = (), {}
        try:
            self.check.function(self.answer, example, **randomness(self.check, self.offset))
        except (Wrong, Crashed) as error:
            if error.program is None:
                is_about_a_call = isinstance(error, (Changed, Crashed, Unusable))
                error.program = self._call(example) if is_about_a_call else example
            error.printed = self.answer.printed
            if self.smallest is None or _size(error) <= _size(self.smallest):
                self.smallest, self.example = error, example
            raise
        except (TimedOut, Died) as stop:
            stop.program = stop.program or self._call(example)
            raise
        except Exception as error:
            error.__dict__.setdefault("program", self._call(example))
            raise

    def _call(self, example: Any) -> Any:
        """The latest call as one types it; the example, where no one would type that."""
        args, named = self.answer.latest
        given = [*args, *(value for key, value in named.items() if key != BESIDE)]
        if len(given) == 1 and given[0] is example:
            return example
        if not given or not all(map(is_typed, given)):
            return example
        return call_shown(self.check.slot, args, named)

    def look_for_smaller(self, patience: float = math.inf) -> None:
        """By Hypothesis, then on the graph itself, then among all that is smaller. An answer that
        changes its mind is "flaky"; what it did wrong is enough. Nor does it matter if the time is
        over before the end: then it is not called the smallest."""
        from hypothesis.errors import HypothesisException

        self.until = time.thread_time() + patience
        with contextlib.suppress(TimedOut, Died, _Enough):
            with contextlib.suppress(Wrong, Crashed, _Enough, HypothesisException):
                explore(self.check, self.offset, self._within(SHRINK_CALLS))
            is_smallest = self._takes_ours(self.example) and self._nothing_smaller()
            assert self.smallest is not None
            self.smallest.is_smallest = is_smallest

    def _nothing_smaller(self) -> bool:
        """Look for a smaller example; at the end, was everything tried that is smaller?"""
        examples = examples_of(self.check, self.offset)
        if not isinstance(self.example, Graph):
            cases = smaller_cases(self.example, examples)
            return cases is not None and self._is_first(cases, self._fails)
        calls = itertools.count()
        smallest(self.example, lambda g: next(calls) >= 0 and self._fails_alike(g), REDUCE_CALLS)
        if next(calls) >= REDUCE_CALLS:
            return False
        return self._is_first(smaller_graphs(self.example, examples), self._fails_alike)

    def _is_first(self, smaller: Iterable[Any], fails: Callable[[Any], bool]) -> bool:
        """Up to the first that fails: it becomes the smallest. False if there are too many."""
        for number, example in enumerate(smaller):
            if number == LISTED_CALLS:
                return False
            if fails(example):
                break
        return True

    def _within(self, calls: int) -> Callable[[Any], None]:
        def one(example: Any) -> None:
            if self.calls_after >= calls:
                raise _Enough
            self(example)

        return one

    def _takes_ours(self, example: Any) -> bool:
        """Does our answer pass there? If not, the check is not made for it. In an edition without
        our answer it passes nowhere, and nothing is reduced."""
        reference = Answer.of(exercises.slot(self.check.slot).reference)
        try:
            self.check.function(reference, example, **randomness(self.check, self.offset))
        except (Exception, Stop):
            return False
        return True

    def _fails(self, example: Any) -> bool:
        """Does the answer fail there, and ours pass? Then that is the smallest now."""
        return self._takes_ours(example) and self._failed(example, lambda error, before: True)

    def _fails_alike(self, graph: Graph) -> bool:
        """The same, and in the same way as before."""
        return self._takes_ours(graph) and self._failed(
            graph, lambda error, before: _way(error) == _way(before)
        )

    def _failed(self, example: Any, counts: Callable[[Any, Any], bool]) -> bool:
        before = self.smallest, self.example
        try:
            self(example)
        except (Wrong, Crashed) as error:
            if before[0] is not None and counts(error, before[0]):
                self.smallest, self.example = error, example
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
