"""What an answer needs from the other cells: definitions, and what changes them.

    RULES = []              taken: the answer below reads RULES
    RULES.append("cse")     taken: it changes RULES
    print(RULES)            not taken

    @implements("passes.order")
    def order(graph): return RULES

Next room: worker.py, where all of it runs.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

INDIGESTIBLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # of code that was handed in
DEFINITION = ("def ", "async def ", "@")
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


@dataclass(frozen=True)
class Statement:
    """A top-level statement outside the answer cells, which an answer may need."""

    number: int
    source: str
    changes: frozenset[str]
    calls: frozenset[str]  # what it calls for the effect, by a line of its own or as a decorator
    always: bool


def statements(code: str, number: int) -> list[Statement]:
    """The statements of a cell; those that Python itself cannot digest are left out."""
    found = []
    try:
        for node in ast.parse(code).body:
            changes = frozenset(_changed_names(node))
            calls = frozenset(name for part in _parts(node) for name in _called_by(part))
            found.append(Statement(number, ast.unparse(node), changes, calls, _is_star(node)))
    except INDIGESTIBLE:
        return found
    return found


def needed(answers: Iterable[tuple[str, float]], others: list[Statement]) -> list[Statement]:
    """The statements that the answers need, directly or through each other.

    An answer is its source and the number of the cell that checks it. What stands below that is
    taken only for a name to which nothing above gives a value: the cells that follow are free to
    use the others for something else.
    """
    index = _Index(others)
    chosen = {number for number, statement in enumerate(others) if statement.always}
    for source, until in answers:
        chosen |= index.needed_by(source, until)
    return [others[number] for number in sorted(chosen)]


class _Index:
    """Statements by the names that they change, and by the functions that they call."""

    def __init__(self, others: list[Statement]) -> None:
        self.others = others
        self.reads: dict[int, list[str]] = {}  # by statement: its free names, once asked for
        functions = {n: s for s in others if s.source.startswith(DEFINITION) for n in s.changes}
        variables = {n for s in others for n in s.changes} - functions.keys()
        self.by_name: dict[str, list[int]] = {}
        self.callers: dict[str, list[int]] = {}
        for number, statement in enumerate(others):
            called = statement.calls & functions.keys()
            for name in statement.changes | (statement.calls & variables if called else set()):
                self.by_name.setdefault(name, []).append(number)
            for name in called:
                self.callers.setdefault(name, []).append(number)
        self.readers: dict[str, list[str]] = {}  # by variable: called functions that read it
        for function in self.callers:
            for name in variables.intersection(_free_names(functions[function].source)):
                self.readers.setdefault(name, []).append(function)

    def needed_by(self, source: str, until: float) -> set[int]:
        """The statements that one answer needs."""
        wanted = _free_names(source)
        seen, chosen, followed = set(wanted), set[int](), set[str]()
        while wanted:
            name = wanted.pop()
            numbers = self.above(self.by_name.get(name, ()), until)
            for function in set(self.readers.get(name, ())) - followed:
                followed.add(function)
                numbers += self.above(self.callers[function], until)
            for number in set(numbers) - chosen:
                chosen.add(number)
                new = set(self.reads_of(number)) - seen
                seen |= new
                wanted += sorted(new)
        return chosen

    def above(self, numbers: Sequence[int], until: float) -> list[int]:
        """Those that have run when cell `until` runs, or all of them if none has."""
        return [n for n in numbers if self.others[n].number <= until] or list(numbers)

    def reads_of(self, number: int) -> list[str]:
        if number not in self.reads:
            self.reads[number] = _free_names(self.others[number].source)
        return self.reads[number]


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
