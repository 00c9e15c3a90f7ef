"""The real units: every exercise is sound, and a released notebook runs before it is answered."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.edition.contents import COURSE, contents
from autograder.edition.deliver import deliver
from autograder.edition.sources import Source, sources
from autograder.validate import grader_problems, leaks, problems_of
from course_lib.exercises import slot

UNITS = sources(COURSE / "notebooks")
EXERCISES = [name for source in UNITS for name in source.exercises()]


@pytest.mark.parametrize("name", EXERCISES)
def test_exercise_is_sound(name):
    """Our answer passes, the stub earns nothing, every mutant fails, every alternative passes."""
    assert problems_of(slot(name)) == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_our_notebook_earns_everything_and_the_untouched_one_nothing(source: Source):
    assert grader_problems(source) == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_released_notebook_holds_no_answer(source: Source):
    assert leaks(source, source.exercises()) == []


@pytest.mark.parametrize("source", UNITS, ids=lambda source: source.name)
def test_released_notebook_runs_from_top_to_bottom(source: Source, tmp_path):
    deliver(contents("student", source.unit), tmp_path)
    notebook = nbformat.read(tmp_path / f"{source.name}.ipynb", 4)
    place = {"metadata": {"path": tmp_path}}
    NotebookClient(notebook, timeout=300, resources=place).execute()
    shown = "\n".join(
        output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    asked = [name for name in source.exercises() if slot(name).kind != "explain"]
    for name in asked:
        assert f"{name}: not attempted yet" in shown
