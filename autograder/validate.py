"""Is every exercise sound? The teacher's own check before a release.

    python -m autograder validate --unit 2

For each exercise: our solution passes every check, the empty stub earns nothing, each mutant is
rejected, each alternative passes, and quoted words stand in the specification. For each notebook:
the released one holds no solution and no hidden text; through the grader, in two processes, the
instructor's notebook earns every point and the untouched one none.

Next room: autograder/grading/sandbox.py, where a student's code runs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.check.framework import (
    alternatives_of,
    checks_of,
    mutants_of,
)
from autograder.check.judging import judge
from autograder.check.verdict import BY_HAND, NOT_ATTEMPTED, PASSED, Verdict
from autograder.edition.contents import COURSE, notebook_bytes
from autograder.edition.solutions import solution_body
from autograder.edition.sources import Source, expand, sources
from autograder.grading.grade import Assignment, grade
from autograder.grading.program import read
from autograder.grading.sandbox import Limits
from autograder.notebook import check, here
from autograder.process.start import trust_ours
from course_lib import exercises
from course_lib.exercises import Slot, plugged, slot

MUTANTS, ALTERNATIVES = 3, 1  # at least so many for an exercise with hidden checks
# Our own answers end: how busy this machine is must say nothing about them.
PATIENT = Limits(start=300, cell=300, call=300, exercise=600, cells=3600)


def validate(unit: int | None = None, notebooks: Path | None = None) -> Iterator[tuple[str, str]]:
    """(exercise or notebook, what is wrong with it or "") for everything that was looked at."""
    trust_ours()
    for source in sources(notebooks or COURSE / "notebooks", unit):
        names = source.exercises()
        for name in names:
            yield name, "; ".join(problems_of(slot(name)))
        yield source.name, "; ".join([*leaks(source, names), *grader_problems(source)])


def grader_problems(source: Source) -> list[str]:
    """The grader in two processes: our notebook earns everything, the untouched one nothing."""
    with tempfile.TemporaryDirectory(prefix="course-editions-") as editions:
        os.chmod(editions, 0o755)
        assignment = Assignment.of(source, Path(editions))
        explained = assignment.explanations
        programs = (read(notebook_bytes(source, solutions=s), explained) for s in (True, False))
        ours, empty = (grade(assignment, program, limits=PATIENT) for program in programs)
    lost = [v for v in ours.verdicts if v.earned != v.points and v.kind != BY_HAND]
    won = [v for v in empty.verdicts if v.kind != NOT_ATTEMPTED]
    problems = [f"in the grader our {v.exercise} does not earn all points: {v!r}" for v in lost]
    return problems + [f"in the grader an untouched {v.exercise} is: {v!r}" for v in won]


def problems_of(entry: Slot) -> list[str]:
    """What is wrong with an exercise, in words."""
    if entry.kind == "explain":
        return _rubric_problems(entry)
    problems = [
        f"{c.name} quotes words that the specification does not have: {c.spec!r}"
        for c in checks_of(entry.name, with_hidden=True)
        if " ".join(c.spec.split()) not in " ".join(entry.doc.split())
    ]
    if not any(c.hidden for c in checks_of(entry.name, with_hidden=True)):
        problems.append("it has no hidden check")
    if len(entry.hints) != 3:
        problems.append("it has no hints")
    if check(entry.name).kind != NOT_ATTEMPTED:
        problems.append("without an answer it is not 'not attempted'")
    verdict = verdict_of(entry, entry.reference)
    if verdict.kind != PASSED or verdict.earned != entry.points:
        problems.append(f"our own solution does not earn all points: {verdict!r}")
    return problems + _other_answers(entry)


def verdict_of(entry: Slot, answer: object) -> Verdict:
    """All checks, hidden ones too, on one answer, in this process."""
    with plugged(entry.name, answer):  # type: ignore[arg-type]
        call = here(entry)
        with exercises.using({}):
            return judge(entry.name, call, with_hidden=True)


def leaks(source: Source, names: list[str]) -> list[str]:
    """Lines of our solutions, or hidden text, in the notebook that students get."""
    notebook = expand(source, solutions=False)
    released = "\n".join(cell.source for cell in notebook.cells)
    marks = ["BEGIN SOLUTION", "BEGIN HIDDEN", "Rubric.", "Sample answer"]
    found = [f"it holds {mark!r}" for mark in marks if mark in released]
    answers = "\n".join(cell.source for cell in notebook.cells if cell.id in _ids(names))
    for name in names:
        entry = slot(name)
        if entry.kind == "explain":
            continue
        body = [line.strip() for line in solution_body(entry.reference)]
        telling = [line for line in body if len(line) > 30 and line not in entry.doc]
        telling = [line for line in telling if not line.startswith(("from ", "import ", "#"))]
        found += [f"it holds a line of our {name}: {t}" for t in telling if t in answers]
    return found


def _other_answers(entry: Slot) -> list[str]:
    problems = []
    wrong, right = mutants_of(entry.name), alternatives_of(entry.name)
    if len(wrong) < MUTANTS:
        problems.append(f"{len(wrong)} mutants; it wants {MUTANTS}")
    if len(right) < ALTERNATIVES:
        problems.append(f"{len(right)} alternatives; it wants {ALTERNATIVES}")
    for name, answer in wrong.items():
        verdict = verdict_of(entry, answer)
        if verdict.earned is None or verdict.earned >= entry.points:
            problems.append(f"the mutant {name} is not rejected: {verdict!r}")
    for name, answer in right.items():
        verdict = verdict_of(entry, answer)
        if verdict.kind != PASSED:
            problems.append(f"the alternative {name} does not pass: {verdict!r}")
    return problems


def _rubric_problems(entry: Slot) -> list[str]:
    rubric = entry.reference()
    points = [sample.points for sample in rubric.samples]
    problems = [] if len(points) == 3 else [f"{len(points)} sample answers; it wants three"]
    if points and (max(points) > entry.points or min(points) < 0):
        problems.append("a sample answer has points out of range")
    return problems


def _ids(names: list[str]) -> set[str]:
    return {name.replace(".", "-") for name in names}
