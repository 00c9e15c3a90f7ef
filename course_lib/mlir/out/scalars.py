"""What each scalar function of `ir/scalar.py` becomes in MLIR: operations of `arith` and `math`.

    scalar(w, "relu", [%x], [f32], f32)     ->     %c = arith.constant 0.0 : f32
                                                   %t0 = arith.cmpf ugt, %x, %c : f32
                                                   %t1 = arith.select %t0, %x, %c : f32

`arith` knows a sign for each operation and none for a type, so there is a column for each kind of
number, as in `llvm/scalars.py`. Integers are guarded where `arith` leaves the result open: x / 0,
the lowest / -1. Next room: `casts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from course_lib.ir.types import DType, f16, f32
from course_lib.mlir.out import integers
from course_lib.mlir.out.casts import cast
from course_lib.mlir.out.writer import Value, Writer

Emit = Callable[..., Value]  # (writer, *arguments) -> result


def scalar(
    w: Writer, fn: str, args: Sequence[Value], kinds: Sequence[DType], result: DType
) -> Value:
    """The operations of one scalar function. `kinds` are the element types of `args`.

    f16 is computed in f32 and rounded, as everywhere in this compiler. ValueError if there is no
    such function of this type.
    """
    if fn == "select":
        return w.select(args[0], args[1], args[2])
    if fn == "cast":
        return cast(w, args[0], kinds[0], result)
    if kinds[0] == f16:
        wide = [cast(w, a, f16, f32) for a in args]
        value = _row(fn, f32)(w, *wide)
        return cast(w, value, f32, f16) if result == f16 else value
    return _row(fn, kinds[0])(w, *args)


def _row(fn: str, dtype: DType) -> Emit:
    emit = getattr(ROWS[fn], dtype.kind)
    if emit is None:
        raise ValueError(f"MLIR: no operation for {fn} of {dtype}")
    return emit


class Row(NamedTuple):
    """The operations of a function for each kind of argument; None where it has no meaning."""

    float: Emit | None = None
    int: Emit | None = None
    uint: Emit | None = None
    bool: Emit | None = None


def _is(name: str) -> Emit:
    """A function that is one operation."""
    return lambda w, *args: w.op(name, *args)


def _arith(name: str) -> Row:
    """The same operation for all integers, and one for floats."""
    return Row(_is(f"arith.{name}f"), _is(f"arith.{name}i"), _is(f"arith.{name}i"))


def _compare(floats: str, signed: str, unsigned: str) -> Row:
    def row(predicate: str) -> Emit:
        return lambda w, a, b: w.compare(predicate, a, b)

    return Row(row(floats), row(signed), row(unsigned), row(unsigned))


def _relu(w: Writer, a: Value) -> Value:
    """Unordered: NaN stays; and -0.0 becomes 0.0, as in numpy."""
    zero = w.like(a, 0)
    return w.select(w.compare("ugt", a, zero), a, zero)


def _sign(w: Writer, a: Value) -> Value:
    """0 and NaN stay as they are."""
    zero = w.like(a, 0)
    positive = w.select(w.compare("ogt", a, zero), w.like(a, 1), a)
    return w.select(w.compare("olt", a, zero), w.like(a, -1), positive)


def _floor_mod(w: Writer, a: Value, divisor: Value) -> Value:
    """The remainder of C, moved by one divisor where the signs differ."""
    rest, zero = w.op("arith.remf", a, divisor), w.like(a, 0)
    signs = w.compare("olt", rest, zero), w.compare("olt", divisor, zero)
    wrong = w.op("arith.andi", w.op("arith.xori", *signs), w.compare("one", rest, zero))
    return w.select(wrong, w.op("arith.addf", rest, divisor), rest)


def _reciprocal(w: Writer, a: Value) -> Value:
    return w.op("arith.divf", w.like(a, 1), a)


def _rsqrt(w: Writer, a: Value) -> Value:
    return _reciprocal(w, w.op("math.sqrt", a))


def _sigmoid(w: Writer, a: Value) -> Value:
    e = w.op("math.exp", w.op("arith.negf", a))
    return _reciprocal(w, w.op("arith.addf", e, w.like(a, 1)))


def _isnan(w: Writer, a: Value) -> Value:
    return w.compare("uno", a, a)


def _isinf(w: Writer, a: Value) -> Value:
    """Twice an infinity is itself; of the other numbers only 0 is."""
    twice = w.compare("oeq", w.op("arith.addf", a, a), a)
    return w.op("arith.andi", twice, w.compare("one", a, w.like(a, 0)))


def _not(w: Writer, a: Value) -> Value:
    return w.op("arith.xori", a, w.constant("true", "i1"))


def _bit_not(w: Writer, a: Value) -> Value:
    return w.op("arith.xori", a, w.like(a, -1))


_FLOATS = {  # functions of floats that are one operation of `math`
    "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "erf": "erf",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "floor": "floor", "ceil": "ceil", "round": "roundeven",
}  # fmt: skip
_AND, _OR, _XOR = (_is(f"arith.{name}i") for name in ("and", "or", "xor"))
ROWS = {
    **{fn: Row(_is(f"math.{name}")) for fn, name in _FLOATS.items()},
    "add": _arith("add")._replace(bool=_OR),
    "sub": _arith("sub"),
    "mul": _arith("mul")._replace(bool=_AND),
    "div": Row(_is("arith.divf"), integers.div, integers.div_unsigned),
    "mod": Row(_floor_mod, integers.mod, integers.mod_unsigned),
    "fmod": Row(_is("arith.remf"), integers.fmod, integers.mod_unsigned),
    "pow": Row(_is("math.powf"), integers.power, integers.power_unsigned),
    "max": Row(_is("arith.maximumf"), _is("arith.maxsi"), _is("arith.maxui"), _OR),
    "min": Row(_is("arith.minimumf"), _is("arith.minsi"), _is("arith.minui"), _AND),
    "mul_rounded": Row(_is("arith.mulf")),
    "neg": Row(_is("arith.negf"), integers.neg),
    "abs": Row(_is("math.absf"), integers.absolute, integers.same),
    "sign": Row(_sign, integers.sign, integers.sign_unsigned),
    "relu": Row(_relu, integers.relu, integers.same),
    "rsqrt": Row(_rsqrt),
    "reciprocal": Row(_reciprocal),
    "sigmoid": Row(_sigmoid),
    "eq": _compare("oeq", "eq", "eq"),
    "ne": _compare("une", "ne", "ne"),
    "lt": _compare("olt", "slt", "ult"),
    "le": _compare("ole", "sle", "ule"),
    "gt": _compare("ogt", "sgt", "ugt"),
    "ge": _compare("oge", "sge", "uge"),
    "isnan": Row(_isnan),
    "isinf": Row(_isinf),
    "and": Row(bool=_AND),
    "or": Row(bool=_OR),
    "xor": Row(bool=_XOR),
    "not": Row(bool=_not),
    "bit_and": Row(None, _AND, _AND),
    "bit_or": Row(None, _OR, _OR),
    "bit_xor": Row(None, _XOR, _XOR),
    "bit_not": Row(None, _bit_not, _bit_not),
}
