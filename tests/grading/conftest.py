"""The example unit (tests/example_unit) as unit 99, and short ways to grade it.

earned = points(answer("u99.sweep", "return graph"))
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import autograder
import autograder.units
from autograder.check.verdict import Verdict
from autograder.edition.contents import notebook_bytes
from autograder.edition.sources import Source, sources
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.limits import Limits
from autograder.grading.program import read
from autograder.grading.report import Report
from autograder.process.start import trust_ours
from course_lib import exercises

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit"
# An answer that ends is never stopped, however busy the machine is; one that never ends soon is.
PATIENT = Limits(start=300, cell=300, call=300, exercise=600, cells=600)
HASTY = Limits(start=300, cell=2, call=0.5, exercise=600, cells=600)


@pytest.fixture(scope="session", autouse=True)
def example_unit() -> Iterator[None]:
    """Unit 99 lies beside the real units while these tests run."""
    assert autograder.__all__
    autograder.units.__path__.append(str(EXAMPLE / "units"))
    exercises.slot("u99.sweep")
    trust_ours()
    yield
    autograder.units.__path__.pop()


@pytest.fixture(autouse=True)
def nothing_plugged() -> Iterator[None]:
    exercises.unplug()
    yield
    exercises.unplug()


@pytest.fixture(scope="session")
def source(example_unit: None) -> Source:
    (found,) = sources(EXAMPLE / "notebooks", 99)
    return found


@pytest.fixture(scope="session")
def assignment(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    folder = tmp_path_factory.mktemp("editions")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    return Assignment.of(source, folder)


@pytest.fixture(scope="session")
def solved(source: Source) -> bytes:
    """The instructor's notebook."""
    return notebook_bytes(source, solutions=True)


@pytest.fixture(scope="session")
def untouched(source: Source) -> bytes:
    """The notebook as students get it."""
    return notebook_bytes(source, solutions=False)


@pytest.fixture(scope="session")
def grading(assignment: Assignment) -> Callable[..., Report]:
    """grading(notebook bytes) -> report. With hasty=True, what never ends is soon stopped."""

    def run(data: bytes, hasty: bool = False) -> Report:
        limits = HASTY if hasty else PATIENT
        program = read(data, assignment.explanations, assignment.prose)
        return grade(assignment, program, limits=limits)

    return run


@pytest.fixture
def verdict_of(grading: Callable[..., Report]) -> Callable[..., Verdict]:
    """verdict_of("u99.sweep", code) -> the verdict on a notebook with these code cells."""

    def look(exercise: str, *code: str, hasty: bool = False) -> Verdict:
        report = grading(notebook(*code), hasty)
        return next(v for v in report.verdicts if v.exercise == exercise)

    return look


@dataclass(frozen=True)
class ClassRun:
    """A class that was graded: the exit status, what was printed, the folder, grades.csv."""

    status: int
    said: str
    out: Path
    rows: dict[str, dict[str, str]]


def notebook(*code: str) -> bytes:
    """A notebook file with these code cells and nothing else."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": textwrap.dedent(source).strip(), "metadata": {}}
        for source in code
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


@pytest.fixture(name="notebook")
def notebook_fixture() -> Callable[..., bytes]:
    return notebook


@pytest.fixture
def class_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., ClassRun]:
    """class_of({"ada.ipynb": data}) grades a class in the example unit, as the command does."""

    def run(files: dict[str, bytes] | None = None, **options: Any) -> ClassRun:
        for name, data in (files or {}).items():
            path = tmp_path / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        job = Job(tmp_path / "in", tmp_path / "out", notebooks=EXAMPLE / "notebooks", **options)
        status = grade_class(job)
        text = (tmp_path / "out" / "grades.csv").read_text()
        rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
        return ClassRun(status, capsys.readouterr().out, tmp_path / "out", rows)

    return run
