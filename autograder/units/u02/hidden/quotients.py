"""Expressions for the hidden check of strength: divisions, powers, remainders, and what is near.

Next room: movement.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.units.u02.hidden.expressions import applied, filled, some
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.types import dtype

DIVISORS = (1.0, -1.0, 2.0, -0.5, 4096.0, 3.0, 10.0, 0.0, np.inf, np.nan)
POWERS = (2.0, 0.5, -0.5, -1.0, 1.0, 3.0, 0.0, -2.0, 1.5)


def quotients(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Divisions, powers and remainders, of numbers that may be negative and others."""
    if not dtype(kind).is_float:
        yield from _of_integers(kind, x)
        return
    yield from _by_constants(kind, x)
    yield from _of_expressions(kind, x, y)
    yield from _near_them(kind, x, y)


def _of_integers(kind: str, x: Node) -> Iterator[Node]:
    for op in ("mod", "fmod", "div", "mul", "pow"):
        for number in (1, 2, 3, 8, 6, 64, -8, -1):
            for shape in ((), x.type.dims):
                c = filled(number, kind, shape)
                yield from [] if c is None else some(applied(op, x, c))
    mixed = np.resize(np.array([1, 2, 4, 16]), x.type.dims).astype(dtype(kind).numpy)
    yield from some(applied("mod", x, const(mixed)))
    yield from some(applied("mod", x, const(mixed + mixed.dtype.type(1))))


def _by_constants(kind: str, x: Node) -> Iterator[Node]:
    tiny = float(np.finfo(dtype(kind).numpy).tiny)
    mixed = np.resize(np.array([0.5, -2.0, 4.0]), x.type.dims)
    with np.errstate(all="ignore"):
        numbers = (*DIVISORS, tiny, 1 / tiny, tiny / 2, mixed, mixed + 1)
        constants = [_constant(number, kind) for number in numbers]
        constants += [filled(number, kind, x.type.dims) for number in (2.0, 5.0)]
    for c in constants:
        yield from (apply(op, x, c) for op in ("div", "mul", "mod", "fmod"))


def _of_expressions(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Powers of, and divisions by, values of which one may know the sign."""
    unary = ("abs", "relu", "exp", "sqrt", "sigmoid", "neg", "rsqrt")
    ax, ay = apply("abs", x), apply("abs", y)
    inner = [x, y, *(apply(op, x) for op in unary), x * x, x * y, x + ax, ax + ay, -ax]
    inner += [apply("max", x, filled(number, kind, ())) for number in (2, 0)]
    for value in inner:
        for power in POWERS:
            yield apply("pow", value, _constant(power, kind))
        for top in (filled(1, kind, ()), x, filled(2, kind, ())):
            yield apply("div", top, value)
            yield apply("div", top, apply("sqrt", value))


def _near_them(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """What looks as if a line of the list could be stretched to it."""
    sqrt, reciprocal = apply("sqrt", x), apply("reciprocal", x)
    yield from (apply("reciprocal", sqrt), apply("reciprocal", reciprocal), y * reciprocal)
    yield from (x * apply("rsqrt", y), sqrt * sqrt, sqrt * apply("sqrt", y))
    yield from ((x / y) / x, x / (y / x), (x / y) * y, x / (x * y), (x * y) / y)
    yield from (apply("pow", x, _constant(power, kind)) for power in (4.0, -3.0, 2.5))
    yield from (x + x, x - x, x * y, x * x * x, apply("neg", apply("neg", x)))


def _constant(number: object, kind: str) -> Node:
    return const(np.asarray(number, dtype(kind).numpy))
