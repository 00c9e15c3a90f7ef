"""Running an open cell runs the folded cells directly above it, which JupyterLab's keys pass by.

    [folded]  rows = [...]                  the arrow keys go from one open cell to the next,
    [open]    table(rows, ["kernel"])       and Ctrl+Enter in this one has run both

Which cells stand above says the notebook's file. What has run by itself since the last open cell,
as with Shift+Enter from cell to cell, does not run again. Where the kernel is not told which cell
it runs, or of which file, cells run as they are; no other program passes folded cells by.

Next room: autograder/notebook.py, which registers this in a kernel.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDED = "-folded"  # how the ids of such cells end (autograder/edition/folds.py)
QUIETLY = "--quietly"  # what `%%needs` is told there: the open cell below says what is missing
FILE = "JPY_SESSION_NAME"  # where Jupyter's server says which notebook a kernel belongs to


class Folded:
    """The folded cells of the notebook of one kernel."""

    def __init__(self, shell: Any):
        self.shell = shell
        self.alone: set[str] = set()  # those that have run by themselves since the last open cell
        self.typed: dict[str, str] = {}  # what they said then: the file may not know it yet

    def start(self) -> None:
        """From now on, with every cell."""
        self.shell.events.register("pre_run_cell", self.before)

    def before(self, info: Any) -> None:
        """A cell is about to run."""
        if info.cell_id is None:
            return
        if info.cell_id.endswith(FOLDED):
            self.alone.add(info.cell_id)
            self.typed[info.cell_id] = info.raw_cell
            return
        due = [cell for cell in above(info.cell_id) if cell["id"] not in self.alone]
        self.alone.clear()
        for cell in due:
            source = self.typed.get(cell["id"], "".join(cell["source"]))
            if not self.shell.run_cell(source, store_history=False).success:
                break


def above(cell_id: str) -> list[dict[str, Any]]:
    """The folded cells between the open cell of this id and the one before it, from the top."""
    found: list[dict[str, Any]] = []
    for cell in _code_cells():
        if cell.get("id") == cell_id:
            return found
        is_folded = str(cell.get("id")).endswith(FOLDED)
        found = [*found, cell] if is_folded else []
    return []


def _code_cells() -> list[dict[str, Any]]:
    """As the file has them; none if there is no file, or none that can be read."""
    try:
        notebook = json.loads(Path(os.environ[FILE]).read_text(encoding="utf-8"))
        return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except (KeyError, OSError, TypeError, ValueError):
        return []
