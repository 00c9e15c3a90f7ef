"""Running checks: from an implementation to a verdict.

    judge("passes.dce", call)      # every check in turn, until one objects -> Verdict

The examples of a check are made once and used for every answer. Only when an answer fails on one
does Hypothesis go to work, to find the smallest program on which it fails. It is imported where it
is used: the process that runs a student's code has no need of it.

Next room: verdict.py, what comes out; autograder/notebook.py and grading/grade.py, who asks.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.check.framework import (
    Check,
    Crashed,
    Died,
    Implementation,
    Score,
    Stop,
    TimedOut,
    Unusable,
    Wrong,
    checks_of,
)
from autograder.check.pictures import pictures
from autograder.check.received import without_addresses
from autograder.check.verdict import BY_HAND, CRASHED, GRADER, PASSED, TIMED_OUT, WRONG, Verdict
from course_lib import exercises
from course_lib.ir.graph.graph import Graph, print_graph

SHRINK_CALLS = 500  # after the first failure; a count, so that a verdict does not depend on speed
CALL_LIMIT = 300  # characters of each argument of a call that is shown
PROGRAM_LIMIT = 20_000  # characters of IR text kept in a verdict


def judge(
    slot_name: str,
    implementation: Implementation,
    *,
    with_hidden: bool = False,
    seed: int = 0,
    shrink: bool = True,
) -> Verdict:
    """Run the checks of a slot on an implementation until one objects. Without `shrink` the first
    program that fails is shown, and not the smallest."""
    slot = exercises.slot(slot_name)
    if slot.kind == "explain":
        return Verdict(slot.name, BY_HAND, slot.points, None)
    verdict = Verdict(slot.name, GRADER, slot.points, None)
    found = checks_of(slot_name, with_hidden=with_hidden)
    if not found:
        return replace(verdict, problem=f"no check is written for {slot_name}")
    tried: list[str] = []
    examples: Counter[str] = Counter()
    fraction = 1.0
    for check in found:
        verdict = replace(verdict, check=check.name, hidden=check.hidden)
        try:
            seen = perform(check, implementation, seed, shrink)
        except Exception as error:
            return _failed(verdict, check, error)
        except Stop as stop:
            earned = None if stop.kind == GRADER else 0.0
            return replace(
                verdict,
                kind=stop.kind,
                earned=earned,
                problem=stop.problem,
                program=_text(stop.program),
                pictures=pictures(stop),
            )
        if isinstance(seen, int):
            examples[check.what] += seen
            continue
        if isinstance(seen, Score):
            fraction = min(fraction, max(0.0, seen.fraction))
            seen = seen.seen
        tried.append(seen or check.property)
    points = round(slot.points * fraction, 2)
    counted = [f"{number} {what}" for what, number in examples.items()]
    return Verdict(slot.name, PASSED, slot.points, points, tried=_once_each(counted + tried))


def prepare(slot: str, seed: int = 0) -> None:
    """Import the checks of a slot and make their examples, so that judging it is quick."""
    for check in checks_of(slot, with_hidden=True):
        if check.given is not None:
            _examples(check, seed)


def perform(
    check: Check, implementation: Implementation, seed: int = 0, shrink: bool = True
) -> int | str | Score | None:
    """Run one check. Returns what it saw, or how many examples; raises Wrong, Crashed or Stop."""
    if hasattr(implementation, "ahead"):  # an answer in another process: all calls in one message
        implementation.ahead(check, seed)
    if check.given is None:
        return _once(check, implementation)
    return _for_examples(check, implementation, seed, shrink)


def _once(check: Check, implementation: Implementation) -> str | Score | None:
    latest: tuple[tuple, dict] = ((), {})

    @functools.wraps(implementation)
    def watched(*args: Any, **kwargs: Any) -> Any:
        nonlocal latest
        latest = args, kwargs
        return implementation(*args, **kwargs)

    try:
        return check.function(watched)
    except (Wrong, Crashed) as error:
        error.printed = getattr(implementation, "printed", "")
        if isinstance(error, (Crashed, Unusable)) and error.program is None:
            error.program = _call(check.slot, *latest)
        raise
    except TimedOut as stop:
        stop.program = stop.program or _call(check.slot, *latest)
        raise


def _call(slot_name: str, args: tuple, kwargs: dict) -> str:
    """A call as text: the graph that it is about, or the call as it would be typed."""
    if len(args) == 1 and not kwargs and hasattr(args[0], "nodes"):
        return _printed(args[0])
    shown = [_short(a) for a in args] + [f"{k}={_short(v)}" for k, v in kwargs.items()]
    return f"{slot_name.rpartition('.')[2]}({', '.join(shown)})"


def _short(value: Any) -> str:
    text = without_addresses(repr(value))
    return text if len(text) <= CALL_LIMIT else text[:CALL_LIMIT] + "..."


def _for_examples(check: Check, implementation: Implementation, offset: int, shrink: bool) -> int:
    """Try the examples; at the first failure let Hypothesis look for the smallest. Their number."""
    from hypothesis.errors import HypothesisException

    smallest: list[Exception] = []  # at most one: the failure on the smallest program so far
    calls_after = 0

    def one(example: Any) -> None:
        nonlocal calls_after
        if smallest:
            calls_after += 1
            if calls_after > SHRINK_CALLS:
                raise _Enough
        try:
            check.function(implementation, example)
        except (Wrong, Crashed) as error:
            if error.program is None:
                error.program = example
            error.printed = getattr(implementation, "printed", "")
            if not smallest or _size(error) <= _size(smallest[0]):
                smallest[:] = [error]
            raise
        except (TimedOut, Died) as stop:
            stop.program = example
            raise

    examples = _examples(check, offset)
    with contextlib.suppress(Wrong, Crashed):
        for example in examples:
            one(example)
        return len(examples)
    # Hypothesis calls an answer that changes its mind "flaky"; what it did wrong is enough.
    # Nor does it matter if the time is over, or the process gone, before it has the smallest.
    if not shrink:
        raise smallest[0] from None
    with contextlib.suppress(Wrong, Crashed, TimedOut, Died, _Enough, HypothesisException):
        _explore(check, offset, one)
    raise smallest[0] from None


@functools.cache
def _examples(check: Check, offset: int) -> list[Any]:
    """The examples of a check, generated once: they are the same for every answer."""
    examples: list[Any] = []
    _explore(check, offset, examples.append)
    return examples


def _explore(check: Check, offset: int, function: Callable[[Any], None]) -> None:
    """Let Hypothesis call `function` on the examples, and on smaller ones once it raises."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis.configuration import set_hypothesis_home_dir

    assert check.given is not None
    run = settings(
        max_examples=check.examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )
    test = run(seed(check.seed + offset)(given(check.given)(lambda example: function(example))))
    # What Hypothesis keeps between runs goes to the user's temporary files, not beside a notebook.
    set_hypothesis_home_dir(Path(tempfile.gettempdir()) / f"hypothesis-{_user()}")
    try:
        test()
    finally:
        set_hypothesis_home_dir(None)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


class _Enough(BaseException):
    """The shrinking took its share of calls."""


def _failed(verdict: Verdict, check: Check, error: Exception) -> Verdict:
    verdict = replace(verdict, printed=getattr(error, "printed", ""))
    if isinstance(error, Crashed):
        return replace(
            verdict,
            kind=CRASHED,
            earned=0.0,
            problem="Your code raised an error.",
            program=_text(error.program),
            pictures=pictures(error),
            error=error.error,
            line=error.line,
            code=error.code,
        )
    if isinstance(error, Wrong):
        return replace(
            verdict,
            kind=WRONG,
            earned=0.0,
            problem=error.problem,
            spec=error.spec or check.spec,
            program=_text(error.program),
            pictures=pictures(error),
            got=_text(error.got),
            expected=_text(error.expected),
            marked=error.marked,
        )
    if isinstance(error, MemoryError):
        problem = "Looking at what the function returned took more memory than there is for it."
        return replace(verdict, kind=TIMED_OUT, earned=0.0, problem=problem)
    return replace(verdict, problem=f"{type(error).__name__}: {error}", kind=GRADER, earned=None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _printed(value)
    return text if len(text) <= PROGRAM_LIMIT else text[:PROGRAM_LIMIT] + "\n..."


def _printed(value: Any) -> str:
    return print_graph(value) if isinstance(value, Graph) else repr(value)


def _size(error: Any) -> int:
    return len(_text(error.program))


def _once_each(lines: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
