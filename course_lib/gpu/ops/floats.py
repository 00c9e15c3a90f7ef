"""Arithmetic of floats and whole numbers: add to fma, and what is approximate on a card.

`.approx` functions are the nearest float32 here. A card's differ from that by what NVIDIA's manual
allows (2 units in the last place for ex2, rcp and rsqrt), so results may differ in the last digits
from those of a card. `.ftz` counts numbers below the smallest normal one as 0; `.sat` clamps to 0
and 1. Only rounding to the nearest is supported. Next room: `predicates.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ops import rounding
from course_lib.gpu.ops.integers import binary, product, quotient, unary
from course_lib.gpu.ops.row import OPS, Array, Meaning, only, op, refuse
from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.ptx.types import TYPES, Type

FLOATS = ("rn", "ftz", "sat", "approx", "full", "NaN")
Function = Callable[..., Array]


def floating(i: Instruction, count: int, function: Function, wide: Function | None = None
             ) -> Meaning:  # fmt: skip
    """An operation on floats of one type. `wide` is used for types that numpy computes in a wider
    one, where that is another function."""
    (type,) = i.types
    only(i, *FLOATS)
    return Meaning((type,) * count, type, _in_type(i, type, function, wide or function))


def _in_type(i: Instruction, type: Type, function: Function, wide: Function) -> Function:
    """The function for arrays as registers keep them: bfloat16 and pairs are bits there."""
    if type.name == "bf16":
        ends = _ends(i, lambda *xs: wide(*(x.astype(np.float64) for x in xs)))
        return lambda *xs: rounding.bf16(ends(*map(rounding.of_bf16, xs)))
    if type.name == "f16":
        return _ends(i, lambda *xs: wide(*(x.astype(np.float64) for x in xs)).astype(np.float16))
    if type.name in ("f16x2", "bf16x2"):
        half = TYPES[type.name[:-2]]
        one = _in_type(i, half, function, wide)

        def both(*xs: Array) -> Array:
            xs = tuple(np.broadcast_arrays(*xs))
            parts = [np.ascontiguousarray(x).view(np.uint16).reshape(*x.shape, 2) for x in xs]
            low, high = (one(*(p[..., k].copy().view(half.numpy) for p in parts)) for k in (0, 1))
            low, high = (np.ascontiguousarray(x).view(np.uint16).astype(np.uint32)
                         for x in (low, high))  # fmt: skip
            return low | (high << np.uint32(16))

        return both
    return _ends(i, function)


def _ends(i: Instruction, function: Function) -> Function:
    """With what .ftz and .sat do to operands and result."""
    if i.has("ftz"):
        inner = function
        function = lambda *xs: rounding.flushed(inner(*map(rounding.flushed, xs)))  # noqa: E731
    if i.has("sat"):
        unclamped = function
        function = lambda *xs: rounding.saturated(unclamped(*xs))  # noqa: E731
    return function


def _either(name: str, whole: Function, real: Function) -> None:
    """An operation that whole numbers and floats have alike."""

    @op(name)
    def build(i: Instruction) -> Meaning:
        if i.types[-1].is_float:
            return floating(i, 2, real)
        if i.has("sat"):
            return binary(i, _saturated(i.types[0], whole))
        only(i)
        return binary(i, whole)


def _saturated(type: Type, function: Function) -> Function:
    low, high = np.iinfo(type.numpy).min, np.iinfo(type.numpy).max
    return lambda a, b: np.clip(function(a.astype(np.int64), b.astype(np.int64)), low, high).astype(
        type.numpy
    )


def least(a: Array, b: Array) -> Array:
    """The smaller one that is a number; -0 is smaller than 0."""
    return np.where(a == b, np.where(np.signbit(a), a, b), np.fmin(a, b))


def largest(a: Array, b: Array) -> Array:
    return np.where(a == b, np.where(np.signbit(a), b, a), np.fmax(a, b))


def unless_nan(function: Function) -> Function:
    """.NaN: no number where one operand is none."""
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), a + b, function(a, b))


_either("add", np.add, np.add)
_either("sub", np.subtract, np.subtract)


@op("min")
def minimum(i: Instruction) -> Meaning:
    if not i.types[-1].is_float:
        return binary(i, np.minimum)
    return floating(i, 2, unless_nan(least) if i.has("NaN") else least)


@op("max")
def maximum(i: Instruction) -> Meaning:
    if not i.types[-1].is_float:
        return binary(i, np.maximum)
    return floating(i, 2, unless_nan(largest) if i.has("NaN") else largest)


@op("mul")
def mul(i: Instruction) -> Meaning:
    if i.types[-1].is_float:
        return floating(i, 2, np.multiply)
    wide, function = product(i)
    (type,) = i.types
    return Meaning((type, type), wide, function)


@op("mad")
def mad(i: Instruction) -> Meaning:
    if i.types[-1].is_float:
        return fma(i)
    wide, function = product(i)
    (type,) = i.types
    return Meaning((type, type, wide), wide, lambda a, b, c: function(a, b) + c)


@op("fma")
def fma(i: Instruction) -> Meaning:
    functions = {"f32": rounding.fma32, "f64": rounding.fma64}
    return floating(i, 3, functions.get(i.types[-1].name, rounding.fma_odd), rounding.fma_odd)


@op("div")
def div(i: Instruction) -> Meaning:
    if i.types[-1].is_float:
        return floating(i, 2, np.divide)
    return binary(i, quotient(i.types[0]))


@op("abs")
def absolute(i: Instruction) -> Meaning:
    return floating(i, 1, np.abs) if i.types[-1].is_float else unary(i, np.abs)


@op("neg")
def neg(i: Instruction) -> Meaning:
    return floating(i, 1, np.negative) if i.types[-1].is_float else unary(i, np.negative)


def _function(name: str, function: Function) -> None:
    """A function of one float32 or float64, computed in float64 and rounded."""

    @op(name)
    def build(i: Instruction) -> Meaning:
        def rounded(x: Array) -> Array:
            return function(x.astype(np.float64)).astype(x.dtype)

        return floating(i, 1, rounded)


for _name, _of in {
    "sqrt": np.sqrt, "ex2": np.exp2, "lg2": np.log2, "sin": np.sin, "cos": np.cos,
    "tanh": np.tanh, "rcp": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x),
}.items():  # fmt: skip
    _function(_name, _of)


@op("copysign")
def copysign(i: Instruction) -> Meaning:
    return floating(i, 2, lambda a, b: np.copysign(b, a))


@op("testp")
def testp(i: Instruction) -> Meaning:
    """Is it finite, infinite, a number, not a number, normal, subnormal?"""
    (type,) = i.types
    tiny = np.finfo(type.numpy).tiny
    tests = {
        "finite": np.isfinite, "infinite": np.isinf, "number": lambda x: ~np.isnan(x),
        "notanumber": np.isnan, "normal": lambda x: np.isfinite(x) & (np.abs(x) >= tiny),
        "subnormal": lambda x: (np.abs(x) < tiny) & (x != 0),
    }  # fmt: skip
    (name,) = i.modifiers
    if name not in tests:
        raise refuse(i)
    return Meaning((type,), TYPES["pred"], tests[name])


assert "add" in OPS
