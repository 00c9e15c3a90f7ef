"""A submission is data. This room takes out of a notebook file what is graded, and nothing else.

    notebook bytes  ->  Program: the cells that plug in an answer, the definitions that they need
                        from other cells, and the texts of explanations

File names, metadata, outputs and execution counts are not trusted and mostly not read. A cell is an
answer because it says `@implements("...")`; a text is an explanation because of its cell's id. What
a fresh kernel would do from top to bottom is what counts: of two answers the later one.

Next room: worker.py, where a Program runs.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import re
import symtable
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

MAX_BYTES = 20 << 20
IMPLEMENTS = re.compile(r"""\bimplements\(\s*["']([\w.]+)["']""")
HARMLESS_MAGICS = ("needs", "time", "timeit", "capture", "prun")
STUB = 'raise NotImplementedError("write your answer here")'
TEXT_STUB = "*Write your answer here.*"


class Unreadable(ValueError):
    """The file is not a notebook. The message is for the student."""


@dataclass(frozen=True)
class Cell:
    """Code to run. `answers` names the exercises that it plugs in; a helper has none."""

    source: str
    answers: tuple[str, ...] = ()
    number: int = 0  # position in the student's notebook, from 1

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
        plain = [[(c.source, c.answers, c.number) for c in self.cells], sorted(self.texts.items())]
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Program:
        cells = [Cell(c["source"], tuple(c["answers"]), c["number"]) for c in data["cells"]]
        return Program(tuple(cells), dict(data["texts"]), tuple(data["notes"]))


def read(data: bytes, explanations: Iterable[str] = ()) -> Program:
    """The graded part of a notebook. `explanations` are the exercises answered in words."""
    cells = cells_of(data)
    texts = _texts(cells, explanations)
    answers: dict[int, Cell] = {}
    others: list[tuple[int, ast.stmt]] = []
    notes: list[str] = []
    for number, (kind, source, _) in enumerate(cells, 1):
        code = _plain_python(source) if kind == "code" else ""
        names = tuple(dict.fromkeys(IMPLEMENTS.findall(code)))
        if names:
            answers[number] = Cell(code, names, number)
        elif code.strip():
            others += [(number, statement) for statement in _statements(code)]
    helpers = _needed(list(answers.values()), others)
    placed = [(n, 0, Cell(ast.unparse(s), (), n)) for n, s in helpers]
    placed += [(n, 1, cell) for n, cell in answers.items()]
    placed.sort(key=lambda item: item[0])
    twice = [n for n in set(IMPLEMENTS.findall("\n".join(c.source for c in answers.values())))]
    for name in sorted(twice):
        count = sum(name in cell.answers for cell in answers.values())
        if count > 1:
            notes.append(f"{name} is answered in {count} cells; the last one that runs counts")
    return Program(tuple(cell for _, _, cell in placed), texts, tuple(notes))


def cells_of(data: bytes) -> list[tuple[str, str, str]]:
    """(kind, source, id) of every cell, however damaged the file is."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"The file has more than {MAX_BYTES >> 20} MB. Clear its outputs, please.")
    try:
        content = json.loads(data.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        raise Unreadable("The file is not a notebook: it cannot be read as JSON.") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if cells is None and isinstance(content, dict):  # the format of before 2014
        sheets = content.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or []]
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The file is not a notebook: it has no cells.")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


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


def _texts(cells: list[tuple[str, str, str]], explanations: Iterable[str]) -> dict[str, str]:
    """The explanations: by the id of their cell, or else by the heading that stands before it."""
    texts: dict[str, str] = {}
    for name in explanations:
        wanted, heading = name.replace(".", "-"), f"#### Exercise `{name}`"
        known = [s for kind, s, ids in cells if kind == "markdown" and wanted in ids.split()]
        pairs = itertools.pairwise(cells)
        after = [s for (_, before, _), (_, s, _) in pairs if before.startswith(heading)]
        written = [s.strip() for s in known or after if s.strip() not in ("", TEXT_STUB)]
        if written:
            texts[name] = written[-1]
    return texts


def _plain_python(source: str) -> str:
    """The cell without IPython's own syntax; line numbers stay."""
    first, _, rest = source.partition("\n")
    if first.startswith("%%"):
        magic = first[2:].split()[:1]
        source = "\n" + rest if magic and magic[0] in HARMLESS_MAGICS else ""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = source.split("\n")
        lines = ["" if re.match(r"\s*[%!?]|.*\?\s*$", line) else line for line in lines]
        return "\n".join(lines)
    return source


def _statements(code: str) -> list[ast.stmt]:
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _needed(answers: list[Cell], others: list[tuple[int, ast.stmt]]) -> list[tuple[int, ast.stmt]]:
    """The definitions outside the answer cells that the answers need, directly or not."""
    wanted: list[str] = []
    for cell in answers:
        wanted += _free_names(cell.source)
    seen: set[str] = set(wanted)
    chosen: set[int] = {i for i, (_, s) in enumerate(others) if _is_star(s)}
    while wanted:
        name = wanted.pop()
        for index, (_, statement) in enumerate(others):
            if index not in chosen and name in _changed_names(statement):
                chosen.add(index)
                new = [n for n in _free_names(ast.unparse(statement)) if n not in seen]
                seen.update(new)
                wanted += new
    return [others[index] for index in sorted(chosen)]


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _changed_names(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement defines or changes: x = .., x[0] = .., x.append(..)."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        base = function.value if isinstance(function, ast.Attribute) else None
        return {base.id} if isinstance(base, ast.Name) else set()
    return set()


def _free_names(source: str) -> list[str]:
    """The names that the code reads and does not define itself at its top level."""
    try:
        top = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sorted(set(re.findall(r"[A-Za-z_]\w*", source)))
    names = {s.get_name() for s in top.get_symbols() if s.is_referenced() or s.is_assigned()}
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        names |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        tables += table.get_children()
    return sorted(names - defined)
