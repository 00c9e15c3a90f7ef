"""Scalar expressions over loop variables: what happens at *one* point of a loop nest.

    acc + x[n, ic, 2*oh + kh, 2*ow + kw] * w[oc, ic, kh, kw]

Everything between the square brackets is an `Affine` index (a sum of loop variables times
constants), everything else an `Expr`. The scalar functions and their meaning are rows of
`scalar.py`. Next room: `ir/loops/nest.py`, which puts loops around such expressions.

Reading path, 4 of 12; next: `ir/ops/contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import is_
from typing import Union

from course_lib.ir.types import DType, bool_, f64, i64


@dataclass(frozen=True)
class Affine:
    """`sum(coefficient * variable) + const`. Terms are sorted and none is 0: equal means `==`."""

    terms: tuple[tuple[str, int], ...] = ()
    const: int = 0

    @staticmethod
    def var(name: str) -> Affine:
        return Affine(((name, 1),))

    @staticmethod
    def of(value: Index) -> Affine:
        if isinstance(value, Affine):
            return value
        return Affine.var(value) if isinstance(value, str) else Affine((), value)

    @staticmethod
    def sum(parts: Iterable[tuple[Affine, int]]) -> Affine:
        """Of indices times numbers."""
        total: dict[str, int] = {}
        const = 0
        for index, factor in parts:
            const += index.const * factor
            for var, coefficient in index.terms:
                total[var] = total.get(var, 0) + coefficient * factor
        return Affine(tuple(sorted([term for term in total.items() if term[1]])), const)

    def coefficient(self, var: str) -> int:
        for v, c in self.terms:
            if v == var:
                return c
        return 0

    @property
    def vars(self) -> tuple[str, ...]:
        return tuple(v for v, _ in self.terms)

    def __add__(self, other: Index) -> Affine:
        other = Affine.of(other)
        if not other.terms:
            return Affine(self.terms, self.const + other.const) if other.const else self
        if not self.terms:
            return Affine(other.terms, self.const + other.const)
        return Affine.sum(((self, 1), (other, 1)))

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        if factor == 1:
            return self
        terms = tuple((v, c * factor) for v, c in self.terms) if factor else ()
        return Affine(terms, self.const * factor)

    __rmul__ = __mul__

    def __sub__(self, other: Index) -> Affine:
        return self + Affine.of(other) * -1

    def substitute(self, values: Mapping[str, Affine]) -> Affine:
        """Replace variables, for example `i` by `16*io + ii` after a split."""
        if values.keys().isdisjoint(self.vars):
            return self
        kept = tuple([term for term in self.terms if term[0] not in values])
        moved = [(values[var], c) for var, c in self.terms if var in values]
        return Affine.sum([(Affine(kept, self.const), 1), *moved])

    def evaluate(self, values: Mapping[str, int]) -> int:
        total = self.const
        for v, c in self.terms:
            total += c * values[v]
        return total

    def __str__(self) -> str:
        parts = [f"{'-' * (c < 0)}{v}" if abs(c) == 1 else f"{c}*{v}" for v, c in self.terms]
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts).replace("+ -", "- ")

    __repr__ = __str__


Index = Union[Affine, str, int]


@dataclass(frozen=True)
class Const:
    """A literal."""

    value: float | int | bool
    dtype: DType


@dataclass(frozen=True)
class Load:
    """The element of `buffer` at `indices`. An index may itself be an expression (gather)."""

    buffer: str
    indices: Point
    dtype: DType


@dataclass(frozen=True)
class Iter:
    """The value of an affine index as an i64 number (iota, causal masks)."""

    index: Affine

    @property
    def dtype(self) -> DType:
        return i64


@dataclass(frozen=True)
class Call:
    """A scalar function of `scalar.SCALARS` applied to arguments."""

    fn: str
    args: tuple[Expr, ...]
    dtype: DType


Expr = Union[Const, Load, Iter, Call]
Point = tuple[Union[Affine, Expr], ...]  # an index for each axis of a buffer

_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf")


def call(fn: str, *args: Expr, dtype: DType | None = None) -> Expr:
    """`Call` with the usual result type: bool for comparisons, else that of the last argument."""
    if dtype is None:
        dtype = bool_ if fn in _COMPARE else args[-1].dtype
    return Call(fn, args, dtype)


def cast(value: Expr, dtype: DType) -> Expr:
    return value if value.dtype == dtype else Call("cast", (value,), dtype)


def literal(value: float | int | bool, dtype: DType = f64) -> Const:
    if dtype.is_float:
        return Const(float(value), dtype)
    return Const(bool(value) if dtype.kind == "bool" else int(value), dtype)


INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_LEVEL = {"add": 1, "sub": 1, "mul": 2, "div": 2}  # how tightly an operator binds


def print_expr(expr: Expr, level: int = 0) -> str:
    """An expression, with parentheses only where they are needed."""
    match expr:
        case Const(value, dtype):
            if dtype.name == "bool":
                return "true" if value else "false"
            plain = {"f32": float, "i64": int}.get(dtype.name)
            text = repr(value)
            return text if plain is not None else f"{text}:{dtype}"
        case Iter(index):
            return f"index({index})"
        case Load(buffer, indices, _):
            return f"{buffer}[{print_indices(indices)}]"
        case Call("cast", (arg,), dtype):
            return f"cast({print_expr(arg)}, {dtype})"
        case Call(fn, (a, b), _) if fn in INFIX:
            mine = _LEVEL[fn]
            text = f"{print_expr(a, mine)} {INFIX[fn]} {print_expr(b, mine + 1)}"
            return f"({text})" if mine < level else text
        case Call(fn, args, _):
            return f"{fn}({', '.join(print_expr(a) for a in args)})"
    raise AssertionError(expr)


def print_indices(indices: Point) -> str:
    return ", ".join(str(i) if isinstance(i, Affine) else print_expr(i) for i in indices)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Call(_, args, _):
            return args
        case Load(_, indices, _):
            return tuple(i for i in indices if not isinstance(i, Affine))
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it, outside first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def loads(expr: Expr) -> list[Load]:
    """Every memory read of the expression, in order."""
    return [e for e in walk(expr) if isinstance(e, Load)]


def transform(
    expr: Expr,
    index: Callable[[Affine], Affine] = lambda a: a,
    load: Callable[[Load], Expr] = lambda e: e,
) -> Expr:
    """Rebuild bottom-up, with every affine index and every load passed through a function. Where
    nothing changes, it is the same object."""
    match expr:
        case Iter(affine):
            return Iter(index(affine))
        case Call(fn, args, dtype):
            new = tuple([transform(arg, index, load) for arg in args])
            return expr if all(map(is_, new, args)) else Call(fn, new, dtype)
        case Load(buffer, indices, dtype):
            point = transform_point(indices, index, load)
            return load(expr if point is indices else Load(buffer, point, dtype))
    return expr


def transform_point(
    point: Point, index: Callable[[Affine], Affine], load: Callable[[Load], Expr]
) -> Point:
    """The same for the indices of an access."""
    new = tuple([index(i) if isinstance(i, Affine) else transform(i, index, load) for i in point])
    return point if all(map(is_, new, point)) else new


@dataclass(frozen=True)
class LoopForm:
    """One op as loops: what MLIR calls `linalg.generic`. The op table has one per op.

    domain   (variable, extent) of the parallel loops
    reduce   (variable, extent) of the loops that combine values; empty if there are none
    write    where the result goes in the output
    body     given `load(operand, *indices)`, the value at one point
    combine  scalar function that merges the points of `reduce`: "add", "mul", "max", "min".
             With `place`, each point is merged with what is there
    running  "" if all points of `reduce` make one result. "after" or "before" if each of them has
             its own: what has been combined up to it, with it or without it
    place    given `load`, where the result goes, if data decides that (scatter); not `write` then
    also     forms of the same domain, without `reduce`, whose results the same loops write
    """

    domain: tuple[tuple[str, int], ...]
    write: tuple[Affine, ...]
    body: Callable[[Callable[..., Expr]], Expr]
    reduce: tuple[tuple[str, int], ...] = ()
    combine: str = ""
    running: str = ""
    place: Callable[[Callable[..., Expr]], Point] | None = None
    also: tuple[LoopForm, ...] = ()
