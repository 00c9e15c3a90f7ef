"""A notebook as a page for somebody who reads it and does not run it.

    what the notebook has                        what the page has
    an exercise, its stub and its check          the same, and three hints, each folded
    predict(...)                                 a form that keeps the guess (predictions.py)
    imports, compare(...), check(...)            the same, folded: only what they show is open
    Markdown with the tag "notebook"             nothing: it says how to work in a notebook

The outputs are those of the solved notebook. No solution is on a page.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Iterator
from typing import Any

import nbformat
from predictions import (
    answers,
    asked,
    call_of,
    compared,
    forget_guesses,
    form,
    statements,
    without,
)

from autograder.check.hints import ladder
from autograder.check.rubrics import TEXT_STUB
from autograder.edition.folds import outputs_of
from autograder.edition.sources import Source, expand, grade_id
from course_lib.exercises import Slot, slot

ONLY_NOTEBOOK = "notebook"  # the tag of what only somebody who runs the notebook wants to know
PLUMBING = ("check", "compare")
PROGRESS = re.compile(r'<p class="small">[^<]* points so far\..*?</p>\s*')  # of whoever solves it
STUCK = re.compile(r"\n\nStuck\? `hint\([^`]*`[^\n]*")  # the hints themselves stand on the page


def readable(source: Source, solved: Any, row: str = "") -> Any:
    """The page as a notebook that Sphinx reads; `row` is HTML that stands below its title."""
    notebook = expand(source, solutions=False)
    entries = {grade_id(name): slot(name) for name in source.exercises()}
    shown = outputs_of(solved.cells)
    forget_guesses(solved.cells)
    known = answers(solved.cells)
    pages = (_cells(cell, shown.get(cell.id, []), entries, known) for cell in notebook.cells)
    notebook.cells = [cell for cells in pages for cell in cells]
    _below_the_title(notebook.cells, row)
    return notebook


def _cells(
    cell: Any, outputs: list[Any], entries: dict[str, Slot], known: dict[str, str]
) -> Iterator[Any]:
    """What becomes of one cell, which has shown `outputs` when it was run."""
    marks = cell.metadata.pop("nbgrader", {})
    if cell.cell_type == "markdown":
        if ONLY_NOTEBOOK not in cell.metadata.get("tags", ()) and cell.source != TEXT_STUB:
            cell.source = STUCK.sub("", cell.source)
            yield cell
    elif marks.get("solution"):
        yield cell
        yield from _hints(entries[marks["grade_id"]], cell.id)
    else:
        forms = [form(key, unit, known.get(key)) for key, unit in asked(cell.source)]
        if rest := without(cell.source) if forms else cell.source:
            cell.source = rest
            cell.outputs = [] if forms else [_of_a_page(output) for output in outputs]
            yield _folded(cell)
        if forms:
            yield _raw("\n\n".join(forms), cell.id, "guess")


def _of_a_page(output: Any) -> Any:
    """The output, without what it says about the progress or the guess of whoever ran the cell."""
    data = output.get("data", {})
    if "text/html" in data:
        data["text/html"] = PROGRESS.sub("", data["text/html"])
    return compared(output)


def _folded(cell: Any) -> Any:
    """Nobody reads imports, or the call that shows a verdict or an answer."""
    lines = statements(cell.source)
    if lines and all(map(_is_plumbing, lines)):
        tags = cell.metadata.get("tags", [])
        cell.metadata["tags"] = sorted({*tags, "hide-input"})
    return cell


def _is_plumbing(statement: ast.stmt) -> bool:
    imports = isinstance(statement, ast.Import | ast.ImportFrom)
    return imports or any(call_of(statement, name) for name in PLUMBING)


def _hints(entry: Slot, cell_id: str) -> list[Any]:
    """Three hints, each folded: a reader opens as many as needed."""
    folded = [
        f'<details class="hints"><summary>Hint {number}</summary><p>{_as_html(hint)}</p></details>'
        for number, hint in enumerate(ladder(entry), 1)
    ]
    return [_raw("\n\n".join(folded), cell_id, "hints")] if folded else []


def _raw(text: str, cell_id: str, what: str) -> Any:
    return nbformat.v4.new_markdown_cell(text, id=f"{cell_id[:57]}-{what}")


def _as_html(hint: str) -> str:
    """Not by way of Markdown: there, a line that begins with %a is a comment, and ** is bold."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(hint))


def _below_the_title(cells: list[Any], row: str) -> None:
    """Put the row behind the first heading."""
    first = next((cell for cell in cells if cell.source.startswith("# ")), None)
    if row and first is not None:
        title, _, rest = first.source.partition("\n")
        first.source = f"{title}\n\n{row}\n\n{rest.strip()}"
