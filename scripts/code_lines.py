"""How many lines of code a room has: lines with a token, without comments and docstrings.

Programs and tables that checks read from a text file count, too, with every line that is not empty.
What another tool said (`lessons/uNN/*.txt`) does not, nor does what makes such a text again
(`makers.py`): no cell and no check imports it.

    python scripts/code_lines.py lessons autograder/units      one row for each folder below them

Next room: tests/units/test_size.py, which holds the sum for the units.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
NO_CODE |= {tokenize.ENDMARKER}
COUNTED = ("*.py", "checks/*.txt", "mutants/*.txt")
MAKERS = "makers.py"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """How many lines of a file hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for t in tokens if t.type not in NO_CODE for line in _span(t.start[0], t.end[0])}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            lines -= set(_span(first.lineno, first.end_lineno or first.lineno))
    return len(lines)


def by_folder(room: Path) -> Counter[str]:
    """Code lines of the Python files in a room, for each folder directly below it."""
    count: Counter[str] = Counter()
    files = sorted(file for pattern in COUNTED for file in room.rglob(pattern))
    for file in (file for file in files if file.name != MAKERS):
        text, inside = file.read_text(), file.relative_to(room)
        lines = code_lines(text) if file.suffix == ".py" else len(text.split("\n")) - _empty(text)
        count[inside.parts[0] if len(inside.parts) > 1 else "."] += lines
    return count


def _empty(text: str) -> int:
    return sum(not line.strip() for line in text.split("\n"))


def _span(first: int, last: int) -> range:
    return range(first, last + 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How many lines of code a room has.")
    parser.add_argument("rooms", nargs="+", help="folders, from the root of the project")
    total = 0
    for room in parser.parse_args().rooms:
        rows = by_folder(COURSE / room)
        total += sum(rows.values())
        for folder, lines in rows.items():
            print(f"{lines:>8,}  {room}/{folder}")
    print(f"{total:>8,}  in all")
