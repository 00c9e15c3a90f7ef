"""The text of MLIR: types, numbers, maps, and lines whose values have names of their own.

    w.op("arith.addf", a, b)     writes     %t0 = arith.addf %a, %b : f32     and returns %t0

MLIR's integers have no sign: `i8` and `u8` are both `i8`, and whether a number is signed is said by
the operation (`arith.divsi`, `arith.divui`). Truth values are `i1`. Next room: `scalars.py`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from course_lib.ir.expr import Affine
from course_lib.ir.types import DType, TensorType


class Value(NamedTuple):
    """An SSA value: its name with the percent sign, and its type, as they are written."""

    name: str
    type: str


def element(dtype: DType) -> str:
    """An element type: f32 -> f32, u8 -> i8, bool -> i1."""
    return "i1" if dtype.kind == "bool" else dtype.name.replace("u", "i")


def tensor(type: TensorType) -> str:
    """A type of a tensor: f32[1,3] -> tensor<1x3xf32>. ValueError if a size is a symbol."""
    return f"tensor<{''.join(f'{n}x' for n in type.dims)}{element(type.dtype)}>"


def number(value: Any, dtype: DType) -> str:
    """A literal: 1.0, 1.000000e-05, 0x7F800000 (infinity, by its bits), -3, true."""
    if dtype.kind == "bool":
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    exact = dtype.numpy.type(value)
    if not np.isfinite(exact):
        bits = exact.view(f"u{dtype.size}")
        return f"0x{int(bits):0{2 * dtype.size}X}"
    text = str(exact)
    digits, _, power = text.partition("e")
    return (digits if "." in digits else digits + ".0") + (f"e{power}" if power else "")


def affine_map(dims: Sequence[str], results: Sequence[Affine]) -> str:
    """Indices as a map of the loops: (oh, kh) -> (2*oh + kh) is affine_map<(d0, d1) -> ...>."""
    place = {var: f"d{k}" for k, var in enumerate(dims)}
    shown = ", ".join(_index(i, place) for i in results)
    return f"affine_map<({', '.join(place.values())}) -> ({shown})>"


def _index(index: Affine, place: dict[str, str]) -> str:
    parts = [place[v] if c == 1 else f"{place[v]} * {c}" for v, c in index.terms]
    if index.const or not parts:
        parts.append(str(index.const))
    return " + ".join(parts).replace("+ -", "- ")


class Writer:
    """Collects lines. A value that is not given a name is `%t0`, `%t1`, ..."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.name_count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    def fresh(self, prefix: str = "t") -> str:
        """A new name. Values of a graph never begin like this (`names.py` sees to it)."""
        self.name_count += 1
        return f"%{prefix}{self.name_count - 1}"

    def op(self, name: str, *operands: Value, result: str = "", words: str = "") -> Value:
        """An operation whose operands and result have one type, or `result` behind `to`.

        words   what stands between the name and the operands, such as `ogt,`
        """
        type = operands[0].type
        signature = f"{type} to {result}" if result else type
        name_of_result = self.fresh()
        args = ", ".join(o.name for o in operands)
        self.line(f"{name_of_result} = {name} {words + ' ' if words else ''}{args} : {signature}")
        return Value(name_of_result, result or type)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """`ogt`, `une`: floats; `slt`, `ult`, `eq`: integers. The result is i1."""
        name = "arith.cmpf" if a.type.startswith("f") else "arith.cmpi"
        return Value(self.op(name, a, b, words=f"{predicate},").name, "i1")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        result = self.fresh()
        args = f"{condition.name}, {a.name}, {b.name}"
        self.line(f"{result} = arith.select {args} : {a.type}")
        return Value(result, a.type)

    def constant(self, text: str, type: str) -> Value:
        """A number, written as `number` does it, or `dense<...>`."""
        result = self.fresh("c")
        typed = text if type == "i1" else f"{text} : {type}"
        self.line(f"{result} = arith.constant {typed}")
        return Value(result, type)

    def like(self, a: Value, value: int) -> Value:
        """A whole number of the type of `a`."""
        return self.constant(f"{value}.0" if a.type.startswith("f") else str(value), a.type)


def location(origin: Sequence[str]) -> str:
    """Where a value came from in the user's model, as MLIR's locations: ` loc("layers.0")`."""
    names = [json.dumps(o, ensure_ascii=False) for o in origin]
    if not names:
        return ""
    return f" loc({names[0]})" if len(names) == 1 else f" loc(fused[{', '.join(names)}])"
