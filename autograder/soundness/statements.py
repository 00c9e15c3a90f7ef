"""What may stand in the place of a statement, for mutation testing.

    x += 1              ->   pass     x = 1     x -= 1
    while t: f()        ->   pass     if t: f()
    d.setdefault(k, v)  ->   pass     d[k] = v

Next room: reference.py, which makes a wrong answer of each change.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def instead_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """What may stand in the place of a statement."""
    if isinstance(node, (ast.Pass, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return
    named = isinstance(node, (ast.Assign, ast.AnnAssign)) and _binds_names(node)
    if not named and not isinstance(node, ast.Assert):
        yield [ast.Pass()]
    if isinstance(node, ast.If):
        yield list(node.body)
        if node.orelse:
            yield list(node.orelse)
            yield [with_fields(node, orelse=[])]
    elif isinstance(node, ast.While):
        yield [ast.If(node.test, node.body, [])]
    elif isinstance(node, ast.Try):
        yield list(node.body)
    elif isinstance(node, ast.Continue):
        yield [ast.Break()]
    elif isinstance(node, ast.Break):
        yield [ast.Continue()]
    elif isinstance(node, ast.AugAssign):
        yield [ast.Assign([node.target], node.value, lineno=node.lineno)]
        if type(node.op) in ARITHMETIC:
            yield [with_fields(node, op=ARITHMETIC[type(node.op)]())]
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        other = with_fields(node.exc, func=ast.Name("ArithmeticError", ast.Load()))
        yield [with_fields(node, exc=other)]
    elif isinstance(node, ast.For) and getattr(node.target, "id", "") != "_":
        yield [with_fields(node, iter=call("reversed", call("list", node.iter)))]
        yield from ([with_fields(node, iter=part)] for part in without_ends(node.iter))
    for new in (*_kept_first(node), *_kept_last(node)):
        yield [new]


def _binds_names(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return all(isinstance(t, (ast.Name, ast.Tuple)) for t in targets)


def _kept_first(node: ast.stmt) -> Iterator[ast.stmt]:
    """`d.setdefault(k, v)` for `d[k] = v`, `a.insert(0, x)` for `a.append(x)`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        at = node.targets[0]
        if len(node.targets) == 1 and not isinstance(at.slice, ast.Slice):
            method = ast.Attribute(at.value, "setdefault", ast.Load())
            yield ast.Expr(ast.Call(method, [at.slice, node.value], []))
    if isinstance(node, ast.Expr) and _method(node.value) == "append":
        value: Any = node.value
        method = with_fields(value.func, attr="insert")
        yield ast.Expr(with_fields(value, func=method, args=[ast.Constant(0), *value.args]))


def _kept_last(node: ast.stmt) -> Iterator[ast.stmt]:
    """`d[k] = v` for `d.setdefault(k, v)`."""
    if isinstance(node, ast.Expr) and _method(node.value) == "setdefault":
        node_value: Any = node.value
        key, value = node_value.args
        target = ast.Subscript(node_value.func.value, key, ast.Store())
        yield ast.Assign([target], value, lineno=node.lineno)


def _method(node: ast.expr) -> str:
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else ""


def without_ends(iterable: ast.expr) -> Iterator[ast.expr]:
    """All but the first, and all but the last."""
    for bounds in ((ast.Constant(1), None), (None, minus(1))):
        part: Any = ast.Slice(*bounds)
        yield ast.Subscript(call("list", iterable), part, ast.Load())


def with_fields(node: Any, **fields: Any) -> Any:
    """A copy of a node with other fields; what hangs below is shared."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def call(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def minus(value: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(value))
