"""How much of a verdict somebody may see who can hand in again: the open part.

    open_part(verdict)          the verdict; of one by a hidden check, only what it looks at
    has_few_answers("u01.fx")   then there is no open part: whoever sees it tries all answers

A platform that grades at once is asked as often as a student likes. A notebook says "judged when it
is graded" where few answers are possible, and no notebook has the hidden programs: that stays so.

Next room: results.py, which asks.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from autograder.check.framework import checks_of, ours
from autograder.check.verdict import PASSED, Verdict

LATER = (
    "Your answer was judged. So few answers are possible that the verdict would give the right one "
    "away; you see it when the grades are published."
)
WITHHELD = "One of the checks that only the grader has does not pass."


def open_part(verdict: Verdict) -> Verdict:
    """The verdict without the programs of hidden checks."""
    if not verdict.hidden or verdict.kind == PASSED:
        return verdict
    return replace(
        verdict, problem=WITHHELD, spec="", program="", smallest=False, got="", expected="",
        marked=(), error="", line=None, code="", printed="", pictures=(),
    )  # fmt: skip


def is_closed(verdict: Verdict) -> bool:
    """True if the verdict is on an answer, and tells too much."""
    return verdict.earned is not None and has_few_answers(verdict.exercise)


@functools.cache
def has_few_answers(exercise: str) -> bool:
    """True if a visible check of the exercise asks for our answer (`framework.ours`), which a
    students' edition does not have."""
    return any(_leads_to_ours(check.function, set()) for check in checks_of(exercise))


def _leads_to_ours(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> bool:
    """Does the function name `ours`, or a function that does, and so on?"""
    if function is ours:
        return True
    code = getattr(function, "__code__", None)
    if code is None or function in seen or "autograder.units" not in function.__module__:
        return False
    seen.add(function)
    named = (function.__globals__.get(name) for name in _names(code))
    return any(_leads_to_ours(one, seen) for one in named if isinstance(one, types.FunctionType))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
