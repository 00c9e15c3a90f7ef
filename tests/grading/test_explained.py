"""An explanation of somebody who learns alone: graded answers are shown, but not before their own.

In a class nothing of that is there: the library that students get has no rubric.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.check.explained import Reading
from autograder.check.rubrics import TEXT_STUB
from autograder.edition.contents import contents
from autograder.edition.deliver import deliver
from autograder.notebook import check
from course_lib.exercises import slot

EXAMPLE = Path(__file__).resolve().parents[1] / "example_unit" / "notebooks"
NAME = "u99_example.ipynb"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    """A self-learner's folder, in which the kernel runs."""
    deliver(contents("open", 99, EXAMPLE), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = NAME, ids: bool = True) -> None:
    """Write that text into the explanation's cell and save the notebook."""
    page = json.loads((folder / NAME).read_text())
    (cell,) = [cell for cell in page["cells"] if cell["id"] == "u99-why"]
    cell["source"] = text
    if not ids:
        page = {**page, "nbformat_minor": 4}
        for cell in page["cells"]:
            del cell["id"]
            cell["metadata"].pop("nbgrader", None)
    (folder / name).write_text(json.dumps(page))


def read() -> Reading:
    reading = check("u99.why")
    assert isinstance(reading, Reading)
    return reading


def shown() -> tuple[str, str]:
    """What it looks like as text and as HTML."""
    return repr(read()), read()._repr_html_()


def told() -> list[str]:
    """The words that nobody should read before they have written their own."""
    rubric = slot("u99.why").reference()
    return [rubric.criteria, *(sample.text for sample in rubric.samples)]


@pytest.mark.parametrize("text", [None, "", "  \n", TEXT_STUB])
def test_before_anything_is_written_nothing_is_told(text, home):
    if text is not None:
        write(home, text)
    for page in shown():
        assert "nothing written yet" in page and "save the notebook" in page
        assert not [words for words in told() if words in page]


@pytest.mark.parametrize("ids", [True, False])
def test_beside_a_text_of_ones_own_stand_what_gives_points_and_three_answers(ids, home):
    write(home, "Because `dce` is right.", ids=ids)
    text, page = shown()
    assert "Because `dce` is right." in text and "Because <code>dce</code> is right." in page
    for view in (text, page):
        assert [words for words in told() if words not in view] == []
        assert "An answer that gets 1 point" in view and "An answer that gets 2 points" in view
        assert view.index("You wrote") < view.index("What earns points") < view.index("An answer")


def test_the_notebook_that_was_saved_last_counts(home):
    write(home, "An old text.", "copy.ipynb")
    write(home, "A new text.")
    os.utime(home / "copy.ipynb", (1, 1))
    assert read().written == "A new text."
    write(home, TEXT_STUB)
    assert read().written == "An old text.", "a copy in which something is written is better"


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"cells": 1}', '{"cells": [1, {}]}'])
def test_a_damaged_file_beside_it_does_not_matter(damage, home):
    write(home, "Mine.")
    (home / "broken.ipynb").write_text(damage)
    assert read().written == "Mine."


def test_what_is_written_is_no_html(home):
    write(home, "<script>alert(1)</script>")
    assert "<script>" not in read()._repr_html_()


def test_where_no_notebook_has_it_the_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"no notebook in {tmp_path} has this exercise" in repr(read())


def test_only_the_edition_for_self_learners_has_a_cell_for_it():
    for edition, wanted in (("open", 1), ("student", 0), ("instructor", 0)):
        page = nbformat.reads(contents(edition, 99, EXAMPLE)[NAME].decode(), 4)
        found = [k for k, c in enumerate(page.cells) if 'check("u99.why")' in c.source]
        assert len(found) == wanted, edition
        assert [page.cells[k - 1].id for k in found] == ["u99-why"] * wanted
        nbformat.validate(page)


def test_in_a_class_a_person_reads_it_and_nothing_is_told(tmp_path):
    deliver(contents("student", 99, EXAMPLE), tmp_path)
    write(tmp_path, "Because it is right.")
    program = "from autograder import check\nprint(check('u99.why'))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )  # fmt: skip
    assert "a person reads it" in done.stdout, done.stderr
    assert not [words for words in told() if words in done.stdout]
    texts = [path.read_text(errors="ignore") for path in tmp_path.rglob("*") if path.is_file()]
    assert not [words for words in told() for text in texts if words in text]
