"""Is one exercise sound, as far as one can say without changing our answer?

    problems_of(slot("passes.dce"))      ->  []  or  ["the mutant drops_inputs passes: ..."]

Our answer passes every check, the empty stub earns nothing, each wrong answer is rejected, each
right one passes, and quoted words stand in the specification. `not_there_yet` says what a complete
exercise has besides: enough of those answers, and a check for every sentence.

Next room: precision.py, how exact a number must be; mutation.py, which makes more wrong answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autograder.check.exemplars import alternatives_of, mutants_of
from autograder.check.framework import Implementation, background_of, checks_of
from autograder.check.hints import ladder
from autograder.check.sentences import span_of, to_the_end, uncovered
from autograder.check.verdict import CRASHED, NOT_ATTEMPTED, PASSED, Verdict
from autograder.notebook import check
from autograder.soundness.apart import apart
from autograder.soundness.precision import precision_problems
from autograder.soundness.verdicts import is_full, verdict_of
from course_lib.exercises import Slot, slot

MUTANTS, ALTERNATIVES = 5, 3  # so many at least, of misunderstandings and of other styles
ENDED = "Its process ended."
Answers = Callable[[str], dict[str, Implementation]]  # the unit's answers to an exercise, by name


@dataclass(frozen=True)
class Exemplars:
    """The answers that the unit gives, and what is wrong with them or with how they fare."""

    wrong: int
    rejected: int
    right: int
    accepted: int
    problems: tuple[str, ...]
    quotes: frozenset[tuple[str, str]]  # (check, words): what failures quoted
    ended: tuple[str, ...]  # mutants that ended their process: they are rejected
    told: Mapping[str, Verdict]  # by mutant: what its author would be told


def problems_of(entry: Slot) -> list[str]:
    """What is wrong with an exercise, in words."""
    if entry.kind == "explain":
        return _rubric_problems(entry)
    return [*own_problems(entry), *exemplars(entry).problems]


def own_problems(entry: Slot) -> list[str]:
    """What is wrong with the checks, the hints, or our own answer."""
    checks = checks_of(entry.name, with_hidden=True)
    problems = [
        f"{c.name} quotes words that the specification does not have: {words!r}"
        for c in checks
        for words in c.specs
        if span_of(words, entry.doc) is None
    ]
    problems += [
        f"background quotes words that the specification does not have: {words!r}"
        for words in background_of(entry.name)
        if span_of(words, entry.doc) is None
    ]
    if entry.signature.parameters and not any(c.hidden for c in checks):
        problems.append("it has no hidden check")  # without arguments, there is nothing else to ask
    if not ladder(entry):
        problems.append("it has no hints")
    if check(entry.name).kind != NOT_ATTEMPTED:
        problems.append("without an answer it is not 'not attempted'")
    verdict = verdict_of(entry, entry.reference)
    if verdict.kind != PASSED or not is_full(verdict):
        problems.append(f"our own solution does not earn all points: {verdict!r}")
    problems += [f"{phrase!r} is no phrase for a card that passed" for phrase in one_word(verdict)]
    return problems + precision_problems(entry)


def one_word(verdict: Verdict) -> list[str]:
    """What was tried, in words that say nothing by themselves."""
    return [phrase for phrase in verdict.tried if " " not in phrase.strip()]


def exemplars(entry: Slot, *, right_ones: bool = True) -> Exemplars:
    """Is each wrong answer of the unit rejected, and each right one accepted? Without `right_ones`
    these are counted and not judged: whoever grades them all knows."""
    wrong = _verdicts(entry, mutants_of)
    right = _verdicts(entry, alternatives_of) if right_ones else {}
    passed = {name: v for name, v in wrong.items() if v.earned is None or is_full(v)}
    failed = {name: v for name, v in right.items() if v.kind != PASSED}
    problems = [f"the mutant {name} is not rejected: {v!r}" for name, v in passed.items()]
    problems += [f"the alternative {name} does not pass: {v!r}" for name, v in failed.items()]
    rejected, many = len(wrong) - len(passed), len(alternatives_of(entry.name))
    quotes = frozenset((v.check, v.spec) for v in wrong.values() if v.spec)
    ended = tuple(name for name, verdict in wrong.items() if verdict.problem == ENDED)
    accepted, told = many - len(failed), wrong
    return Exemplars(len(wrong), rejected, many, accepted, tuple(problems), quotes, ended, told)


def _verdicts(entry: Slot, answers_of: Answers) -> dict[str, Verdict]:
    """The verdict on each of these answers; one that ends its process has crashed."""
    names = list(answers_of(entry.name))
    verdicts = apart(_judged, [(entry.name, answers_of, name) for name in names], 1)
    crashed = Verdict.on(entry, CRASHED, problem=ENDED)
    return {name: verdict or crashed for name, verdict in zip(names, verdicts, strict=True)}


def _judged(task: tuple[str, Answers, str]) -> Verdict:
    exercise, answers_of, name = task
    return verdict_of(slot(exercise), answers_of(exercise)[name], shrink=False)


def not_there_yet(entry: Slot, given: Exemplars | None = None) -> list[str]:
    """What is missing until one can say that the checks judge what the text says."""
    if entry.kind == "explain":
        return []
    given = given or exemplars(entry)
    problems = [f"{given.wrong} mutants; it wants {MUTANTS}"] if given.wrong < MUTANTS else []
    if given.right < ALTERNATIVES:
        problems.append(f"{given.right} alternatives; it wants {ALTERNATIVES}")
    problems += [f"no check is about: {sentence}" for sentence in unchecked(entry)]
    declared = {c.name: c.specs for c in checks_of(entry.name, with_hidden=True)}
    for name, words in sorted(given.quotes):
        if not any(" ".join(words.split()) in to_the_end(s, entry.doc) for s in declared[name]):
            problems.append(f"{name} quotes, and does not declare: {words!r}")
    return problems


def unchecked(entry: Slot) -> list[str]:
    """The sentences of the specification that no check and no background is about."""
    quotes = [words for c in checks_of(entry.name, with_hidden=True) for words in c.specs]
    return uncovered(entry.doc, [*quotes, *background_of(entry.name)])


def _rubric_problems(entry: Slot) -> list[str]:
    rubric = entry.reference()
    points = [sample.points for sample in rubric.samples]
    problems = [] if len(points) == 3 else [f"{len(points)} sample answers; it wants three"]
    if points and (max(points) > entry.points or min(points) < 0):
        problems.append("a sample answer has points out of range")
    return problems
