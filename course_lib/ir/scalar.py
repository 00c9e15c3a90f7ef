"""The scalar functions: one row gives a name its meaning, for both levels of the IR.

    SCALARS["mul"].numpy(2.0, 3.0)  ->  6.0

Level 1 applies these functions to whole arrays (`ops/elementwise.py`), level 2 to one element at a
time (`expr.Call`); the code generator has one case for each (`llvm/scalars.py`). Next room:
`expr.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.ir.types import DType, f16, f32


@dataclass(frozen=True)
class Scalar:
    """A scalar function.

    arity    how many arguments
    numpy    its meaning, on numpy scalars and arrays alike
    result   "same" as the arguments, or "bool"
    accepts  kinds of element types that it is defined for
    doc      one line for people
    flops    how many floating-point operations we count for it
    """

    name: str
    arity: int
    numpy: Callable[..., Any]
    doc: str
    result: str = "same"
    accepts: tuple[str, ...] = ("float", "int", "uint")
    flops: int = 1


FLOAT = ("float",)
LOGIC = ("bool",)
ANY = ("float", "int", "uint", "bool")
INTEGER = ("int", "uint")


def _divide(a: Any, b: Any) -> Any:
    """Integers truncate towards zero, as in C and ONNX, and not downwards as in Python."""
    if np.issubdtype(np.result_type(a, b), np.floating):
        return np.divide(a, b)
    with np.errstate(divide="ignore"):
        quotient, rest = np.divmod(a, b)
    return (quotient + ((rest != 0) & ((a < 0) != (b < 0)))).astype(np.result_type(a, b))


def _power(a: Any, b: Any) -> Any:
    """Integers wrap around; a negative power is 1 / a**|b|, truncated: 0 unless a is 1 or -1."""
    if np.result_type(a, b).kind != "i":
        # for a single exponent, numpy takes a shortcut by which -inf to the power 0.5 is NaN
        base, exponent = np.broadcast_arrays(*np.atleast_1d(a, b))
        return np.power(base, exponent.copy()).reshape(np.broadcast(a, b).shape)
    positive = np.power(a, np.where(b < 0, 0, b))
    unit = np.where(np.asarray(b) % 2 == 0, np.multiply(a, a), a)
    return np.where(b < 0, np.where(np.abs(a) == 1, unit, 0), positive).astype(positive.dtype)


def _erf(a: Any) -> Any:
    a = np.asarray(a)
    values = np.fromiter(map(math.erf, a.ravel().tolist()), np.float64, a.size)
    return values.reshape(a.shape).astype(a.dtype)


def _sigmoid(a: Any) -> Any:
    """Written with exp(-|a|), which cannot overflow."""
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1 / (1 + e), e / (1 + e)).astype(np.asarray(a).dtype)


_ROWS = [
    Scalar("add", 2, np.add, "a + b"),
    Scalar("sub", 2, np.subtract, "a - b"),
    Scalar("mul", 2, np.multiply, "a * b"),
    Scalar("div", 2, _divide, "a / b; integers truncate towards zero"),
    Scalar("mod", 2, np.mod, "remainder with the sign of b, as in Python"),
    Scalar("fmod", 2, np.fmod, "remainder with the sign of a, as in C"),
    Scalar("pow", 2, _power, "a to the power b"),
    Scalar("max", 2, np.maximum, "the larger one; NaN if either is NaN"),
    Scalar("min", 2, np.minimum, "the smaller one; NaN if either is NaN"),
    Scalar("mul_rounded", 2, np.multiply, "a * b, never one step with an addition", accepts=FLOAT),
    Scalar("neg", 1, np.negative, "-a", accepts=("float", "int")),
    Scalar("abs", 1, np.abs, "|a|"),
    Scalar("sign", 1, np.sign, "-1, 0 or 1"),
    Scalar("relu", 1, lambda a: np.maximum(a, np.zeros((), np.asarray(a).dtype)), "max(a, 0)"),
    Scalar("exp", 1, np.exp, "e to the power a", accepts=FLOAT),
    Scalar("log", 1, np.log, "natural logarithm", accepts=FLOAT),
    Scalar("sqrt", 1, np.sqrt, "square root", accepts=FLOAT),
    Scalar("rsqrt", 1, lambda a: 1 / np.sqrt(a), "1 / sqrt(a)", accepts=FLOAT, flops=2),
    Scalar("reciprocal", 1, lambda a: 1 / a, "1 / a", accepts=FLOAT),
    Scalar("sigmoid", 1, _sigmoid, "1 / (1 + exp(-a))", accepts=FLOAT, flops=3),
    Scalar("tanh", 1, np.tanh, "hyperbolic tangent", accepts=FLOAT),
    Scalar("erf", 1, _erf, "the error function", accepts=FLOAT),
    Scalar("sin", 1, np.sin, "sine", accepts=FLOAT),
    Scalar("cos", 1, np.cos, "cosine", accepts=FLOAT),
    Scalar("tan", 1, np.tan, "tangent", accepts=FLOAT),
    Scalar("asin", 1, np.arcsin, "arc sine", accepts=FLOAT),
    Scalar("acos", 1, np.arccos, "arc cosine", accepts=FLOAT),
    Scalar("atan", 1, np.arctan, "arc tangent", accepts=FLOAT),
    Scalar("sinh", 1, np.sinh, "hyperbolic sine", accepts=FLOAT),
    Scalar("cosh", 1, np.cosh, "hyperbolic cosine", accepts=FLOAT),
    Scalar("asinh", 1, np.arcsinh, "inverse hyperbolic sine", accepts=FLOAT),
    Scalar("acosh", 1, np.arccosh, "inverse hyperbolic cosine", accepts=FLOAT),
    Scalar("atanh", 1, np.arctanh, "inverse hyperbolic tangent", accepts=FLOAT),
    Scalar("floor", 1, np.floor, "largest whole number <= a", accepts=FLOAT),
    Scalar("ceil", 1, np.ceil, "smallest whole number >= a", accepts=FLOAT),
    Scalar("round", 1, np.rint, "nearest whole number, halves to even", accepts=FLOAT),
    Scalar("eq", 2, np.equal, "a == b", "bool", ANY),
    Scalar("ne", 2, np.not_equal, "a != b", "bool", ANY),
    Scalar("lt", 2, np.less, "a < b", "bool", ANY),
    Scalar("le", 2, np.less_equal, "a <= b", "bool", ANY),
    Scalar("gt", 2, np.greater, "a > b", "bool", ANY),
    Scalar("ge", 2, np.greater_equal, "a >= b", "bool", ANY),
    Scalar("isnan", 1, np.isnan, "is a not a number?", "bool", FLOAT),
    Scalar("isinf", 1, np.isinf, "is a infinite?", "bool", FLOAT),
    Scalar("and", 2, np.logical_and, "both", accepts=LOGIC, flops=0),
    Scalar("or", 2, np.logical_or, "at least one", accepts=LOGIC, flops=0),
    Scalar("xor", 2, np.logical_xor, "exactly one", accepts=LOGIC, flops=0),
    Scalar("not", 1, np.logical_not, "the opposite", accepts=LOGIC, flops=0),
    Scalar("bit_and", 2, np.bitwise_and, "bitwise and", accepts=INTEGER, flops=0),
    Scalar("bit_or", 2, np.bitwise_or, "bitwise or", accepts=INTEGER, flops=0),
    Scalar("bit_xor", 2, np.bitwise_xor, "bitwise exclusive or", accepts=INTEGER, flops=0),
    Scalar("bit_not", 1, np.bitwise_not, "bitwise complement", accepts=INTEGER, flops=0),
]
SCALARS: dict[str, Scalar] = {row.name: row for row in _ROWS}


# `select(condition, a, b)` and `cast(a)` take mixed types; their rows are in ops/elementwise.py.
def convert(a: Any, new: DType) -> Any:
    """Each number as the other element type. Floats truncate towards zero; one that is beyond the
    integers of the type becomes the nearest of them, and NaN becomes 0."""
    a = np.asarray(a)
    if a.dtype.kind != "f" or new.kind not in ("int", "uint"):
        return a.astype(new.numpy)
    limits = np.iinfo(new.numpy)
    low, high = a.dtype.type(limits.min), a.dtype.type(limits.max)  # may round, or be infinite
    whole = np.where((a > low) & (a < high), a, 0).astype(new.numpy)
    whole[a <= low], whole[a >= high] = limits.min, limits.max
    return whole


def identity(combine: str, dtype: DType) -> float | int | bool:
    """What changes nothing when combined: 0 for add, 1 for mul, an extreme for max and min."""
    if combine in ("add", "mul"):
        return 0 if combine == "add" else 1
    if dtype.is_float:
        return -math.inf if combine == "max" else math.inf
    if dtype.kind == "bool":
        return combine == "min"
    limits = np.iinfo(dtype.numpy)
    return int(limits.min if combine == "max" else limits.max)


def accumulator(dtype: DType) -> DType:
    """What sums of a type are kept in: f32 for f16, which would lose every digit soon."""
    return f32 if dtype == f16 else dtype
