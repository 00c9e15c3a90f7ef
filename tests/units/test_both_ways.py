"""What `check` passes, the grader passes: right answers of other styles, handed in as notebooks.

The first alternative of every exercise makes one notebook, the second ones the next, and so on.
Each answer stands in a cell of its own, below what it needs of its file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from autograder.check.framework import alternatives_of
from autograder.check.verdict import PASSED
from autograder.edition.contents import COURSE
from autograder.edition.sources import Source, sources
from autograder.grading.as_cell import cell_of
from autograder.grading.assignment import Assignment, editions
from autograder.grading.grade import grade
from autograder.grading.program import read
from autograder.validate import PATIENT
from course_lib.exercises import slot

UNITS = sources(COURSE / "notebooks")


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_every_alternative_passes_in_the_grader(source: Source):
    with editions() as folder:
        assignment = Assignment.of(source, folder)
        for cells in _notebooks(source):
            program = read(json.dumps({"cells": cells}).encode(), assignment.explanations)
            answers = {name for cell in program.cells for name in cell.answers}
            report = grade(assignment, program, limits=PATIENT)
            verdicts = [v for v in report.verdicts if v.exercise in answers]
            assert len(verdicts) == len(answers) > 0
            assert [v for v in verdicts if v.kind != PASSED] == []


def _notebooks(source: Source) -> list[list[dict[str, str]]]:
    """Notebooks that together hold every alternative of the unit."""
    answers = {name: list(alternatives_of(name).items()) for name in source.exercises()}
    notebooks = []
    for turn in range(max(map(len, answers.values()))):
        mine = {name: found[turn] for name, found in answers.items() if turn < len(found)}
        for used in {used for name in mine for used in slot(name).uses}:
            mine.setdefault(used, answers[used][0])  # what an answer stands on is there, too
        notebooks.append(
            [cell for name in answers if name in mine for cell in _cells(name, mine[name])]
        )
    return notebooks


def _cells(name: str, answer: tuple[str, Callable[..., Any]]) -> list[dict[str, str]]:
    """The answer as a student would hand it in, and its check."""
    texts = [cell_of(name, *answer), f'check("{name}")']
    return [{"cell_type": "code", "source": text} for text in texts]
