"""Cells whose code nobody reads: folded in JupyterLab, and run all the same.

JupyterLab's arrow keys pass a folded cell by, and so does whoever clicks from one open cell to the
next. So the call that shows something gets an open cell of its own, below what prepares it:

    rows = [...]                                 rows = [...]                        folded
    table(rows, ["kernel", "MB"])      ->        table(rows, ["kernel", "MB"])       open

and running that one runs the folded cells directly above it first (autograder/check/folded.py). The
import that brings this about, `from autograder import ...`, is the first open cell. What is short
is not folded at all. The website folds by the tag, and its cells stay whole.

Next room: contents.py, which makes the files of an edition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import nbformat

from autograder.check.folded import FOLDED, QUIETLY

SHORT = 3  # lines: JupyterLab's bar in place of a folded cell is hardly lower
SHOWN = 4  # lines of calls, one after another at the end of a cell, that are shown as one
NEEDS = "%%needs"
IMPORT = "-autograder"  # how the id of the first cell ends, with the import alone
SETTINGS = ("logging.", "torch.set_", "warnings.")  # how calls begin that show nothing


def divided(notebook: Any) -> Any:
    """The notebook, each folded cell of it as what is folded and what is open."""
    imported = False
    cells: list[Any] = []
    for cell in notebook.cells:
        if not _is_folded(cell):
            cells.append(cell)
        elif imported:
            cells += _parts(cell)
        else:
            cells += _beginning(cell)
        imported = imported or (cell.cell_type == "code" and _imported(cell.source) is not None)
    notebook.cells = cells
    return notebook


def outputs_of(cells: Iterable[Any]) -> dict[str, list[Any]]:
    """What cells have shown, by the id of the cell that they were before they were divided."""
    found: dict[str, list[Any]] = {}
    for cell in cells:
        whole = cell.id.removesuffix(FOLDED).removesuffix(IMPORT)
        found.setdefault(whole, []).extend(cell.get("outputs", ()))
    return found


def _is_folded(cell: Any) -> bool:
    return cell.cell_type == "code" and cell.metadata.get("jupyter", {}).get("source_hidden", False)


def _beginning(cell: Any) -> Iterator[Any]:
    """The first cell of all: the import of the autograder, open, and then the rest."""
    if node := _imported(cell.source):
        lines = cell.source.split("\n")
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        yield _open(cell, "\n".join(lines[first:last]), IMPORT)
        cell.source = "\n".join([*lines[:first], *lines[last:]]).strip("\n")
    if cell.source:
        yield from _parts(cell)


def _imported(source: str) -> ast.ImportFrom | None:
    """Where a cell imports from `autograder`, if it does."""
    imports = (node for node in _statements(source) if isinstance(node, ast.ImportFrom))
    return next((node for node in imports if node.module == "autograder"), None)


def _parts(cell: Any) -> Iterator[Any]:
    """What a cell prepares, folded; what it shows, open."""
    head, body = _head(cell.source)
    lines = body.split("\n")
    at = _shown_from(body)
    if at <= SHORT:
        yield _open(cell, cell.source)
        return
    shows = at < len(lines)
    quietly = head.replace("\n", f" {QUIETLY}\n") if shows else head  # the open part says it
    prepares = quietly + "\n".join(lines[:at]).rstrip()
    yield nbformat.v4.new_code_cell(prepares, id=f"{cell.id}{FOLDED}", metadata=cell.metadata)
    if shows:
        yield _open(cell, head + "\n".join(lines[at:]))


def _open(cell: Any, source: str, suffix: str = "") -> Any:
    tags = {"tags": cell.metadata.tags} if "tags" in cell.metadata else {}
    return nbformat.v4.new_code_cell(source, id=f"{cell.id}{suffix}", metadata=tags)


def _head(source: str) -> tuple[str, str]:
    """The line `%%needs ...`, which both parts begin with, and what stands below it. The open part
    says what is missing."""
    first, newline, rest = source.partition("\n")
    return (first + newline, rest) if first.startswith(NEEDS) else ("", source)


def _shown_from(body: str) -> int:
    """How many lines prepare what the rest shows: the last statement, and calls before it. All of
    them, if the last one shows nothing."""
    statements = _statements(body)
    if not statements or not _shows(statements[-1]):
        return len(body.split("\n"))
    first, end = statements[-1], statements[-1].end_lineno or 0
    for node in reversed(statements[:-1]):
        if not (isinstance(node, ast.Expr) and _shows(node)) or end - node.lineno >= SHOWN:
            break
        first = node
    return first.lineno - 1


def _shows(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return not ast.unparse(node).startswith(SETTINGS)
    return isinstance(node, ast.For | ast.With | ast.If | ast.Try)


def _statements(source: str) -> list[ast.stmt]:
    """Of a cell of Python; none of one with magics, which stays whole."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []
