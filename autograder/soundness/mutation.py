"""Which changed answers do the checks let through?

    report = mutate([slot("passes.dce")])["passes.dce"]
    report.mutants, report.killed     ->  61, 58
    report.survivors                  ->  wrong answers that earn every point: a check is missing

An answer is killed when it earns less than all points. A survivor needs a better check, or an
`equivalent(...)` in the unit's mutants that says why it is right; one that speaks of no survivor is
reported too. The answers are tried in as many processes as there are cores; the outcome is the same
in any number of them. An answer that takes ten times the steps of ours is stopped; one that ends
its process is killed by that, and the others go on.

Next room: apart.py, those processes; autograder/validate.py, which prints the table.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autograder.check.exemplars import Equivalent, equivalents_of
from autograder.check.judging import prepare
from autograder.soundness.apart import FORKS, apart
from autograder.soundness.reference import (
    Changed,
    Steps,
    can_be_changed,
    changed,
    loaded,
    source_of,
)
from autograder.soundness.verdicts import is_full, verdict_of
from course_lib.exercises import Slot, slot

PATIENCE, AT_LEAST = 10, 10_000  # times the steps of our answer, and so many more
ENDED = "the process ended"


@dataclass(frozen=True)
class Report:
    """What became of the changed answers to one exercise."""

    exercise: str
    killed_by: dict[str, int]  # a check, or ENDED: how many answers it caught first
    equivalent: tuple[tuple[Changed, Equivalent], ...]
    survivors: tuple[Changed, ...]
    stale: tuple[Equivalent, ...]  # they speak of no survivor

    @property
    def killed(self) -> int:
        return sum(self.killed_by.values())

    @property
    def mutants(self) -> int:
        return self.killed + len(self.equivalent) + len(self.survivors)


def mutate(
    entries: Sequence[Slot],
    *,
    jobs: int | None = None,
    keep: Callable[[int, Changed], bool] = lambda number, answer: True,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Report]:
    """A report for each exercise whose answer is a program. `keep(number, answer)` chooses a
    sample; `watch(done, total)` is told of progress."""
    entries = [entry for entry in entries if can_be_changed(entry)]
    answers = {e.name: [a for i, a in enumerate(changed(e)) if keep(i, a)] for e in entries}
    tasks = [(a.exercise, a.source) for mutants in answers.values() for a in mutants]
    fates: list[str] = []
    for fate in _fates(tasks, [e.name for e in entries], jobs or os.cpu_count() or 1):
        fates.append(fate)
        watch(len(fates), len(tasks))
    reports, rest = {}, iter(fates)
    for name, mutants in answers.items():
        reports[name] = _report(name, [(answer, next(rest)) for answer in mutants])
    return reports


def _report(name: str, fates: list[tuple[Changed, str]]) -> Report:
    killed_by: dict[str, int] = {}
    explained: list[tuple[Changed, Equivalent]] = []
    survivors = []
    known = equivalents_of(name)
    for answer, fate in fates:
        if fate:
            killed_by[fate] = killed_by.get(fate, 0) + 1
            continue
        reason = next((e for e in known if e.old in answer.old and e.new in answer.new), None)
        if reason is None:
            survivors.append(answer)
        else:
            explained.append((answer, reason))
    used = [reason for _, reason in explained]
    stale = tuple(entry for entry in known if entry not in used)
    return Report(name, killed_by, tuple(explained), tuple(survivors), stale)


def _fates(tasks: list[tuple[str, str]], names: list[str], jobs: int) -> Iterator[str]:
    """For each answer the check that caught it; "" for one that earned everything."""
    for name in names if FORKS else ():  # made once here, they are there in every process
        prepare(name)
        _limit_of(name)
    for fate in apart(_fate, tasks, jobs):
        yield ENDED if fate is None else fate


def _fate(task: tuple[str, str]) -> str:
    name, source = task
    entry = slot(name)
    try:
        answer = loaded(entry, source, Steps(_limit_of(name)))
    except Exception:
        return "cannot be defined"
    verdict = verdict_of(entry, answer, shrink=False)
    if is_full(verdict):
        return ""
    return verdict.check or verdict.kind


@functools.cache
def _limit_of(name: str) -> int:
    """How many steps an answer may take on all checks together."""
    steps = Steps()
    entry = slot(name)
    verdict = verdict_of(entry, loaded(entry, source_of(entry), steps), shrink=False)
    if not is_full(verdict):
        raise ValueError(f"our own answer to {name}, printed from its tree, fails: {verdict!r}")
    return PATIENCE * steps.taken + AT_LEAST
