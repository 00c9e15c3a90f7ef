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
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.edition.sources import STUB, TEXT_STUB

MAX_BYTES = 20 << 20
MAX_CODE = 1 << 20  # characters of all code cells together: reading them is slow
INDIGESTIBLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # of code that was handed in
IMPLEMENTS = re.compile(r"""\bimplements\(\s*["']([\w.]+)["']""")
DEFINITION = ("def ", "async def ", "@")
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
MAGIC = re.compile(r"^(\s*+)((\w[\w, ]*=\s*)?[%!]|\?|[\w.*]+\?+\s*$).*")  # %x, y = !ls, ?z, z?
HARMLESS_MAGICS = ("needs", "time", "timeit", "capture", "prun")


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
    if sum(len(source) for kind, source, _ in cells if kind == "code") > MAX_CODE:
        raise Unreadable("The code cells have more than a million characters together.")
    answers: list[Cell] = []
    others: list[_Statement] = []
    for number, (kind, source, _) in enumerate(cells, 1):
        code = _plain_python(source) if kind == "code" else ""
        names = tuple(dict.fromkeys(IMPLEMENTS.findall(code)))
        if names:
            answers.append(Cell(code, names, number))
        elif code.strip():
            others += _statements(code, number)
    helpers = [Cell(s.source, (), s.number) for s in _needed(answers, others)]
    placed = sorted([*helpers, *answers], key=lambda cell: cell.number)
    counts = Counter(name for cell in answers for name in cell.answers)
    notes = [
        f"{name} is answered in {count} cells; the last one that runs counts"
        for name, count in sorted(counts.items())
        if count > 1
    ]
    return Program(tuple(placed), _texts(cells, explanations), tuple(notes))


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
    except INDIGESTIBLE:
        lines = source.split("\n")
        return "\n".join(MAGIC.sub(r"\1pass", line) for line in lines)
    return source


@dataclass(frozen=True)
class _Statement:
    """A top-level statement outside the answer cells, which an answer may need."""

    number: int
    source: str
    changes: frozenset[str]
    calls: frozenset[str]  # what it calls for the effect, by a line of its own or as a decorator
    always: bool


def _statements(code: str, number: int) -> list[_Statement]:
    """The statements of a cell; those that Python itself cannot digest are left out."""
    found = []
    try:
        for node in ast.parse(code).body:
            changes = frozenset(_changed_names(node))
            calls = frozenset(name for part in _parts(node) for name in _called_by(part))
            found.append(_Statement(number, ast.unparse(node), changes, calls, _is_star(node)))
    except INDIGESTIBLE:
        return found
    return found


def _needed(answers: list[Cell], others: list[_Statement]) -> list[_Statement]:
    """The statements that the answers need, directly or through each other."""
    functions = {n: s for s in others if s.source.startswith(DEFINITION) for n in s.changes}
    variables = {n for s in others for n in s.changes} - functions.keys()
    by_name: dict[str, list[int]] = {}
    callers: dict[str, list[int]] = {}
    readers: dict[str, list[str]] = {}  # the called functions that read a variable: may change it
    for index, statement in enumerate(others):
        called = statement.calls & functions.keys()
        for name in statement.changes | (statement.calls & variables if called else set()):
            by_name.setdefault(name, []).append(index)
        for name in called:
            callers.setdefault(name, []).append(index)
    for function in callers:
        for name in variables.intersection(_free_names(functions[function].source)):
            readers.setdefault(name, []).append(function)
    wanted = [name for cell in answers for name in _free_names(cell.source)]
    seen = set(wanted)
    chosen = {index for index, statement in enumerate(others) if statement.always}
    while wanted:
        name = wanted.pop()
        indices = list(by_name.get(name, ()))
        for function in readers.get(name, ()):
            indices += callers.pop(function, ())  # each once
        for index in indices:
            if index not in chosen:
                chosen.add(index)
                new = set(_free_names(others[index].source)) - seen
                seen |= new
                wanted += sorted(new)
    return [others[index] for index in sorted(chosen)]


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _changed_names(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement defines or changes, a loop by all that stands in it."""
    return {name for part in _parts(statement) for name in _changed_by(part)}


def _parts(statement: ast.stmt) -> Iterable[ast.AST]:
    return ast.walk(statement) if isinstance(statement, COMPOUND) else [statement]


def _called_by(statement: ast.AST) -> set[str]:
    """Names in the call that is this whole line, f(x), or in a decorator of this definition."""
    calls = getattr(statement, "decorator_list", [])
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        calls = [statement.value.func, *statement.value.args]
    return {n.id for call in calls for n in ast.walk(call) if isinstance(n, ast.Name)}


def _changed_by(statement: ast.AST) -> set[str]:
    """What one part of it changes: x = .., x[0] = .., x.append(..), for x in ..."""
    if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
        return {statement.id}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        base: ast.expr = statement.value.func
        if isinstance(base, ast.Name):
            return set()
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        return {base.id} if isinstance(base, ast.Name) else set()
    return set()


def _free_names(source: str) -> list[str]:
    """The names that the code reads and does not define itself at its top level."""
    try:
        top = symtable.symtable(source, "cell", "exec")
    except INDIGESTIBLE:
        return sorted(set(re.findall(r"[A-Za-z_]\w*", source)))
    names = {s.get_name() for s in top.get_symbols() if s.is_referenced() or s.is_assigned()}
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        names |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        tables += table.get_children()
    return sorted(names - defined)
