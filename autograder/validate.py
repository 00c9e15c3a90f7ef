"""Is every exercise sound? The teacher's own check before a release.

    python -m autograder validate --unit 2
    python -m autograder validate --exercise passes.dce --exercise passes.cse

For each exercise a row of a table: the sentences of its text and how many have a check, the unit's
wrong answers and how many the checks reject, its right ones and how many they accept, and what
became of the wrong answers that were made of ours by changing it at one place. Each function that
students have is tried as an answer, too. Below the row stands what is to be done, and which wrong
answers ended their process: that rejects them. For each notebook: the released one holds no
solution and no hidden text; a unit has three kinds of exercises at least, a lab two
milestones and a question in words; through the grader, in
two processes, the instructor's notebook earns every point and the untouched one none.

Next room: soundness/exercise.py and soundness/mutation.py, which look; grading/sandbox.py, where a
student's code runs.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tqdm import tqdm

from autograder.check.sentences import sentences
from autograder.check.verdict import BY_HAND, NOT_ATTEMPTED
from autograder.edition.contents import COURSE, answers_left, library, notebook_bytes
from autograder.edition.minutes import core, estimate
from autograder.edition.solutions import solution_body
from autograder.edition.sources import Source, expand, sources
from autograder.grading.assignment import Assignment, editions
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.program import read
from autograder.process.start import trust_ours
from autograder.soundness.borrowed import borrowed_problems
from autograder.soundness.exercise import (
    exemplars,
    not_there_yet,
    own_problems,
    problems_of,
    unchecked,
)
from autograder.soundness.mutation import ENDED, Report, mutate
from autograder.soundness.verdicts import verdict_of
from course_lib.exercises import Slot, slot

__all__ = ["HEAD", "Row", "grader_problems", "leaks", "problems_of", "validate", "verdict_of"]

# Our own answers end: how busy this machine is must say nothing about them.
PATIENT = Limits(start=300, cell=300, call=300, exercise=600, cells=3600)
COLUMNS = ("text", "wrong", "right", "changed", "killed", "equal", "alive")
KINDS_OF_A_UNIT = 3  # at least, explanations among them
MILESTONES = 2  # of a lab, at least
LAB_MINUTES = 120  # at most, by the estimate
HEAD = f"{'exercise':<42}" + "".join(f"{name:>9}" for name in COLUMNS)


@dataclass(frozen=True)
class Row:
    """An exercise or a notebook: a row of the table, and what is to be done."""

    name: str
    cells: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what is to be known, and nothing is to be done about

    def __str__(self) -> str:
        cells = "".join(f"{cell:>9}" for cell in self.cells or ("",) * len(COLUMNS))
        mark = "" if self.problems else "   sound"
        below = (f"    {line}" for line in (*self.problems, *self.notes))
        return "\n".join([f"{self.name:<42}{cells}{mark}", *below])


def validate(
    unit: int | str | None = None, notebooks: Path | None = None, exercises: Sequence[str] = ()
) -> Iterator[Row]:
    """A row for every exercise and notebook that was looked at, as soon as it is known: for all of
    them, those of a unit, or these exercises alone."""
    trust_ours()
    if entries := [slot(name) for name in exercises]:
        yield from map(_row, entries)
        return
    for source in sources(notebooks or COURSE / "notebooks", unit):
        names = source.exercises()
        for name in names:
            yield _row(slot(name))
        problems = (*form_problems(source), *leaks(source, names), *grader_problems(source))
        yield Row(source.name, problems=problems)


def _row(entry: Slot) -> Row:
    if entry.kind == "explain":
        return Row(entry.name, problems=tuple(problems_of(entry)))
    given = exemplars(entry)
    problems = [*own_problems(entry), *given.problems, *not_there_yet(entry, given)]
    problems += borrowed_problems(entry)
    stated = len(sentences(entry.doc))
    cells = [f"{stated - len(unchecked(entry))}/{stated}"]
    cells += [f"{given.rejected}/{given.wrong}", f"{given.accepted}/{given.right}"]
    with tqdm(desc=entry.name, leave=False, disable=not sys.stderr.isatty()) as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        report = mutate([entry], watch=watch).get(entry.name)
    notes = [f"the mutant {name} is rejected: its process ended" for name in given.ended]
    if report is None:  # an answer that is one value: nothing to change
        return Row(entry.name, (*cells, *"----"), tuple(problems), tuple(notes))
    if count := report.killed_by.get(ENDED):
        notes.append(f"changed answers that are killed because the process ended: {count}")
    counts = (report.mutants, report.killed, len(report.equivalent), len(report.survivors))
    cells += map(str, counts)
    return Row(entry.name, tuple(cells), (*problems, *survivors(report)), tuple(notes))


def survivors(report: Report) -> list[str]:
    """What is to be done about the answers that passed, ready to be copied."""
    lines = []
    for one in report.survivors:
        old, new = one.fragments()
        lines.append(f'line {one.line} passes: equivalent("{report.exercise}", {old!r}, {new!r})')
    for entry in report.stale:
        lines.append(f"no change that passes is equivalent({entry.old!r}, {entry.new!r}) any more")
    return lines


def form_problems(source: Source) -> list[str]:
    """What a unit, or a lab, lacks as a whole."""
    return lab_problems(source) if source.is_lab else few_kinds(source.exercises())


def few_kinds(names: list[str]) -> list[str]:
    """Whoever only implements has not read evidence, broken a rule or counted anything."""
    kinds = sorted({slot(name).kind for name in names})
    if len(kinds) >= KINDS_OF_A_UNIT:
        return []
    return [f"a unit has {KINDS_OF_A_UNIT} kinds of exercises at least; here: {', '.join(kinds)}"]


def lab_problems(source: Source) -> list[str]:
    """What a lab lacks: it is built in steps that are checked, ends in words, is not too long."""
    asked = [slot(name) for name in source.exercises()]
    in_words = sum(entry.kind == "explain" for entry in asked)
    problems = []
    if not source.title.startswith("Lab: "):
        problems.append(f"the first heading of a lab begins with 'Lab: '; here: {source.title}")
    if len(asked) - in_words < MILESTONES or in_words != 1:
        problems.append(
            f"a lab has {MILESTONES} exercises at least that are checked, and one in words; here: "
            f"{len(asked) - in_words} and {in_words}"
        )
    if (minutes := core(estimate(source.cells()))) > LAB_MINUTES:
        problems.append(f"a lab takes at most {LAB_MINUTES} minutes; the estimate: {minutes:.0f}")
    return problems


def grader_problems(source: Source) -> list[str]:
    """The grader in two processes: our notebook earns everything, the untouched one nothing."""
    with editions() as folder:
        assignment = Assignment.of(source, folder)
        known = (assignment.explanations, assignment.prose)
        programs = (read(notebook_bytes(source, solutions=s), *known) for s in (True, False))
        ours, empty = (grade(assignment, program, limits=PATIENT) for program in programs)
    lost = [v for v in ours.verdicts if v.earned != v.points and v.kind != BY_HAND]
    won = [v for v in empty.verdicts if v.kind != NOT_ATTEMPTED]
    problems = [f"in the grader our {v.exercise} does not earn all points: {v!r}" for v in lost]
    return problems + [f"in the grader an untouched {v.exercise} is: {v!r}" for v in won]


def leaks(source: Source, names: list[str]) -> list[str]:
    """Lines of our solutions, or hidden text, in what its students get."""
    notebook = expand(source, solutions=False)
    released = "\n".join(cell.source for cell in notebook.cells)
    marks = ["BEGIN SOLUTION", "BEGIN HIDDEN", "Rubric.", "Sample answer"]
    leaked = [f"it holds {mark!r}" for mark in marks if mark in released]
    answers = "\n".join(cell.source for cell in notebook.cells if cell.id in _ids(names))
    files = library(source.unit)
    leaked += answers_left(source.unit)
    for name in names:
        entry = slot(name)
        if _body(entry, _shipped(entry, files)) == _body(entry, inspect.getsource(_room(entry))):
            leaked.append(f"the library that comes with it holds our {name}")
        body = [line.strip() for line in solution_body(entry.reference)]
        telling = [line for line in body if len(line) > 30 and line not in entry.doc]
        telling = [line for line in telling if not line.startswith(("from ", "import ", "#"))]
        leaked += [f"it holds a line of our {name}: {t}" for t in telling if t in answers]
    return leaked


def _room(entry: Slot) -> ModuleType:
    return sys.modules[entry.reference.__module__]


def _shipped(entry: Slot, files: dict[str, bytes]) -> str:
    """The file of an exercise, as students get it."""
    path = entry.reference.__module__.replace(".", "/")
    return (files.get(f"{path}.py") or files[f"{path}/__init__.py"]).decode()


def _body(entry: Slot, text: str) -> list[str]:
    """What an exercise does in that file, without its docstring."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == entry.reference.__name__:
            return [ast.dump(step) for step in node.body[1:]]
    raise ValueError(f"{entry.name} is not in the file that students get")


def _ids(names: list[str]) -> set[str]:
    return {name.replace(".", "-") for name in names}
