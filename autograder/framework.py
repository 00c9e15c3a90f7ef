"""How checks are written, found and run. A check takes an implementation and looks at what it does.

    @checks("passes.dce", given=graphs(), examples=60)      # in checks/u02.py: students have it
    def keeps_the_meaning(dce, graph):
        '''The result computes what the graph computed.'''
        same_meaning(graph, dce(graph))                      # raises Wrong(...)

`given` is a Hypothesis strategy, so a failure comes back as the smallest program that shows it.
The docstring's first line is the property in words. A check holds no algorithm, and it returns
nothing, or what it saw in a few words ("58 of 69 nodes left"), or a `Score`.

hidden/uNN.py (never shipped) has the same properties with another seed and larger programs;
mutants/uNN.py has wrong answers that some check must reject, and right ones that none may.

Next room: properties.py, the assertions; programs.py, the random graphs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.verdicts import (
    BY_HAND,
    CRASHED,
    GRADER,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    WRONG,
    Verdict,
)
from course_lib import exercises

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SHRINK_CALLS = 500  # after the first failure; a count, so that a verdict does not depend on speed
PROGRAM_LIMIT = 20_000  # characters of IR text kept in a verdict

Implementation = Callable[..., Any]


class Wrong(AssertionError):
    """An answer does not do what the specification says.

    problem   the property that failed, in one sentence
    program   the program that shows it: a Graph, or text
    got, expected   Graphs, values or text
    marked    names of the nodes in `got` (without one: in `program`) that are wrong
    spec      the words of the docstring that say so
    """

    printed = ""  # what the student's code printed in the call that shows it

    def __init__(
        self,
        problem: str,
        *,
        program: Any = None,
        got: Any = None,
        expected: Any = None,
        marked: tuple[str, ...] = (),
        spec: str = "",
    ):
        super().__init__(problem)
        self.problem, self.spec, self.marked = problem, spec, tuple(marked)
        self.program, self.got, self.expected = program, got, expected


class Crashed(Exception):
    """The student's code raised. `line` counts from 1 in their cell, `code` is that line."""

    printed = ""

    def __init__(self, error: str, line: int | None = None, code: str = "", program: Any = None):
        super().__init__(error)
        self.error, self.line, self.code, self.program = error, line, code, program


class Stop(BaseException):
    """No more calls are worth making. Not an Exception, or Hypothesis would look for more."""

    kind, problem = GRADER, ""

    def __init__(self, problem: str = ""):
        super().__init__(problem)
        self.problem = problem or self.problem
        self.program: Any = None  # the example that was being looked at


class NotAttempted(Stop):
    kind = NOT_ATTEMPTED


class TimedOut(Stop):
    kind = TIMED_OUT


class Died(Stop):
    """The process that ran the student's code is gone."""

    kind = CRASHED


@dataclass(frozen=True)
class Score:
    """What a budget check returns: the part of the points earned, and the count that earned it."""

    fraction: float
    seen: str


@dataclass(frozen=True)
class Check:
    slot: str
    name: str
    function: Callable[..., Any]
    given: SearchStrategy | None
    examples: int
    seed: int
    hidden: bool
    spec: str
    what: str = "random programs"  # what the examples are called when they are counted

    @property
    def property(self) -> str:
        return (inspect.getdoc(self.function) or self.name.replace("_", " ")).splitlines()[0]


_checks: dict[str, dict[str, Check]] = {}
_hidden: dict[str, dict[str, Check]] = {}
_mutants: dict[str, dict[str, Implementation]] = {}
_alternatives: dict[str, dict[str, Implementation]] = {}


def checks(
    slot: str,
    *,
    given: SearchStrategy | None = None,
    examples: int = 50,
    what: str = "random programs",
    spec: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a visible check of `slot`: `function(implementation)`, or, with `given`,
    `function(implementation, example)` for each of `examples` examples. `spec` quotes the words of
    the exercise's docstring that the check is about; `what` is what the examples are."""
    return _register(_checks, slot, given, examples, None, False, spec, what)


def hidden(
    slot: str,
    *,
    seed: int,
    given: SearchStrategy | None = None,
    examples: int = 100,
    what: str = "random programs",
    spec: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a check that only the grader has."""
    return _register(_hidden, slot, given, examples, seed, True, spec, what)


def harder(
    slot: str, name: str, *, seed: int, given: SearchStrategy | None = None, examples: int = 100
) -> None:
    """The visible check `name` again, hidden, with another seed and (if given) other programs."""
    unit_module("checks", exercises.slot(slot).unit)
    easy = _checks[slot][name]
    made = replace(
        easy,
        name=f"{name}_harder",
        given=easy.given if given is None else given,
        examples=examples,
        seed=seed,
        hidden=True,
    )
    _hidden.setdefault(slot, {})[made.name] = made


def mutant(slot: str) -> Callable[[Implementation], Implementation]:
    """Register a wrong answer that the checks of `slot` must reject."""
    return _keep(_mutants, slot)


def alternative(slot: str) -> Callable[[Implementation], Implementation]:
    """Register a right answer, different from ours, that the checks of `slot` must accept."""
    return _keep(_alternatives, slot)


def checks_of(slot: str, *, with_hidden: bool = False) -> list[Check]:
    """The checks of a slot in the order in which they were written, visible ones first."""
    unit = exercises.slot(slot).unit
    unit_module("checks", unit)
    found = list(_checks.get(slot, {}).values())
    if with_hidden:
        unit_module("hidden", unit)
        found += _hidden.get(slot, {}).values()
    return found


def mutants_of(slot: str) -> dict[str, Implementation]:
    unit_module("mutants", exercises.slot(slot).unit)
    return _mutants.get(slot, {})


def alternatives_of(slot: str) -> dict[str, Implementation]:
    unit_module("mutants", exercises.slot(slot).unit)
    return _alternatives.get(slot, {})


def judge(
    slot_name: str, implementation: Implementation, *, with_hidden: bool = False, seed: int = 0
) -> Verdict:
    """Run the checks of a slot on an implementation until one objects."""
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
            seen = perform(check, implementation, seed)
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
    check: Check, implementation: Implementation, seed: int = 0
) -> int | str | Score | None:
    """Run one check. Returns what it saw, or how many examples; raises Wrong, Crashed or Stop."""
    if check.given is None:
        return _once(check, implementation)
    return _for_examples(check, implementation, seed)


def _once(check: Check, implementation: Implementation) -> str | Score | None:
    try:
        return check.function(implementation)
    except (Wrong, Crashed) as error:
        error.printed = getattr(implementation, "printed", "")
        raise


def unit_module(room: str, unit: int) -> Any:
    """autograder/<room>/uNN.py, or None where that unit has none."""
    name = f"autograder.{room}.u{unit:02d}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _for_examples(check: Check, implementation: Implementation, offset: int) -> int:
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
    with contextlib.suppress(Wrong, Crashed, _Enough, HypothesisException):
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
    run(seed(check.seed + offset)(given(check.given)(lambda example: function(example))))()


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
            got=_text(error.got),
            expected=_text(error.expected),
            marked=error.marked,
        )
    return replace(verdict, problem=f"{type(error).__name__}: {error}", kind=GRADER, earned=None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _printed(value)
    return text if len(text) <= PROGRAM_LIMIT else text[:PROGRAM_LIMIT] + "\n..."


def _printed(value: Any) -> str:
    from course_lib.ir.graph import Graph
    from course_lib.ir.text import print_graph

    return print_graph(value) if isinstance(value, Graph) else repr(value)


def _size(error: Any) -> int:
    return len(_text(error.program))


def _once_each(lines: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _register(
    table: dict[str, dict[str, Check]],
    slot: str,
    given: SearchStrategy | None,
    examples: int,
    seed: int | None,
    is_hidden: bool,
    spec: str,
    what: str,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        number = _stable(f"{slot}/{name}") if seed is None else seed
        table.setdefault(slot, {})[name] = Check(
            slot, name, function, given, examples, number, is_hidden, spec, what
        )
        return function

    return register


def _keep(
    table: dict[str, dict[str, Implementation]], slot: str
) -> Callable[[Implementation], Implementation]:
    def register(function: Implementation) -> Implementation:
        table.setdefault(slot, {})[function.__name__] = function
        return function

    return register


def _stable(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
