"""All checks of an exercise, hidden ones too, on one answer, in this process.

    verdict_of(slot("passes.dce"), lambda graph: graph).earned      ->  0.0

Next room: operators.py, where wrong answers are made; autograder/grading/grade.py, which asks the
same of a student's process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.check.verdict import Verdict
from course_lib import exercises
from course_lib.exercises import Slot, plugged


def verdict_of(entry: Slot, answer: Callable[..., Any], *, shrink: bool = True) -> Verdict:
    """The verdict on `answer`. Without `shrink` the first example that fails is enough."""
    with plugged(entry.name, answer):
        call = Here(entry)
        with exercises.using({}):
            return judge(entry.name, call, with_hidden=True, shrink=shrink)


def is_full(verdict: Verdict) -> bool:
    """Does the answer earn every point?"""
    return verdict.earned is not None and verdict.earned >= verdict.points
