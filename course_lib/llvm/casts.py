"""`cast`: a number as another element type. What it means says `convert` in `ir/scalar.py`.

    cast(b, %x, f32, i8)     ->  call i8 @llvm.fptosi.sat.i8.f32(float %x)     // 300.0 -> 127
    cast(b, %x, f16, i8)     ->  fpext half %x to float, then the same

Processors differ in what they can do with f16. Every conversion from and to it goes through f32,
which holds all of its numbers, so that the result is the same on all of them. Next room:
`approx.py`.
"""

from __future__ import annotations

from llvmlite import ir

from course_lib.ir.types import DType, bool_, f16, f32, f64
from course_lib.llvm.values import (
    F32,
    I32,
    call,
    intrinsic,
    like,
    mangled,
    register_type,
    with_lanes,
)


def cast(b: ir.IRBuilder, value: ir.Value, old: DType, new: DType) -> ir.Value:
    """The instructions that turn a value (or each lane of it) of type `old` into type `new`."""
    if old == new:
        return value
    if f16 in (old, new) and f32 not in (old, new):
        middle = _to_odd(b, value) if old == f64 else cast(b, value, old, f32)
        return cast(b, middle, f32, new)
    target = with_lanes(register_type(new), value)
    if new == bool_:
        zero = like(value, 0)
        return (b.fcmp_unordered if old.is_float else b.icmp_unsigned)("!=", value, zero)
    if old.is_float and new.is_float:
        return b.fpext(value, target) if new.size > old.size else b.fptrunc(value, target)
    if old.is_float:  # saturating: out of range has no meaning in C, here it has one
        name = "fptosi.sat" if new.kind == "int" else "fptoui.sat"
        return call(b, f"llvm.{name}.{mangled(target)}.{mangled(value.type)}", [value], target)
    if new.is_float:
        return b.sitofp(value, target) if old.kind == "int" else b.uitofp(value, target)
    if old == bool_ or new.size > old.size:
        return b.sext(value, target) if old.kind == "int" else b.zext(value, target)
    return b.trunc(value, target) if new.size < old.size else value


def _to_odd(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """f64 -> f32, ready for another rounding to f16.

    Rounding twice may go wrong where the first result lies halfway between two f16. So what is not
    exact here becomes the neighbour whose last bit is 1, which is never halfway (round to odd).
    """
    narrow = b.fptrunc(value, with_lanes(F32, value))
    back = b.fpext(narrow, value.type)
    bits = b.bitcast(narrow, with_lanes(I32, value))
    size, before = intrinsic(b, "fabs", back), intrinsic(b, "fabs", value)
    truncated = b.select(b.fcmp_ordered(">", size, before), b.sub(bits, like(bits, 1)), bits)
    exact = b.fcmp_unordered("==", back, value)  # or NaN
    return b.bitcast(b.select(exact, bits, b.or_(truncated, like(bits, 1))), narrow.type)
