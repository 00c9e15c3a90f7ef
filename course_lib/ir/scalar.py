"""The scalar functions: one row gives a name its meaning, and what it is called at each level.

    SCALARS["mul"].numpy(2.0, 3.0)  ->  6.0
    spelled("mul", "llvm", f32)     ->  "fmul"        an instruction
    spelled("mul", "mlir", f32)     ->  "mulf"        an operation of arith
    spelled("mul", "cpp", f32)      ->  "*"

Level 1 applies these functions to whole arrays (`ops/elementwise.py`), level 2 to one element at a
time (`expr.Call`). What turns them into code looks up here what to write: `llvm/scalars.py`,
`mlir/out/scalars.py` and `loops/cpp.py` each say what their words mean. Next room: `expr.py`.
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
    llvm     what it becomes there, a word for each kind of `KINDS`: "fadd add add or"; a dot, or
             nothing at the end, where it has no meaning
    mlir     the same for MLIR
    cpp      the operator or function of C++, for floats
    """

    name: str
    arity: int
    numpy: Callable[..., Any]
    doc: str
    result: str = "same"
    accepts: tuple[str, ...] = ("float", "int", "uint")
    flops: int = 1
    llvm: str = ""
    mlir: str = ""
    cpp: str = ""


KINDS: tuple[str, ...] = ("float", "int", "uint", "bool")  # in the order of a row's words
LEVELS = {"llvm": "LLVM", "mlir": "MLIR", "cpp": "C++"}
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
    Scalar("add", 2, np.add, "a + b",
           llvm="fadd add add or", mlir="addf addi addi ori", cpp="+"),
    Scalar("sub", 2, np.subtract, "a - b",
           llvm="fsub sub sub", mlir="subf subi subi", cpp="-"),
    Scalar("mul", 2, np.multiply, "a * b",
           llvm="fmul mul mul and", mlir="mulf muli muli andi", cpp="*"),
    Scalar("div", 2, _divide, "a / b; integers truncate towards zero",
           llvm="fdiv integers.div integers.div_unsigned",
           mlir="divf integers.div integers.div_unsigned", cpp="/"),
    Scalar("mod", 2, np.mod, "remainder with the sign of b, as in Python",
           llvm="floats.floor_mod integers.mod integers.mod_unsigned",
           mlir="floats.floor_mod integers.mod integers.mod_unsigned"),
    Scalar("fmod", 2, np.fmod, "remainder with the sign of a, as in C",
           llvm="frem integers.fmod integers.mod_unsigned",
           mlir="remf integers.fmod integers.mod_unsigned", cpp="std::fmod"),
    Scalar("pow", 2, _power, "a to the power b",
           llvm="@pow integers.power integers.power_unsigned",
           mlir="math.powf integers.power integers.power_unsigned", cpp="std::pow"),
    Scalar("max", 2, np.maximum, "the larger one; NaN if either is NaN",
           llvm="@maximum @smax @umax or", mlir="maximumf maxsi maxui ori", cpp="std::fmax"),
    Scalar("min", 2, np.minimum, "the smaller one; NaN if either is NaN",
           llvm="@minimum @smin @umin and", mlir="minimumf minsi minui andi", cpp="std::fmin"),
    Scalar("mul_rounded", 2, np.multiply, "a * b, never one step with an addition", accepts=FLOAT,
           llvm="fmul", mlir="mulf"),
    Scalar("neg", 1, np.negative, "-a", accepts=("float", "int"),
           llvm="fneg integers.neg", mlir="negf integers.neg", cpp="-"),
    Scalar("abs", 1, np.abs, "|a|",
           llvm="@fabs integers.absolute integers.same",
           mlir="math.absf integers.absolute integers.same", cpp="std::fabs"),
    Scalar("sign", 1, np.sign, "-1, 0 or 1",
           llvm="floats.sign integers.sign integers.sign_unsigned",
           mlir="floats.sign integers.sign integers.sign_unsigned"),
    Scalar("relu", 1, lambda a: np.maximum(a, np.zeros((), np.asarray(a).dtype)), "max(a, 0)",
           llvm="floats.relu integers.relu integers.same",
           mlir="floats.relu integers.relu integers.same"),
    Scalar("exp", 1, np.exp, "e to the power a", accepts=FLOAT,
           llvm="floats.exp", mlir="math.exp", cpp="std::exp"),
    Scalar("log", 1, np.log, "natural logarithm", accepts=FLOAT,
           llvm="@log", mlir="math.log", cpp="std::log"),
    Scalar("sqrt", 1, np.sqrt, "square root", accepts=FLOAT,
           llvm="@sqrt", mlir="math.sqrt", cpp="std::sqrt"),
    Scalar("rsqrt", 1, lambda a: 1 / np.sqrt(a), "1 / sqrt(a)", accepts=FLOAT, flops=2,
           llvm="floats.rsqrt", mlir="floats.rsqrt"),
    Scalar("reciprocal", 1, lambda a: 1 / a, "1 / a", accepts=FLOAT,
           llvm="floats.reciprocal", mlir="floats.reciprocal"),
    Scalar("sigmoid", 1, _sigmoid, "1 / (1 + exp(-a))", accepts=FLOAT, flops=3,
           llvm="floats.sigmoid", mlir="floats.sigmoid"),
    Scalar("tanh", 1, np.tanh, "hyperbolic tangent", accepts=FLOAT,
           llvm="floats.tanh", mlir="math.tanh", cpp="std::tanh"),
    Scalar("erf", 1, _erf, "the error function", accepts=FLOAT,
           llvm="floats.erf", mlir="math.erf", cpp="std::erf"),
    Scalar("sin", 1, np.sin, "sine", accepts=FLOAT,
           llvm="@sin", mlir="math.sin", cpp="std::sin"),
    Scalar("cos", 1, np.cos, "cosine", accepts=FLOAT,
           llvm="@cos", mlir="math.cos", cpp="std::cos"),
    Scalar("tan", 1, np.tan, "tangent", accepts=FLOAT,
           llvm="@tan", mlir="math.tan", cpp="std::tan"),
    Scalar("asin", 1, np.arcsin, "arc sine", accepts=FLOAT,
           llvm="@asin", mlir="math.asin", cpp="std::asin"),
    Scalar("acos", 1, np.arccos, "arc cosine", accepts=FLOAT,
           llvm="@acos", mlir="math.acos", cpp="std::acos"),
    Scalar("atan", 1, np.arctan, "arc tangent", accepts=FLOAT,
           llvm="@atan", mlir="math.atan", cpp="std::atan"),
    Scalar("sinh", 1, np.sinh, "hyperbolic sine", accepts=FLOAT,
           llvm="@sinh", mlir="math.sinh", cpp="std::sinh"),
    Scalar("cosh", 1, np.cosh, "hyperbolic cosine", accepts=FLOAT,
           llvm="@cosh", mlir="math.cosh", cpp="std::cosh"),
    Scalar("asinh", 1, np.arcsinh, "inverse hyperbolic sine", accepts=FLOAT,
           llvm="libm.asinh", mlir="math.asinh", cpp="std::asinh"),
    Scalar("acosh", 1, np.arccosh, "inverse hyperbolic cosine", accepts=FLOAT,
           llvm="libm.acosh", mlir="math.acosh", cpp="std::acosh"),
    Scalar("atanh", 1, np.arctanh, "inverse hyperbolic tangent", accepts=FLOAT,
           llvm="libm.atanh", mlir="math.atanh", cpp="std::atanh"),
    Scalar("floor", 1, np.floor, "largest whole number <= a", accepts=FLOAT,
           llvm="@floor", mlir="math.floor", cpp="std::floor"),
    Scalar("ceil", 1, np.ceil, "smallest whole number >= a", accepts=FLOAT,
           llvm="@ceil", mlir="math.ceil", cpp="std::ceil"),
    Scalar("round", 1, np.rint, "nearest whole number, halves to even", accepts=FLOAT,
           llvm="@roundeven", mlir="math.roundeven", cpp="std::nearbyint"),
    Scalar("eq", 2, np.equal, "a == b", "bool", ANY,
           llvm="fcmp.oeq icmp.eq icmp.eq icmp.eq", mlir="cmpf.oeq cmpi.eq cmpi.eq cmpi.eq"),
    Scalar("ne", 2, np.not_equal, "a != b", "bool", ANY,
           llvm="fcmp.une icmp.ne icmp.ne icmp.ne", mlir="cmpf.une cmpi.ne cmpi.ne cmpi.ne"),
    Scalar("lt", 2, np.less, "a < b", "bool", ANY,
           llvm="fcmp.olt icmp.slt icmp.ult icmp.ult", mlir="cmpf.olt cmpi.slt cmpi.ult cmpi.ult"),
    Scalar("le", 2, np.less_equal, "a <= b", "bool", ANY,
           llvm="fcmp.ole icmp.sle icmp.ule icmp.ule", mlir="cmpf.ole cmpi.sle cmpi.ule cmpi.ule"),
    Scalar("gt", 2, np.greater, "a > b", "bool", ANY,
           llvm="fcmp.ogt icmp.sgt icmp.ugt icmp.ugt", mlir="cmpf.ogt cmpi.sgt cmpi.ugt cmpi.ugt"),
    Scalar("ge", 2, np.greater_equal, "a >= b", "bool", ANY,
           llvm="fcmp.oge icmp.sge icmp.uge icmp.uge", mlir="cmpf.oge cmpi.sge cmpi.uge cmpi.uge"),
    Scalar("isnan", 1, np.isnan, "is a not a number?", "bool", FLOAT,
           llvm="floats.isnan", mlir="floats.isnan"),
    Scalar("isinf", 1, np.isinf, "is a infinite?", "bool", FLOAT,
           llvm="floats.isinf", mlir="floats.isinf"),
    Scalar("and", 2, np.logical_and, "both", accepts=LOGIC, flops=0,
           llvm=". . . and", mlir=". . . andi"),
    Scalar("or", 2, np.logical_or, "at least one", accepts=LOGIC, flops=0,
           llvm=". . . or", mlir=". . . ori"),
    Scalar("xor", 2, np.logical_xor, "exactly one", accepts=LOGIC, flops=0,
           llvm=". . . xor", mlir=". . . xori"),
    Scalar("not", 1, np.logical_not, "the opposite", accepts=LOGIC, flops=0,
           llvm=". . . not", mlir=". . . integers.not_bool"),
    Scalar("bit_and", 2, np.bitwise_and, "bitwise and", accepts=INTEGER, flops=0,
           llvm=". and and", mlir=". andi andi"),
    Scalar("bit_or", 2, np.bitwise_or, "bitwise or", accepts=INTEGER, flops=0,
           llvm=". or or", mlir=". ori ori"),
    Scalar("bit_xor", 2, np.bitwise_xor, "bitwise exclusive or", accepts=INTEGER, flops=0,
           llvm=". xor xor", mlir=". xori xori"),
    Scalar("bit_not", 1, np.bitwise_not, "bitwise complement", accepts=INTEGER, flops=0,
           llvm=". not not", mlir=". integers.not_bits integers.not_bits"),
]  # fmt: skip
SCALARS: dict[str, Scalar] = {row.name: row for row in _ROWS}


def spelled(fn: str, level: str, dtype: DType) -> str:
    """What a function of these elements is called at a level. ValueError if it has no row, or its
    row no such word."""
    if fn not in SCALARS:
        raise ValueError(f"no {LEVELS[level]} for {fn}: it has no row in ir/scalar.py")
    words = getattr(SCALARS[fn], level).split()
    if not words:
        raise ValueError(f"no {LEVELS[level]} for {fn}: its row in ir/scalar.py has no `{level}`")
    word = dict(zip(KINDS, words, strict=False)).get(dtype.kind, ".")
    if word == ".":
        raise ValueError(f"no {LEVELS[level]} for {fn} of {dtype}")
    return word


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
