"""What each scalar function becomes, for numbers and vectors alike: its word in `ir/scalar.py`.

    emit_scalar(b, "add", [x, y], [i32, i32], i32)     ->   add i32 %x, %y

A multiplication and an addition may be contracted (`a * b + c` becomes one fused instruction, but
not `mul_rounded(a, b) + c`), sums may be reassociated where the caller says so, and nothing else:
no step assumes that NaN or infinities do not happen. f16 computes everything in f32 and rounds each
result, whether or not the processor has instructions for f16. Next room: `floats.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from llvmlite import ir

from course_lib.ir.scalar import spelled
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
    """The instructions of one scalar function. `kinds` are the element types of `args`. ValueError
    if there is no such function of this type."""
    if fn == "select":
        return b.select(*args)
    if fn == "cast":
        return cast(b, args[0], kinds[0], result)
    if kinds[0] == f16:
        wide = [cast(b, a, f16, f32) for a in args]
        value = _emit(spelled(fn, "llvm", f32))(b, *wide)
        return cast(b, value, f32, f16) if result == f16 else value
    value = _emit(spelled(fn, "llvm", kinds[0]))(b, *args)
    if kinds[0].is_float and fn in ("add", "sub", "mul"):
        value.flags = list(REASSOCIATE if reassociate else CONTRACT)
    return value


@cache
def _emit(word: str) -> Emit:
    """What a word of the column `llvm` in `ir/scalar.py` means."""
    room, _, name = word.rpartition(".")
    if word.startswith("@"):  # an intrinsic: a function that LLVM knows
        return lambda b, *args: intrinsic(b, word[1:], *args)
    if room in ("floats", "integers"):  # more than one instruction: a function of that file
        return getattr(floats if room == "floats" else integers, name)
    if room == "libm":  # of the C library
        return library(name)
    if room in ("fcmp", "icmp"):
        return _compare(room, name)
    assert not room, f"`{word}` is no word for LLVM"
    instruction = f"{word}_" if word in ("and", "or", "not") else word  # words of Python, too
    return getattr(ir.IRBuilder, instruction)  # B.add(b, x, y) adds


def _compare(instruction: str, predicate: str) -> Emit:
    """An ordered comparison of floats (`olt`) is false where one of them is NaN, an unordered one
    (`une`) true; integers are compared with a sign (`slt`) or without (`ult`)."""
    sign = SIGNS[predicate[-2:]]
    if predicate in ("eq", "ne"):
        predicate = f"s{predicate}"
    compare = {
        "fcmp": {"o": ir.IRBuilder.fcmp_ordered, "u": ir.IRBuilder.fcmp_unordered},
        "icmp": {"s": ir.IRBuilder.icmp_signed, "u": ir.IRBuilder.icmp_unsigned},
    }[instruction][predicate[0]]
    return lambda b, *args: compare(b, sign, *args)


SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
