"""Running checks: from an implementation to a verdict.

    judge("passes.dce", call)      # every check in turn, until one objects -> Verdict

The examples of a check are made once and used for every answer (examples.py). Only when an answer
fails on one is the smallest program looked for on which it fails (trial.py).

What comes back can be anything, and a check that stumbles over it is not the checker's fault: if
our own answer passes the same check, the value is to blame, and the verdict says so (`blamed`).

Next room: verdict.py, what comes out; sentences.py, where a quotation ends; autograder/notebook.py
and grading/grade.py, who asks.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from autograder.check.answer import Answer
from autograder.check.examples import examples_of
from autograder.check.framework import (
    Changed,
    Check,
    Crashed,
    Implementation,
    Score,
    Stop,
    TimedOut,
    Unusable,
    Wrong,
    checks_of,
)
from autograder.check.packages import needs_a_package
from autograder.check.pictures import pictures
from autograder.check.received import without_addresses
from autograder.check.sentences import to_the_end
from autograder.check.shown import (
    call_shown,
    error_text,
    shown,
    shown_pair,
)
from autograder.check.trial import Trial, randomness
from autograder.check.verdict import (
    BY_HAND,
    CRASHED,
    GRADER,
    LATER,
    PASSED,
    RAISED,
    TIMED_OUT,
    WRONG,
    Verdict,
)
from course_lib import exercises

Seen = int | str | Score | None  # what a check that passed has seen, or how many examples
USUAL_RECURSION = 1000  # calls: what a fresh interpreter allows
_passed: dict[tuple[Check, int, bytes], Seen] = {}  # by check, seed and digest of all replies


def judge(
    slot_name: str,
    implementation: Implementation,
    *,
    with_hidden: bool = False,
    seed: int = 0,
    shrink: bool = True,
    patience: float = math.inf,
) -> Verdict:
    """Run the checks of a slot on an implementation until one objects. Without `shrink` the first
    program that fails is shown, and not the smallest; for that, one looks as many seconds of
    processor time as `patience` says."""
    slot, answer = exercises.slot(slot_name), Answer.of(implementation)
    if slot.kind == "explain":
        return Verdict.on(slot, BY_HAND, None)
    verdict = Verdict.on(slot, GRADER, None)
    checks = checks_of(slot_name, with_hidden=with_hidden)
    if not checks:
        return replace(verdict, problem=f"no check is written for {slot_name}")
    tried: list[str] = []
    examples: Counter[str] = Counter()
    fraction = 1.0
    for check in checks:
        verdict = replace(verdict, check=check.name, about=check.property, hidden=check.hidden)
        try:
            with usual_recursion():
                seen = perform(check, answer, seed, shrink, patience)
        except (Wrong, Crashed, Stop) as error:
            return _failed(verdict, check, error)
        except Exception as error:
            return _failed(verdict, check, blamed(check, answer, seed, error))
        if isinstance(seen, int):
            examples[check.what] += seen
            continue
        if isinstance(seen, Score):
            fraction = min(fraction, max(0.0, seen.fraction))
            seen = seen.seen
        tried.append(seen or check.property.rstrip("."))
    points = round(slot.points * fraction, 2)
    counted = [f"{number} {what}" for what, number in examples.items()]
    return Verdict.on(slot, PASSED, points, tried=_once_each(counted + tried))


@contextlib.contextmanager
def usual_recursion() -> Iterator[None]:
    """Python's own limit of recursion, which a library may have raised for the whole process: an
    answer that is too deep must not pass in one notebook and fail in another, or in the grader."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(min(limit, USUAL_RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def prepare(slot: str, seed: int = 0) -> None:
    """Import the checks of a slot and make their examples, so that judging it is quick."""
    for check in checks_of(slot, with_hidden=True):
        if check.given is not None:
            examples_of(check, seed)


def perform(
    check: Check,
    implementation: Implementation,
    seed: int = 0,
    shrink: bool = True,
    patience: float = math.inf,
) -> Seen:
    """Run one check. Returns what it saw, or how many examples; raises Wrong, Crashed or Stop."""
    answer = Answer.of(implementation)
    # An answer in another process: all calls in one message. A check is a pure function of what it
    # gets back, so to the same replies, byte for byte, it says again what it said to them before.
    replies = answer.ahead(check, seed)
    if replies is not None and (check, seed, replies) in _passed:
        return _passed[check, seed, replies]
    seen = _performed(check, answer, seed, shrink, patience)
    if replies is not None and answer.all_were_ahead():
        _passed[check, seed, replies] = seen
    return seen


def _performed(check: Check, answer: Answer, seed: int, shrink: bool, patience: float) -> Seen:
    if check.given is None:
        return _once(check, answer, seed)
    return _for_examples(check, answer, seed, shrink, patience)


def _once(check: Check, answer: Answer, offset: int) -> str | Score | None:
    answer.latest = (), {}
    try:
        return check.function(answer, **randomness(check, offset))
    except (Wrong, Crashed) as error:
        error.printed = answer.printed
        if isinstance(error, (Changed, Crashed, Unusable)) and error.program is None:
            error.program = call_shown(check.slot, *answer.latest)
        raise
    except TimedOut as stop:
        stop.program = stop.program or call_shown(check.slot, *answer.latest)
        raise


def _for_examples(check: Check, answer: Answer, offset: int, shrink: bool, patience: float) -> int:
    """Try the examples. At the first failure look for the smallest. Returns their number."""
    trial = Trial(check, answer, offset)
    examples = examples_of(check, offset)
    with contextlib.suppress(Wrong, Crashed):
        for example in examples:
            trial(example)
        return len(examples)
    if shrink:
        trial.look_for_smaller(patience)
    assert trial.smallest is not None
    raise trial.smallest from None


def _failed(verdict: Verdict, check: Check, error: Exception | Stop) -> Verdict:
    """The verdict on an answer that a check objected to, or that was stopped."""
    program = shown(getattr(error, "program", None))
    verdict = replace(verdict, program=program, pictures=pictures(error))
    if isinstance(error, Stop):
        earned = None if error.kind in (GRADER, LATER) else 0.0
        return replace(verdict, kind=error.kind, earned=earned, problem=error.problem)
    printed = without_addresses(getattr(error, "printed", ""))
    is_smallest = getattr(error, "is_smallest", False)
    verdict = replace(verdict, printed=printed, smallest=is_smallest)
    if isinstance(error, Crashed):
        return replace(
            verdict,
            kind=CRASHED,
            earned=0.0,
            problem=RAISED,
            error=without_addresses(error.error),
            line=error.line,
            code=error.code,
        )
    if isinstance(error, Wrong):
        got, expected = shown_pair(error.got, error.expected)
        return replace(
            verdict,
            kind=WRONG,
            earned=0.0,
            problem=without_addresses(error.problem),
            spec=to_the_end(_quoted(check, error), exercises.slot(check.slot).doc),
            got=got,
            expected=expected,
            marked=error.marked,
        )
    if isinstance(error, MemoryError):
        problem = "Looking at what the function returned took more memory than there is for it."
        return replace(verdict, kind=TIMED_OUT, earned=0.0, problem=problem)
    missing = needs_a_package((getattr(error, "name", None) or "").partition(".")[0])
    return replace(verdict, problem=missing or error_text(error), kind=GRADER, earned=None)


def _quoted(check: Check, error: Wrong) -> str:
    """What the answer goes against: no argument may change, whatever else the check is about."""
    return error.spec or ("" if isinstance(error, Changed) else check.spec)


@functools.cache
def _takes_ours(check: Check, seed: int) -> bool | None:
    """Does our own answer pass? None where it is not at hand."""
    try:
        perform(check, exercises.slot(check.slot).reference, seed, shrink=False)
    except NotImplementedError:
        return None
    except (Exception, Stop):
        return False
    return True


def blamed(check: Check, answer: Answer, seed: int, error: Exception) -> Exception:
    """Whose fault is an error inside a check? The answer's, if the check takes our own answer.

    Where ours is not at hand (a student's edition), it is the answer's if the answer had returned
    something that the check could look at: checks are tried on our answer before they ship.
    """
    if isinstance(error, MemoryError):
        return error
    fits = _takes_ours(check, seed)
    if fits is False or (fits is None and not answer.returned):
        return error
    text = error_text(error).split("\n")[0]
    unusable = Wrong(f"The result cannot be used. Looking at it raised {text}")
    unusable.program = getattr(error, "program", None)
    unusable.printed = answer.printed
    return unusable


def _once_each(lines: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
