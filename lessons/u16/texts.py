"""Functions that are handed in as text, in a small part of Python, and run on numpy.

    call("def f(x): return tl.exp(x)", "f", [x], {"tl": Tile()})

A kernel of Triton and a function of Relax are Python to look at, and no Python runs them. Here they
run without either package, and nothing but the functions of the given rooms and of the text itself
can be called. What is known: assignments, `for ... in range(...)`, arithmetic, comparisons,
`x[:, None]`, and `return`. A room that has `methods` lends its functions to values, as Triton does:
`v.sum(0)` is `tl.sum(v, 0)`. ValueError in words, with the line, for everything else. Next room:
`tile.py`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

STEPS, LARGEST, WHOLE, DEEPEST = 5_000, 1 << 20, 1 << 62, 8
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
    return _Run(known, rooms).call(name, arguments, {})


def calls(source: str, name: str) -> list[str]:
    """The names of all functions that a function calls, as they stand there."""
    body = ast.walk(functions(source)[name])
    return [ast.unparse(node.func) for node in body if isinstance(node, ast.Call)]


def _trouble(node: ast.AST, why: str) -> ValueError:
    return ValueError(f"line {getattr(node, 'lineno', 1)}: {why}: {ast.unparse(node)[:60]}")


def _named(function: ast.FunctionDef, given: Sequence[Any], named: Mapping[str, Any]) -> dict:
    """The values of a function's parameters."""
    parameters = [one.arg for one in function.args.args]
    values = {**dict(zip(parameters, given, strict=False)), **named}
    if len(given) + len(named) != len(parameters) or set(values) != set(parameters):
        gets = len(given) + len(named)
        raise ValueError(f"`{function.name}` gets {gets} arguments and has {len(parameters)}")
    return values


class _Run:
    """A call on its way, and those that it makes to functions of its text."""

    def __init__(self, known: Mapping[str, ast.FunctionDef], rooms: Mapping[str, Any]):
        self.known, self.rooms = known, rooms
        self.names: dict[str, Any] = {}
        self.steps = self.depth = 0

    def call(self, name: str, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """A function of the text; its names are its own."""
        if self.depth == DEEPEST:
            raise ValueError(f"`{name}` is called at a depth of more than {DEEPEST}")
        outside = self.names
        self.names, self.depth = _named(self.known[name], given, named), self.depth + 1
        result = self.body(self.known[name].body)
        self.names, self.depth = outside, self.depth - 1
        return result

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
                if isinstance(function, ast.Name) and function.id in self.known:
                    return self.call(function.id, arguments, words)
                if (method := self.method(function)) is not None:
                    room, value, name = method
                    return self.guarded(node, self.in_room(node, room, name), value, *arguments,
                                        **words)  # fmt: skip
                found = KNOWN.get(function.id) if isinstance(function, ast.Name) else None
                return self.guarded(node, found or self.value(function), *arguments, **words)
            case ast.Subscript(value=value, slice=where):
                return self.guarded(node, operator.getitem, self.value(value), self.index(where))
        raise _trouble(node, "this is not known here")

    def method(self, function: ast.expr) -> tuple[Any, Any, str] | None:
        """Of `v.sum`, a room that lends the function, the value, and "sum"; None of `tl.sum`."""
        lending = [room for room in self.rooms.values() if hasattr(type(room), "methods")]
        match function:
            case ast.Attribute(value=ast.Name(id=room)) if room in self.rooms:
                return None
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=room))) if room in self.rooms:
                return None
            case ast.Attribute(value=value, attr=name) if lending:
                return lending[0], self.value(value), name
        return None

    def in_room(self, node: ast.expr, room: Any, name: str) -> Any:
        found = None if name.startswith("_") else getattr(type(room), name, None)
        if room is not None and found is None and not hasattr(type(room), "any"):
            there = [x.replace("math_", "math.") for x, what in vars(type(room)).items()
                     if isinstance(what, FunctionType) and x[0] != "_"]  # fmt: skip
            what = f"line {node.lineno}: `{ast.unparse(node)[:60]}`"
            raise ValueError(f"{what} is none of {', '.join(there)}")
        if room is None or name.startswith("_"):
            raise _trouble(node, "this function is not known here")
        return room.any(name) if found is None else getattr(room, name)

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
