"""An answer as it stands in another notebook of this folder, as that was saved.

    path = notebook_of("u02")                          u02_rewrites.ipynb, the learner's own
    found("passes.dce", path)                          its cell, and what that needs of the others

NoAnswer says in words why there is none; NotYet, that its cell is still as it came.

Next room: elsewhere.py, answers that are plugged in from there; autograder/text/needed.py.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path

from autograder.check.keys import called, key_in
from autograder.check.shown import error_text
from autograder.text.cells import Ways, answered, plain_python, tree_of
from autograder.text.needed import needed, statements

MAX_BYTES, MAX_CODE = 20 << 20, 200_000  # of a file, and characters of its code cells together


@dataclass(frozen=True)
class Found:
    """An answer in a notebook: its cells from top to bottom, the last one its own."""

    file: str
    cells: tuple[tuple[int, str], ...]  # number in the notebook, from 1, and code


class NoAnswer(ValueError):
    """Why nothing can be plugged in, in words."""


class NotYet(NoAnswer):
    """No cell answers it, or nothing is written in the one that does."""


def notebook_of(key: str) -> Path:
    """The learner's own file, not a newer version beside it. NoAnswer if there is none."""
    files = [p for p in Path().glob("u*.ipynb") if key_in(p.name) == key and p.is_file()]
    own = sorted(files, key=lambda path: (path.stem.count("."), path.name))
    if not own:
        raise NoAnswer(f"No notebook of {called(key)} is in this folder.")
    return own[0]


def notebooks_here() -> list[str]:
    """The keys of the units and labs whose notebooks are in this folder, in order."""
    keys = {key_in(path.name) for path in Path().glob("u*.ipynb") if path.is_file()}
    return sorted(key for key in keys if key)


def codes(path: Path) -> list[str]:
    """The code of each cell, "" for one of text. NoAnswer for what is no notebook."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES >> 20} MB")
        cells = json.loads(path.read_text(encoding="utf-8-sig"))["cells"]
        sources = ["".join(c["source"]) if c["cell_type"] == "code" else "" for c in cells]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoAnswer(f"{path.name} cannot be read as a notebook: {error_text(error)}.") from None
    if sum(map(len, sources)) > MAX_CODE:
        raise NoAnswer(f"{path.name} has more than {MAX_CODE:,} characters of code.")
    return [plain_python(source) for source in sources]


def found(name: str, file: str, cells: list[str]) -> Found:
    """The cell that answers the exercise (the last one, where several do), with what it needs."""
    ways = Ways.of(cells)
    answers = {k: names for k, code in enumerate(cells, 1) if (names := answered(code, ways))}
    own = max((number for number, names in answers.items() if name in names), default=0)
    if not own:
        raise NotYet(f"no cell of {file} answers it.")
    if _is_empty(cells[own - 1]):
        raise NotYet(f"its cell in {file} holds no answer yet.")
    others = [s for k, code in enumerate(cells, 1) if k not in answers for s in statements(code, k)]
    helpers = needed([(cells[own - 1], len(cells) + 1)], others)
    return Found(
        file, tuple(sorted([*((s.number, s.source) for s in helpers), (own, cells[own - 1])]))
    )


def _is_empty(code: str) -> bool:
    """Does every function in it still do nothing but raise NotImplementedError?"""
    tree = tree_of(code)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    return bool(functions) and all(_raises_at_once(function.body) for function in functions)


def _raises_at_once(body: list[ast.stmt]) -> bool:
    *before, last = body
    words = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in before)
    return words and isinstance(last, ast.Raise) and "NotImplementedError" in ast.dump(last)
