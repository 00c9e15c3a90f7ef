"""What a Toy program means: its tree, run by numpy (chapter 1).

>>> from course_lib.mlir.toy.parser import parse
>>> run(parse("def main() { var a<2, 2> = [1, 2, 3, 4]; print(a * transpose(a)); }"))
[array([[ 1.,  6.],
       [ 6., 16.]])]

All that follows, from the dialect to machine code, has to print the same. Values are arrays of
float64, and of a struct the values of its fields. What a program may call beyond Toy's own
functions is in `operations`, as in `generate.py`: functions of the call, and of what computes an
argument. Next room: `dialect.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.mlir.toy import ast
from course_lib.mlir.toy.source import Place, ToyError

Value = Any  # np.ndarray, or _Instance
Computed = Callable[[ast.Call, Callable[[ast.Expr], Value]], Value]


class _Instance:
    """A value of a struct: `values[field]`."""

    def __init__(self, struct: ast.Struct, values: list[Value]) -> None:
        self.struct, self.values = struct, values


def run(module: ast.Module, operations: Mapping[str, Computed] | None = None) -> list[np.ndarray]:
    """The arrays that `main` prints, in order. ToyError where the program has no meaning."""
    records = {record.name: record for record in module.records}
    main = records.get("main")
    if not isinstance(main, ast.Function) or main.params:
        raise ToyError("a program begins in main, a function without parameters")
    interp = _Interp(records, operations or {})
    interp.call(main, [])
    return interp.printed


class _Interp:
    def __init__(
        self, records: dict[str, ast.Function | ast.Struct], operations: Mapping[str, Computed]
    ) -> None:
        self.records, self.operations, self.printed = records, operations, []

    def call(self, function: ast.Function, arguments: list[Value]) -> Value:
        scope = {p.name: value for p, value in zip(function.params, arguments, strict=True)}
        for statement in function.body:
            match statement:
                case ast.Return(value=value):
                    return None if value is None else self.value(value, scope)
                case ast.Print(value=value):
                    self.printed.append(self.value(value, scope))
                case ast.Declare(name=name, shape=shape, struct=struct, value=value):
                    array = self.value(value, scope, struct)
                    scope[name] = array if shape is None else reshaped(array, shape, value.place)
                case _:
                    self.value(statement, scope)
        return None

    def value(self, expr: ast.Expr, scope: dict[str, Value], struct: str | None = None) -> Value:
        match expr:
            case ast.Number() | ast.Literal():
                return np.array(ast.numbers(expr), np.float64).reshape(ast.shape_of(expr))
            case ast.StructLiteral(items=items):
                of = self.records[struct or ""]
                assert isinstance(of, ast.Struct)
                pairs = zip(items, of.fields, strict=True)
                return _Instance(of, [self.value(i, scope, f.struct) for i, f in pairs])
            case ast.Name(place=place, name=name):
                if name not in scope:
                    raise ToyError(f"there is no variable {name!r}", place)
                return scope[name]
            case ast.Binary():
                return self.binary(expr, scope)
            case ast.Member(value=value, field=field):
                instance = self.value(value, scope)
                names = [f.name for f in instance.struct.fields]
                return instance.values[names.index(field)]
            case ast.Call(function="transpose", arguments=(argument,)):
                return self.value(argument, scope).T
            case ast.Call(function=name) if name in self.operations:
                return self.operations[name](expr, lambda given: self.value(given, scope))
            case ast.Call(place=place, function=name, arguments=given):
                function = self.records.get(name)
                if not isinstance(function, ast.Function) or len(given) != len(function.params):
                    raise ToyError(f"there is no function {name!r} of {len(given)}", place)
                return self.call(function, [self.value(g, scope) for g in given])

    def binary(self, expr: ast.Binary, scope: dict[str, Value]) -> Value:
        left, right = self.value(expr.left, scope), self.value(expr.right, scope)
        if left.shape != right.shape:
            shapes = f"{ast.angled(left.shape)} and {ast.angled(right.shape)}"
            raise ToyError(f"{expr.op} needs two arrays of one shape, got {shapes}", expr.place)
        return left + right if expr.op == "+" else left * right


def reshaped(value: np.ndarray, shape: ast.Shape, place: Place) -> np.ndarray:
    """The same numbers in another shape. A single number without a shape fills the whole array."""
    if value.ndim == 0:
        return np.full(shape, value)
    if value.size != np.prod(shape):
        message = f"{ast.angled(value.shape)} has {value.size} elements, {ast.angled(shape)} has"
        raise ToyError(f"{message} {np.prod(shape)}", place)
    return value.reshape(shape)
