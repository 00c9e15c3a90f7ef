"""What each scalar function of `ir/scalar.py` becomes: one row, for numbers and vectors alike.

    emit_scalar(b, "add", [x, y], [i32, i32], i32)     ->   add i32 %x, %y

A multiplication and an addition may be contracted (`a * b + c` becomes one fused instruction, but
not `mul_rounded(a, b) + c`), sums may be reassociated where the caller says so, and nothing else:
no step assumes that NaN or infinities do not happen. f16 computes everything in f32 and rounds each
result, whether or not the processor has instructions for f16. Next room: `floats.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llvmlite import ir

from course_lib.ir.types import DType, f16, f32
from course_lib.llvm import floats, integers
from course_lib.llvm.casts import cast
from course_lib.llvm.floats import library
from course_lib.llvm.values import intrinsic

CONTRACT = ("contract",)
REASSOCIATE = ("contract", "reassoc", "nsz")
Emit = Callable[..., ir.Value]  # (builder, *arguments) -> result


def emit_scalar(
    b: ir.IRBuilder,
    fn: str,
    args: Sequence[ir.Value],
    kinds: Sequence[DType],
    result: DType,
    reassociate: bool = False,
) -> ir.Value:
    """The instructions of one scalar function. `kinds` are the element types of `args`."""
    if fn == "select":
        return b.select(*args)
    if fn == "cast":
        return cast(b, args[0], kinds[0], result)
    if kinds[0] == f16:
        wide = [cast(b, a, f16, f32) for a in args]
        value = _row(fn, f32)(b, *wide)
        return cast(b, value, f32, f16) if result == f16 else value
    value = _row(fn, kinds[0])(b, *args)
    if kinds[0].is_float and fn in ("add", "sub", "mul"):
        value.flags = list(REASSOCIATE if reassociate else CONTRACT)
    return value


def _row(fn: str, dtype: DType) -> Emit:
    if fn not in ROWS:
        raise ValueError(f"no code for {fn}: it has no row in ROWS of llvm/scalars.py")
    emit = getattr(ROWS[fn], dtype.kind)
    if emit is None:
        raise ValueError(f"no code for {fn} of {dtype}")
    return emit


class Row(NamedTuple):
    """The code of a function for each kind of argument; None where it has no meaning."""

    float: Emit | None = None
    int: Emit | None = None
    uint: Emit | None = None
    bool: Emit | None = None


def _llvm(name: str) -> Emit:
    """An intrinsic: a function that LLVM knows."""
    return lambda b, *args: intrinsic(b, name, *args)


def _compare(sign: str, of_floats: Emit) -> Row:
    """An ordered comparison of floats is false where one of them is NaN, an unordered one true."""

    def row(emit: Emit) -> Emit:
        return lambda b, *args: emit(b, sign, *args)

    unsigned = row(B.icmp_unsigned)
    return Row(row(of_floats), row(B.icmp_signed), unsigned, unsigned)


B = ir.IRBuilder  # its methods are instructions: B.add(b, x, y) adds
ROWS = {
    "add": Row(B.fadd, B.add, B.add, B.or_),
    "sub": Row(B.fsub, B.sub, B.sub),
    "mul": Row(B.fmul, B.mul, B.mul, B.and_),
    "div": Row(B.fdiv, integers.div, integers.div_unsigned),
    "mod": Row(floats.floor_mod, integers.mod, integers.mod_unsigned),
    "fmod": Row(B.frem, integers.fmod, integers.mod_unsigned),
    "pow": Row(_llvm("pow"), integers.power, integers.power_unsigned),
    "max": Row(_llvm("maximum"), _llvm("smax"), _llvm("umax"), B.or_),
    "min": Row(_llvm("minimum"), _llvm("smin"), _llvm("umin"), B.and_),
    "mul_rounded": Row(B.fmul),
    "neg": Row(B.fneg, integers.neg),
    "abs": Row(_llvm("fabs"), integers.absolute, integers.same),
    "sign": Row(floats.sign, integers.sign, integers.sign_unsigned),
    "relu": Row(floats.relu, integers.relu, integers.same),
    "exp": Row(floats.exp),
    "log": Row(_llvm("log")),
    "sqrt": Row(_llvm("sqrt")),
    "rsqrt": Row(floats.rsqrt),
    "reciprocal": Row(floats.reciprocal),
    "sigmoid": Row(floats.sigmoid),
    "tanh": Row(floats.tanh),
    "erf": Row(floats.erf),
    "sin": Row(_llvm("sin")),
    "cos": Row(_llvm("cos")),
    "tan": Row(_llvm("tan")),
    "asin": Row(_llvm("asin")),
    "acos": Row(_llvm("acos")),
    "atan": Row(_llvm("atan")),
    "sinh": Row(_llvm("sinh")),
    "cosh": Row(_llvm("cosh")),
    "asinh": Row(library("asinh")),
    "acosh": Row(library("acosh")),
    "atanh": Row(library("atanh")),
    "floor": Row(_llvm("floor")),
    "ceil": Row(_llvm("ceil")),
    "round": Row(_llvm("roundeven")),
    "eq": _compare("==", B.fcmp_ordered),
    "ne": _compare("!=", B.fcmp_unordered),
    "lt": _compare("<", B.fcmp_ordered),
    "le": _compare("<=", B.fcmp_ordered),
    "gt": _compare(">", B.fcmp_ordered),
    "ge": _compare(">=", B.fcmp_ordered),
    "isnan": Row(floats.isnan),
    "isinf": Row(floats.isinf),
    "and": Row(bool=B.and_),
    "or": Row(bool=B.or_),
    "xor": Row(bool=B.xor),
    "not": Row(bool=B.not_),
    "bit_and": Row(None, B.and_, B.and_),
    "bit_or": Row(None, B.or_, B.or_),
    "bit_xor": Row(None, B.xor, B.xor),
    "bit_not": Row(None, B.not_, B.not_),
}
