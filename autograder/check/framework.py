"""How checks are written and found. A check takes an implementation and looks at what it does.

    @checks("passes.dce", given=graphs(), examples=60)      # in units/u02/checks: students have it
    def keeps_the_meaning(dce, graph):
        '''The result computes what the graph computed.'''
        same_meaning(graph, dce(graph))                      # raises Wrong(...)

`given` is a Hypothesis strategy, so a failure comes back as the smallest program that shows it.
The docstring's first line is the property in words. A check holds no algorithm, and it returns
nothing, or what it saw in a few words ("58 of 69 nodes left"), or a `Score`.

units/uNN/hidden (never shipped) has the same properties with another seed and larger programs;
units/uNN/mutants has wrong answers that some check must reject, and right ones that none may.

Next room: properties.py, the assertions; judging.py, how checks are run.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.check.answer import BESIDE as BESIDE  # units import them from here
from autograder.check.answer import beside as beside
from autograder.check.exemplars import alternative as alternative
from autograder.check.exemplars import alternatives as alternatives
from autograder.check.exemplars import alternatives_of as alternatives_of
from autograder.check.exemplars import equivalent as equivalent
from autograder.check.exemplars import in_the_library as in_the_library
from autograder.check.exemplars import mutant as mutant
from autograder.check.exemplars import mutants as mutants
from autograder.check.exemplars import mutants_of as mutants_of
from autograder.check.loading import load_unit
from autograder.check.verdict import CRASHED, GRADER, LATER, NOT_ATTEMPTED, TIMED_OUT
from course_lib import exercises

if TYPE_CHECKING:  # a student's process needs no hypothesis, and it is slow to import
    from hypothesis.strategies import SearchStrategy

Implementation = Callable[..., Any]
Spec = str | Iterable[str]


class Wrong(AssertionError):
    """An answer does not do what the specification says.

    problem   the property that failed, in one sentence
    program   the program that shows it: a Graph, or text
    got, expected   Graphs, values or text
    marked    names of the nodes in `got` (without one: in `program`) that are wrong
    spec      the words of the docstring that say so
    """

    printed = ""  # what the student's code printed in the call that shows it
    is_smallest = False  # nothing smaller than `program` shows it: all of that was tried

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


class Unusable(Wrong):
    """What came back is neither a valid graph nor plain data."""

    def __init__(self, why: object):
        super().__init__(
            "The result cannot be used: it must be a valid graph, or plain data such as numbers, "
            f"text, lists and dicts. {why}"
        )


class Changed(Wrong):
    """The call changed one of its arguments. Those are copies, so no check would see it."""

    def __init__(self, argument: str):
        super().__init__(f"`{argument}` is no longer what was given. Work on a copy of it.")


class Crashed(Exception):
    """The student's code raised. `line` counts from 1 in their cell, `code` is that line; `kinds`
    are the names of the exception and of those that it is made of."""

    printed = ""
    is_smallest = False

    def __init__(
        self,
        error: str,
        line: int | None = None,
        code: str = "",
        program: Any = None,
        kinds: tuple[str, ...] = (),
    ):
        super().__init__(error)
        self.kinds = kinds or (error.partition(":")[0],)
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


class Later(Stop):
    """The answer has the right form, and the right one is not here to be compared with."""

    kind = LATER
    problem = (
        "Your answer has the right form. So few answers are possible that a check which knew the "
        "right one would give it away, so yours is judged when it is graded."
    )


@contextmanager
def shows(program: Any) -> Iterator[None]:
    """Around the call of an answer: a failure that names no program shows this one."""
    try:
        yield
    except (Wrong, Crashed, Stop) as error:
        error.program = error.program or program
        raise


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
    specs: tuple[str, ...]  # all the words of the docstring that the check is about
    what: str = "random programs"  # what the examples are called when they are counted

    @property
    def spec(self) -> str:
        """What a failure quotes if it says nothing itself: the words, if they are but one."""
        return self.specs[0] if len(self.specs) == 1 else ""

    @property
    def property(self) -> str:
        return (inspect.getdoc(self.function) or self.name.replace("_", " ")).splitlines()[0]


_checks: dict[str, dict[str, Check]] = {}
_hidden: dict[str, dict[str, Check]] = {}
_background: dict[str, list[str]] = {}


def checks(
    slot: str,
    *,
    given: SearchStrategy | None = None,
    examples: int = 50,
    what: str = "random programs",
    spec: Spec = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a visible check of `slot`: `function(implementation)`, or, with `given`,
    `function(implementation, example)` for each of `examples` examples. `spec` quotes the words of
    the exercise's docstring that the check is about, once or several times: a `Wrong` of the check
    quotes one of them, or a part of one. `what` is what the examples are.

    A parameter named `rng` gets a numpy generator that belongs to the run of the grader: use it for
    what `given` does not draw."""
    return _register(_checks, slot, given, examples, None, False, spec, what)


def hidden(
    slot: str,
    *,
    seed: int,
    given: SearchStrategy | None = None,
    examples: int = 100,
    what: str = "random programs",
    spec: Spec = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a check that only the grader has. `seed` keeps it apart from the visible ones."""
    return _register(_hidden, slot, given, examples, seed, True, spec, what)


def ours(exercise: str, *given: Any) -> Any:
    """Our answer, for a visible check of a question to which few answers are possible.

    Whoever has a check that knows the right one of thirty values, or a digest of it, tries all
    thirty. So a student's edition does not know it: there this raises `Later`, and the grader
    judges. The open edition holds the whole library, and its reader gets the verdict at once.
    """
    try:
        return _answered(exercises.slot(exercise).reference, *given)
    except exercises.NotAnswered:
        raise Later from None


@functools.cache
def _answered(reference: Callable[..., Any], *given: Any) -> Any:
    return reference(*given)


def harder(
    slot: str,
    name: str,
    *,
    seed: int,
    given: SearchStrategy | None = None,
    examples: int = 100,
) -> None:
    """The visible check `name` again, hidden, with another seed and (if given) other programs.
    ValueError if it draws nothing, and would ask the same again."""
    load_unit("checks", exercises.slot(slot).key)
    easy = _checks[slot][name]
    given = easy.given if given is None else given
    if given is None and "rng" not in inspect.signature(easy.function).parameters:
        raise ValueError(f"{slot}: {name} draws nothing, so hidden it would ask the same again")
    harder_check = replace(
        easy,
        name=f"{name}_harder",
        given=given,
        examples=examples,
        seed=seed,
        hidden=True,
    )
    _hidden.setdefault(slot, {})[harder_check.name] = harder_check


def background(slot: str, words: str, *, because: str) -> None:
    """Say that nothing can be checked about these words of the docstring, and why. ` ... ` stands
    for what lies between the two ends of a longer passage."""
    if not (words.strip() and because.strip()):
        raise ValueError(f"{slot}: background needs the words and a reason")
    _background.setdefault(slot, []).append(words)


def background_of(slot: str) -> list[str]:
    load_unit("checks", exercises.slot(slot).key)
    return _background.get(slot, [])


def checks_of(slot: str, *, with_hidden: bool = False) -> list[Check]:
    """The checks of a slot in the order in which they were written, visible ones first."""
    key = exercises.slot(slot).key
    load_unit("checks", key)
    every = list(_checks.get(slot, {}).values())
    if with_hidden:
        load_unit("hidden", key)
        every += _hidden.get(slot, {}).values()
    return every


def checked_names() -> list[str]:
    """The exercises for which a check is written, of the units that are loaded."""
    return list(_checks)


def _register(
    table: dict[str, dict[str, Check]],
    slot: str,
    given: SearchStrategy | None,
    examples: int,
    seed: int | None,
    is_hidden: bool,
    spec: Spec,
    what: str,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        number = _stable(f"{slot}/{name}") if seed is None else seed
        table.setdefault(slot, {})[name] = Check(
            slot, name, function, given, examples, number, is_hidden, _texts(spec), what
        )
        return function

    return register


def _texts(spec: Spec) -> tuple[str, ...]:
    given = (spec,) if isinstance(spec, str) else spec
    return tuple(dict.fromkeys(text for text in given if text))


def _stable(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
