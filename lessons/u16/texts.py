"""Functions that are handed in as text, in a small part of Python, and run on numpy.

    call("def f(x): return tl.exp(x)", "f", [x], {"tl": Tile()})

A kernel of Triton and a function of Relax are Python to look at, and no Python runs them. Here they
run without either package, and nothing but the functions of the given rooms can be called. What is
known: assignments, `for ... in range(...)`, arithmetic, comparisons, `x[:, None]`, and `return`.
ValueError in words, with the line, for everything else. Next room: `tile.py`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

STEPS, LARGEST, WHOLE = 5_000, 1 << 20, 1 << 62
BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
KNOWN = {"range": range, "min": min, "max": max, "float": float}


def functions(source: Any) -> dict[str, ast.FunctionDef]:
    """The functions of a text, by name. ValueError if it is no text, or has something else."""
    if not isinstance(source, str):
        raise ValueError(f"the answer is a text, not {type(source).__name__}")
    if len(source) > 20_000:
        raise ValueError("the text has more than 20,000 characters")
    try:
        lines = source.splitlines()
        margin = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
        tree = ast.parse("\n".join(line[margin:] for line in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else ""
        raise ValueError(f"{where}this is no Python: {getattr(error, 'msg', error)}") from None
    found = {}
    for item in tree.body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = item
        elif not isinstance(item, (ast.Import, ast.ImportFrom)):
            raise _trouble(item, "beside functions, only imports may stand here")
    return found


def call(source: str, name: str, arguments: Sequence[Any], rooms: Mapping[str, Any]) -> Any:
    """What the function of that name returns; ValueError in words if it cannot run."""
    known = functions(source)
    if name not in known:
        raise ValueError(f"the text must define `{name}`; it defines {', '.join(known) or 'none'}")
    function = known[name]
    parameters = [one.arg for one in function.args.args]
    if len(parameters) != len(arguments):
        raise ValueError(f"`{name}` takes {len(arguments)} arguments, here {len(parameters)}")
    return _Run(dict(zip(parameters, arguments, strict=True)), rooms).body(function.body)


def calls(source: str, name: str) -> list[str]:
    """The names of all functions of rooms that a function calls, as they stand there."""
    found = [node.func for node in ast.walk(functions(source)[name]) if isinstance(node, ast.Call)]
    return [ast.unparse(one) for one in found if isinstance(one, ast.Attribute)]


def _trouble(node: ast.AST, why: str) -> ValueError:
    return ValueError(f"line {getattr(node, 'lineno', 1)}: {why}: {ast.unparse(node)[:60]}")


class _Run:
    """A call on its way."""

    def __init__(self, names: dict[str, Any], rooms: Mapping[str, Any]):
        self.names, self.rooms, self.steps = names, rooms, 0

    def body(self, statements: Sequence[ast.stmt]) -> Any:
        for statement in statements:
            self.steps += 1
            if self.steps > STEPS:
                raise _trouble(statement, f"more than {STEPS:,} steps")
            match statement:
                case ast.Return(value=value):
                    return None if value is None else self.value(value)
                case ast.Assign(targets=[target], value=value):
                    self.assign(target, self.value(value))
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                    here = self.value(ast.copy_location(ast.Name(name, ast.Load()), statement))
                    self.names[name] = self.binary(statement, op, here, self.value(value))
                case ast.For(target=target, iter=values, body=body, orelse=[]):
                    turns = self.value(values)
                    if not isinstance(turns, range):
                        raise _trouble(statement, "a loop goes through a `range`")
                    for turn in turns:
                        self.assign(target, turn)
                        self.body(body)
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    pass
                case ast.Expr(value=value):
                    self.value(value)
                case _:
                    raise _trouble(statement, "this statement is not known here")
        return None

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, (tuple, list)):
            if len(target.elts) != len(value):
                raise _trouble(target, f"{len(value)} values for {len(target.elts)} names")
            for part, one in zip(target.elts, value, strict=True):
                self.assign(part, one)
        else:
            raise _trouble(target, "a value cannot be given to this")

    def value(self, node: ast.expr) -> Any:
        self.steps += 1
        if self.steps > STEPS:
            raise _trouble(node, f"more than {STEPS:,} steps")
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
                return self.guarded(node, UNARY[type(op)], self.value(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARE:
                return self.guarded(node, COMPARE[type(op)], self.value(left), self.value(right))
            case ast.Attribute(value=ast.Name(id=room), attr=name) if room in self.rooms:
                return self.in_room(node, self.rooms[room], name)
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=room), attr=inner), attr=name):
                return self.in_room(node, self.rooms.get(room), f"{inner}_{name}")
            case ast.Call(func=function, args=given, keywords=named):
                arguments = [self.value(one) for one in given]
                words = {one.arg: self.value(one.value) for one in named if one.arg}
                found = KNOWN.get(function.id) if isinstance(function, ast.Name) else None
                return self.guarded(node, found or self.value(function), *arguments, **words)
            case ast.Subscript(value=value, slice=where):
                return self.guarded(node, operator.getitem, self.value(value), self.index(where))
        raise _trouble(node, "this is not known here")

    def in_room(self, node: ast.expr, room: Any, name: str) -> Any:
        found = None if name.startswith("_") else getattr(type(room), name, None)
        if found is None and not hasattr(type(room), "any"):
            raise _trouble(node, "this function is not known here")
        return getattr(room, name) if found else room.any(name)

    def index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=None, upper=None, step=None):
                return slice(None)
            case ast.Constant(value=None):
                return None
            case ast.Tuple(elts=parts):
                return tuple(self.index(part) for part in parts)
        return self.value(node)

    def binary(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        if type(op) not in BINARY:
            raise _trouble(node, "this operation is not known here")
        for one in (left, right):
            if isinstance(one, (str, tuple, type(None), range)):
                raise _trouble(node, f"{type(one).__name__} is no number")
        return self.guarded(node, BINARY[type(op)], left, right)

    def guarded(self, node: ast.AST, function: Any, *given: Any, **named: Any) -> Any:
        """A call whose errors name the line, and which cannot ask for much memory or time."""
        try:
            _small_enough([one.shape for one in given if isinstance(one, np.ndarray)])
            with np.errstate(all="ignore"):
                result = function(*given, **named)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"line {getattr(node, 'lineno', 1)}: {error}") from None
        if isinstance(result, int) and abs(result) > WHOLE:
            raise _trouble(node, "this number is too large")
        return result


def _small_enough(shapes: Sequence[tuple[int, ...]]) -> None:
    try:
        together = np.broadcast_shapes(*shapes)
    except ValueError:
        return  # the operation itself says so, if it does not fit
    if np.prod(together, dtype=float) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} numbers at once")
