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
from collections.abc import Iterable
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


def needed(answers: list[str], others: list[Statement]) -> list[Statement]:
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
    wanted = [name for source in answers for name in _free_names(source)]
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
