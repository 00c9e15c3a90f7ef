"""A submission is data. This room takes out of a notebook file what is graded, and nothing else.

    notebook bytes  ->  Program: the cells that plug in an answer, the definitions that they need
                        from other cells, and the texts of explanations

File names, metadata, outputs and execution counts are not trusted and mostly not read. A cell is an
answer because it says `@implements("...")`; a text is an explanation because of its cell's id, or
because it stands below its heading. What a fresh kernel would do from top to bottom is what counts:
of two answers the later one, and for an answer the names as its `check("...")` finds them, whatever
cells below use them for.

Next room: text/cells.py, the text of a cell; needed.py, what an answer needs; explanations.py, what
is answered in words; worker.py, where a Program runs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.edition.sources import STUB
from autograder.grading.explanations import explanations
from autograder.text.cells import Ways, answered, plain_python
from autograder.text.needed import Statement, needed, statements

MAX_BYTES = 20 << 20
# Of what is looked at, before it is: Python needs a thousand bytes for a character of code, and
# twenty for one that begins a list.
MAX_CODE = 200_000  # characters of all code cells together: five times the longest unit's
MAX_PARTS = 1_000_000  # lists and objects in a file
MAX_ANSWERS = 100  # cells
CONFLICT = re.compile(r"^<{7} .*\n", re.MULTILINE)
CHECK = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")


class Unreadable(ValueError):
    """The file is not a notebook. The message is for the student."""


@dataclass(frozen=True)
class Cell:
    """Code to run. `answers` names the exercises that it plugs in; a helper has none. `checked`
    names those whose check stands below it and above the next cell that is taken."""

    source: str
    answers: tuple[str, ...] = ()
    number: int = 0  # position in the student's notebook, from 1
    checked: tuple[str, ...] = ()

    @property
    def filename(self) -> str:
        return f"<cell {self.number}>"


@dataclass(frozen=True)
class Program:
    cells: tuple[Cell, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)  # exercise -> explanation
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> set[str]:
        return {name for cell in self.cells for name in cell.answers} | set(self.texts)

    @property
    def attempted(self) -> set[str]:
        """The exercises whose cell is no longer the stub, as far as one can see without running."""
        done = {n for cell in self.cells if STUB not in cell.source for n in cell.answers}
        return done | set(self.texts)

    @property
    def digest(self) -> str:
        """The same graded content gives the same digest, whatever the file looks like."""
        plain = [[asdict(cell) for cell in self.cells], sorted(self.texts.items())]
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Program:
        cells = tuple(
            Cell(c["source"], tuple(c["answers"]), c["number"], tuple(c["checked"]))
            for c in data["cells"]
        )
        return Program(cells, dict(data["texts"]), tuple(data["notes"]))


@dataclass(frozen=True)
class Notebook:
    """All cells of a file as (kind, source, id), and of its code what is graded: whatever
    assignment it may answer, that is the same."""

    all_cells: list[tuple[str, str, str]]
    code: tuple[Cell, ...]
    notes: tuple[str, ...]

    @staticmethod
    def of(data: bytes) -> Notebook:
        """Raises `Unreadable`."""
        cells = cells_of(data)
        if sum(len(source) for kind, source, _ in cells if kind == "code") > MAX_CODE:
            raise Unreadable(f"The code cells together have more than {MAX_CODE:,} characters.")
        answers, others, checks = _sorted_out(cells)
        if len(answers) > MAX_ANSWERS:
            raise Unreadable(f"More than {MAX_ANSWERS} cells have an answer.")
        named = [(name, cell) for cell in answers for name in cell.answers]
        seen = {name: _place_of_check(checks.get(name, ()), cell) for name, cell in named}
        wanted = [(cell.source, max(seen[name] for name in cell.answers)) for cell in answers]
        helpers = [Cell(s.source, (), s.number) for s in needed(wanted, others)]
        placed = sorted([*helpers, *answers], key=lambda cell: cell.number)
        counts = Counter(name for name, _ in named)
        notes = (
            f"{name} is answered in {count} cells; the last one that runs counts"
            for name, count in sorted(counts.items())
            if count > 1
        )
        return Notebook(cells, tuple(_with_checks(placed, seen)), tuple(notes))

    def program(self, explained: Iterable[str] = (), prose: Collection[str] = ()) -> Program:
        """Its code, and the texts of an assignment in which these are answered in words."""
        texts, gone = explanations(self.all_cells, explained, prose)
        return Program(self.code, texts, (*self.notes, *gone))


def read(data: bytes, explained: Iterable[str] = (), prose: Collection[str] = ()) -> Program:
    """The graded part of a notebook. `explained` are the exercises answered in words, `prose` the
    texts between the exercises: nobody's explanation."""
    return Notebook.of(data).program(explained, prose)


def _sorted_out(
    cells: list[tuple[str, str, str]],
) -> tuple[list[Cell], list[Statement], dict[str, list[int]]]:
    """The answers, the statements outside of them, and in which cells each exercise is checked."""
    answers: list[Cell] = []
    others: list[Statement] = []
    checks: dict[str, list[int]] = {}
    codes = [plain_python(source) if kind == "code" else "" for kind, source, _ in cells]
    ways = Ways.of(codes)
    for number, code in enumerate(codes, 1):
        names = answered(code, ways)
        if names:
            answers.append(Cell(code, names, number))
        elif code.strip():
            others += statements(code, number)
        for name in CHECK.findall(code):
            checks.setdefault(name, []).append(number)
    return answers, others, checks


def _place_of_check(checks: Iterable[int], answer: Cell) -> float:
    """The cell that checks the answer; the end of the notebook if none does."""
    return next((number for number in checks if number >= answer.number), math.inf)


def _with_checks(placed: list[Cell], seen: dict[str, float]) -> Iterable[Cell]:
    """Each cell with the exercises that are checked before the next one runs."""
    for cell, after in itertools.zip_longest(placed, placed[1:]):
        upto = after.number - 1 if after else math.inf
        names = (name for name, place in seen.items() if cell.number <= place <= upto)
        yield replace(cell, checked=tuple(names))


def cells_of(data: bytes) -> list[tuple[str, str, str]]:
    """(kind, source, id) of every cell, however damaged the file is."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"The file has more than {MAX_BYTES >> 20} MB. Clear its outputs, please.")
    if data.count(b"[") + data.count(b"{") > MAX_PARTS:
        raise Unreadable(f"The file has more than {MAX_PARTS:,} lists. Clear its outputs.")
    text = data.decode("utf-8-sig", errors="replace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        problem = f"The file is not a notebook: it cannot be read as JSON. {_damage(text)}"
        raise Unreadable(problem.rstrip()) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if cells is None and isinstance(content, dict):  # the format of before 2014
        sheets = content.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The file is not a notebook: it has no cells.")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _damage(text: str) -> str:
    """What has happened to the file, if one can see it."""
    begins, ends = text.strip("\0 \t\r\n")[:1], text.strip()[-1:]
    if not begins:
        return "It is empty."
    if conflict := CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        return f"Git has left a merge conflict in it, from line {line} on."
    if begins == "<":
        return "It is a web page."
    if begins == "{" and ends != "}":
        return "It ends in the middle, as if the upload had been cut off."
    return ""


def _cell(cell: dict[str, Any]) -> tuple[str, str, str]:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    known = [i for i in (grade_id, cell.get("id")) if isinstance(i, str)]
    text = source if isinstance(source, str) else ""
    return str(cell.get("cell_type")), text.encode("utf-8", "replace").decode(), " ".join(known)
