"""What running a statement changes, as far as its text says.

    RULES.append(1)                       changes RULES
    def setup(): global T; T = {}         defines setup; a call of it changes T
    x = setup()                           changes x, and what a call of setup changes
    globals().update(T=1)                 may change anything

Next room: needed.py, which asks.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ANYTHING = {"globals", "exec", "vars", "locals", "reload"}
# Calls of these modules for their effect, sys.setrecursionlimit(9000), are for all that follows.
SETTINGS = {"sys", "random", "warnings", "threading", "decimal", "gc", "os", "locale"}
IN_NUMPY = {"seterr", "seed", "set_printoptions"}
BUILTINS = frozenset(dir(builtins)) - ANYTHING
MODULES = sys.stdlib_module_names | {"np", "numpy"}
MUTATING_FUNCTIONS = {"setattr", "delattr", "next", "heappush", "heappop", "shuffle", "insort"}
MUTATING_METHODS = {
    *("append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove", "clear"),
    *("add", "discard", "update", "setdefault", "sort", "reverse", "fill", "put", "__setitem__"),
}


@dataclass(frozen=True)
class Effects:
    """What a statement does when it runs; what a call of its function does is in `body`."""

    changes: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()  # names handed to a call, which may change what they mean
    lent: frozenset[str] = frozenset()  # names handed to a call whose result is used as well
    anything: bool = False
    defines: frozenset[str] = frozenset()  # functions and classes
    body: Effects | None = None
    mutates: bool = False  # of a body: it changes what it was handed


def effects_of(statement: ast.stmt) -> Effects:
    """The effects of a top-level statement: a loop has those of all that stands in it."""
    parts = list(_running(statement))
    calls = [part for part in parts if isinstance(part, ast.Call)]
    for part in parts:  # a decorator is called with the function
        if isinstance(part, Function):
            calls += [ast.Call(decorator, [], []) for decorator in part.decorator_list]
    for_effect = [
        p.value for p in parts if isinstance(p, ast.Expr) and isinstance(p.value, ast.Call)
    ]
    functions = [part for part in parts if isinstance(part, Function)]
    bodies = [_body(f) for f in functions]
    return Effects(
        frozenset(name for part in parts for name in _changed_by(part)) | _through_loops(parts),
        frozenset(name for call in calls for name in _names_in(call.func)),
        _handed(for_effect),
        _handed(calls),
        any(name in ANYTHING for call in calls for name in _names_in(call.func)),
        frozenset(f.name for f in functions),
        _together(bodies) if bodies else None,
    )


def is_for_everyone(statement: ast.stmt) -> bool:
    """from x import *, from __future__, or a setting of the interpreter: whatever answers read, it
    matters."""
    if isinstance(statement, ast.ImportFrom):
        return statement.names[0].name == "*" or statement.module == "__future__"
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    called = ast.unparse(statement.value.func).split(".")
    return len(called) > 1 and (called[0] in SETTINGS or called[-1] in IN_NUMPY)


def _running(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts that run with the statement: not the bodies of functions, but those of classes."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*part.args.defaults, *filter(None, part.args.kw_defaults)]
            waiting += [*part.decorator_list, *given]
        elif isinstance(part, ast.comprehension):  # its own variables stay inside
            waiting += [part.iter, *part.ifs]
        elif not isinstance(part, ast.Lambda):
            waiting += ast.iter_child_nodes(part)


def _body(function: Function) -> Effects:
    """What a call changes outside of the function: what it declares global, and what it mutates."""
    parts = [p for statement in function.body for p in ast.walk(statement)]
    declared = {name for p in parts if isinstance(p, ast.Global) for name in p.names}
    stored = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    stored |= _parameters(function)
    changed = {name for p in parts for name in _changed_by(p)}
    mutated = {n for p in parts if not isinstance(p, ast.Name) for n in _changed_by(p)}
    calls = [p for p in parts if isinstance(p, ast.Call)]
    called = {name for call in calls for name in _names_in(call.func)}
    return Effects(
        frozenset((changed - stored) | (declared & changed)),
        frozenset(called),
        anything=bool(called & ANYTHING),
        mutates=bool(mutated & _parameters(function)),
    )


def _parameters(function: Function) -> set[str]:
    if isinstance(function, ast.ClassDef):
        return set()
    a = function.args
    rest = [p for p in (a.vararg, a.kwarg) if p]
    return {p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, *rest]}


def _together(all_of: Iterable[Effects]) -> Effects:
    effects = list(all_of)
    return Effects(
        frozenset().union(*(e.changes for e in effects)),
        frozenset().union(*(e.calls for e in effects)),
        anything=any(e.anything for e in effects),
        mutates=any(e.mutates for e in effects),
    )


def _changed_by(part: ast.AST) -> set[str]:
    """What one part changes: x = .., x[0] = .., x.append(..), heappush(x, ..), del x[0]."""
    if isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
        return set() if isinstance(part.ctx, ast.Load) else _base(part)
    if isinstance(part, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in part.names}
    if isinstance(part, Function):
        return {part.name}
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):  # x.show() may be anything
        return _mutated(part.value) | (_base(part.value) if _is_method(part.value) else set())
    return _mutated(part) if isinstance(part, ast.Call) else captured(part)


def captured(part: ast.AST) -> set[str]:
    """The name that a part of a pattern gives a value: case [x, *rest], case {"a": 1, **rest}."""
    names = [getattr(part, "name", None), getattr(part, "rest", None)]
    is_one = isinstance(part, ast.MatchAs | ast.MatchStar | ast.MatchMapping)
    return {name for name in names if name} if is_one else set()


def _through_loops(parts: Iterable[ast.AST]) -> frozenset[str]:
    """for rule in RULES: rule.append(..) changes what RULES holds."""
    mutated = {n for part in parts if isinstance(part, ast.Call) for n in _mutated(part)}
    return frozenset(
        name
        for loop in parts
        if isinstance(loop, ast.For | ast.comprehension) and mutated & set(_names_in(loop.target))
        for name in _base(loop.iter)
    )


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute)


def _mutated(call: ast.Call) -> set[str]:
    """What a call is known to change: x.pop(), setattr(x, ..), heapq.heappush(x, ..)."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    base = _base(call.func)
    if base & MODULES or base & MUTATING_FUNCTIONS:
        return {n for a in call.args[:1] for n in _base(a)}
    return base if name in MUTATING_METHODS else set()


def _base(part: ast.expr) -> set[str]:
    """The name at the front: x of x.y[0].z, and of next(x).z."""
    while isinstance(part, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(part, ast.Call) and _is_builtin(part.func):
            return {name for argument in part.args for name in _base(argument)}
        part = part.func if isinstance(part, ast.Call) else part.value
    return {part.id} if isinstance(part, ast.Name) else set()


def _is_builtin(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id in BUILTINS


def _handed(calls: Iterable[ast.Call]) -> frozenset[str]:
    return frozenset(n for call in calls for part in _arguments(call) for n in _names_in(part))


def _arguments(call: ast.Call) -> Iterable[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def _names_in(part: ast.AST) -> Iterator[str]:
    return (
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(part)
        if isinstance(n, ast.Name | ast.Attribute)
    )
