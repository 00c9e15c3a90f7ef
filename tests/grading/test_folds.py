"""Folded cells: JupyterLab's arrow keys pass them by, and they run all the same.

In a real browser: tests/course/test_jupyterlab.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder.check.folded import FILE, FOLDED, Folded, above
from autograder.edition.contents import COURSE
from autograder.edition.folds import divided
from autograder.edition.sources import expand, sources

IMPORT = "from autograder import check, implements"
PREPARED = "a = 1\nb = 2\nc = 3\nd = [a, b, c]"


def folded(*texts: str) -> list[tuple[str, bool]]:
    """The cells that these folded cells become: their sources, and whether they are folded."""
    metadata = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}
    cells = [
        nbformat.v4.new_code_cell(t, metadata=metadata, id=f"c{n}") for n, t in enumerate(texts)
    ]
    notebook = divided(nbformat.v4.new_notebook(cells=cells))
    nbformat.validate(notebook)
    assert all(cell.metadata.tags == ["hide-input"] for cell in notebook.cells)
    for cell in notebook.cells:
        assert cell.id.endswith(FOLDED) == ("jupyter" in cell.metadata)
    return [(cell.source, cell.id.endswith(FOLDED)) for cell in notebook.cells]


@pytest.mark.parametrize(
    "text, parts",
    [
        ("print(1)", [("print(1)", False)]),
        (f"{PREPARED}\nprint(d)", [(PREPARED, True), ("print(d)", False)]),
        (f"{PREPARED}\n\nprint(d)\nd", [(PREPARED, True), ("print(d)\nd", False)]),
        (f"{PREPARED}\nfor i in d:\n    i", [(PREPARED, True), ("for i in d:\n    i", False)]),
        (PREPARED, [(PREPARED, True)]),
        (f"{PREPARED}\nlogging.disable()", [(f"{PREPARED}\nlogging.disable()", True)]),
        (f"%%needs u\n{PREPARED}\nd",
         [(f"%%needs u --quietly\n{PREPARED}", True), ("%%needs u\nd", False)]),
        (f"%%needs u\n{PREPARED}", [(f"%%needs u\n{PREPARED}", True)]),
        ("draw(\n    1,\n    2,\n    3,\n)", [("draw(\n    1,\n    2,\n    3,\n)", False)]),
    ],
)  # fmt: skip
def test_what_a_cell_shows_is_open_and_what_prepares_it_is_folded(text, parts):
    assert folded(IMPORT, text) == [(IMPORT, False), *parts]


def test_the_import_that_runs_folded_cells_is_open():
    rest = "import math\nimport os\nimport re\nimport sys"
    assert folded(f"import math\n{IMPORT}\n{rest[12:]}") == [(IMPORT, False), (rest, True)]


def test_whoever_runs_the_open_cells_of_a_notebook_runs_all_of_it_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv(FILE, str(tmp_path / "notebook.ipynb"))
    for source in sources(COURSE / "notebooks"):
        notebook = expand(source, solutions=False)
        whole = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        notebook = divided(notebook)
        (tmp_path / "notebook.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
        assert not any(cell.get("outputs") for cell in notebook.cells), (
            "Jupyter would not trust them"
        )
        run: list[str] = []
        for cell in notebook.cells:
            if cell.cell_type == "code" and not cell.id.endswith(FOLDED):
                assert not cell.metadata.get("jupyter")
                run += ["".join(one["source"]) for one in above(cell.id)]
                run.append(cell.source)
        assert _lines(run) == _lines(whole), source.name
        assert IMPORT.partition(" check")[0] in run[0], "nothing is folded above it"


def _lines(cells: list[str]) -> list[str]:
    """All lines but those that both parts of a cell have, and where its imports stand."""
    lines = [line for cell in cells for line in cell.split("\n")]
    kept = [line for line in lines if line.strip() and not line.startswith("%%needs")]
    return [line for line in kept if not line.startswith("from autograder import")]


class Kernel:
    """IPython with the notebook that a file holds; runs its cells as Jupyter's kernel does."""

    def __init__(self, path: Path, cells: dict[str, str]):
        self.cells = cells
        made = [nbformat.v4.new_code_cell(text, id=key) for key, text in cells.items()]
        path.write_text(json.dumps(nbformat.v4.new_notebook(cells=made)))
        self.shell: Any = InteractiveShell()
        self.shell.user_ns["log"] = self.log = []
        Folded(self.shell).start()

    def run(self, *keys: str) -> list[str]:
        """What these cells have noted."""
        self.log.clear()
        for key in keys:
            self.shell.run_cell(self.cells[key], cell_id=key)
        return list(self.log)


@pytest.fixture
def kernel(tmp_path, monkeypatch) -> Kernel:
    path = tmp_path / "notebook.ipynb"
    monkeypatch.setenv(FILE, str(path))
    names = ["first", f"one{FOLDED}", f"two{FOLDED}", "second", f"three{FOLDED}", "third"]
    return Kernel(path, {name: f"log.append({name.partition('-')[0]!r})" for name in names})


def test_an_open_cell_runs_the_folded_ones_directly_above(kernel):
    assert kernel.run("first", "second") == ["first", "one", "two", "second"]
    assert kernel.run("third", "third") == ["three", "third"] * 2
    assert kernel.run("second") == ["one", "two", "second"], "with an answer that is new, say"


def test_a_folded_cell_that_has_just_run_does_not_run_again(kernel):
    assert kernel.run(*kernel.cells) == ["first", "one", "two", "second", "three", "third"]
    assert kernel.run(f"two{FOLDED}", "second") == ["two", "one", "second"]


def test_what_somebody_typed_into_a_folded_cell_stays(kernel):
    kernel.cells[f"three{FOLDED}"] = "log.append('mine')"
    assert kernel.run(f"three{FOLDED}", "third", "third") == ["mine", "third", "mine", "third"]


def test_a_folded_cell_that_fails_is_the_last_that_runs(kernel, tmp_path, capsys):
    kernel.shell.run_cell("log = None")
    kernel.run("second")
    assert capsys.readouterr().out.count("AttributeError") == 4, "once, and in the cell itself"


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"cells": 3}', '{"cells": [3]}'])
def test_a_cell_of_a_file_that_cannot_be_read_runs_as_it_is(kernel, tmp_path, text):
    path = tmp_path / "notebook.ipynb"
    path.unlink() if text is None else path.write_text(text)
    assert kernel.run("second") == ["second"]
