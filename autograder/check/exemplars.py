"""Answers of which a unit says what they are: the measure of its checks. Never shipped.

    mutants("passes.dce",                    # in units/u02/mutants: some check must reject them
        nothing_is_dead=lambda graph: graph,
        keeps_the_dead=("if node in live", "if node not in live"))   # ours, and what is replaced

    @mutant("passes.dce")                    # where a line is not enough
    def forgets_second_output(graph): ...

    @alternative("passes.dce")               # right, in another style: none may reject it
    def by_walking_backwards(graph): ...

    equivalent("passes.dce", "node in kept", "node in live", because="live holds what kept holds")

That one is about the wrong answers that `make validate` makes of our own answer, by changing it at
one place. Where a change leaves a right answer, no check can reject it: the unit says why.

    in_the_library("u03.saved", "course_lib.cost.work.bytes_of", because="finding it is the task")

And this one is about functions that students have and that earn points, called as an answer.

Next room: framework.py, how checks are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.check.edits import edited
from autograder.check.loading import load_unit
from course_lib import exercises

Implementation = Callable[..., Any]


@dataclass(frozen=True)
class Equivalent:
    """A change of our answer to `slot` that leaves it right: `old` became `new` in one line."""

    slot: str
    old: str
    new: str
    because: str


@dataclass(frozen=True)
class InTheLibrary:
    """A function that students have earns points as an answer to `slot`, and that is meant so."""

    slot: str
    function: str
    because: str


_mutants: dict[str, dict[str, Implementation]] = {}
_alternatives: dict[str, dict[str, Implementation]] = {}
_equivalents: dict[str, list[Equivalent]] = {}
_in_the_library: dict[str, list[InTheLibrary]] = {}


def mutant(slot: str) -> Callable[[Implementation], Implementation]:
    """Register a wrong answer that the checks of `slot` must reject."""
    return _keep(_mutants, slot)


def alternative(slot: str) -> Callable[[Implementation], Implementation]:
    """Register a right answer, different from ours, that the checks of `slot` must accept."""
    return _keep(_alternatives, slot)


def mutants(slot: str, /, **answers: Implementation | tuple[str, ...]) -> None:
    """Register wrong answers by name: functions, or edits of our answer (`edits.py`)."""
    _keep_all(_mutants, slot, answers)


def alternatives(slot: str, /, **answers: Implementation | tuple[str, ...]) -> None:
    """Register right answers by name, in the same way."""
    _keep_all(_alternatives, slot, answers)


def equivalent(slot: str, *words: str, because: str) -> None:
    """Say that changed lines of our answer are right too. `words` are parts of a line before and
    after, as `python -m autograder validate` prints them: old, new, old, new."""
    for old, new in zip(words[::2], words[1::2], strict=True):
        if not (old.strip() and new.strip() and because.strip()):
            raise ValueError(f"{slot}: an equivalent needs the words before, after, and a reason")
        _equivalents.setdefault(slot, []).append(Equivalent(slot, old, new, because))


def in_the_library(slot: str, function: str, *, because: str) -> None:
    """Say that a function which students have may earn points as an answer: its whole name, as
    `python -m autograder validate` prints it, and the reason."""
    if not (function.strip() and because.strip()):
        raise ValueError(f"{slot}: in_the_library needs the name of a function and a reason")
    _in_the_library.setdefault(slot, []).append(InTheLibrary(slot, function, because))


def mutants_of(slot: str) -> dict[str, Implementation]:
    load_unit("mutants", exercises.slot(slot).key)
    return _mutants.get(slot, {})


def alternatives_of(slot: str) -> dict[str, Implementation]:
    load_unit("mutants", exercises.slot(slot).key)
    return _alternatives.get(slot, {})


def equivalents_of(slot: str) -> list[Equivalent]:
    load_unit("mutants", exercises.slot(slot).key)
    return _equivalents.get(slot, [])


def in_the_library_of(slot: str) -> list[InTheLibrary]:
    load_unit("mutants", exercises.slot(slot).key)
    return _in_the_library.get(slot, [])


def _keep(
    table: dict[str, dict[str, Implementation]], slot: str
) -> Callable[[Implementation], Implementation]:
    def register(function: Implementation) -> Implementation:
        _add(table, slot, function.__name__, function)
        return function

    return register


def _keep_all(
    table: dict[str, dict[str, Implementation]],
    slot: str,
    answers: dict[str, Implementation | tuple[str, ...]],
) -> None:
    for name, answer in answers.items():
        if isinstance(answer, tuple):
            answer = edited(exercises.slot(slot).reference, *answer)
        _add(table, slot, name, answer)


def _add(
    table: dict[str, dict[str, Implementation]], slot: str, name: str, answer: Implementation
) -> None:
    known = table.setdefault(slot, {})
    if name in known:
        raise ValueError(f"{slot}: two answers are called {name}")
    known[name] = answer
