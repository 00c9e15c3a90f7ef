"""`cast`: a number as another element type. What it means says `convert` in `ir/scalar.py`.

    cast(w, %x, f32, f64)     ->     arith.extf %x : f32 to f64
    cast(w, %x, f32, i8)      ->     arith.fptosi inside -128 .. 127, and the limits beyond

`arith.fptosi` leaves open what becomes of a float that no such integer holds; here NaN becomes 0
and the others the nearest limit. Next room: `integers.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.ir.types import DType, bool_, f16, f32
from course_lib.mlir.out.writer import Value, Writer, element, number


def cast(w: Writer, value: Value, old: DType, new: DType) -> Value:
    """The operations that turn a value of type `old` into type `new`."""
    if old == new:
        return value
    if f16 in (old, new) and not (old.is_float and new.is_float):
        return cast(w, cast(w, value, old, f32), f32, new)  # f32 holds all numbers of f16
    if new == bool_:
        return w.compare("une" if old.is_float else "ne", value, w.like(value, 0))
    target = element(new)
    if old.is_float and new.is_float:
        return w.op("arith.extf" if new.size > old.size else "arith.truncf", value, result=target)
    if old.is_float:
        return _saturated(w, value, old, new)
    signed = old.kind == "int"
    if new.is_float:
        return w.op("arith.sitofp" if signed else "arith.uitofp", value, result=target)
    if old == bool_ or new.size > old.size:
        return w.op("arith.extsi" if signed else "arith.extui", value, result=target)
    return w.op("arith.trunci", value, result=target) if new.size < old.size else value


def _saturated(w: Writer, value: Value, old: DType, new: DType) -> Value:
    """Truncated towards zero if that is a number of the type, else its nearest limit; NaN is 0."""
    limits, target = np.iinfo(new.numpy), element(new)
    low, high = (w.constant(number(n, old), value.type) for n in (limits.min, limits.max))
    inside = w.op("arith.andi", w.compare("ogt", value, low), w.compare("olt", value, high))
    safe = w.select(inside, value, w.like(value, 0))
    name = "arith.fptosi" if new.kind == "int" else "arith.fptoui"
    whole = w.op(name, safe, result=target)
    least, most = (w.constant(str(n), target) for n in (limits.min, limits.max))
    whole = w.select(w.compare("ole", value, low), least, whole)
    return w.select(w.compare("oge", value, high), most, whole)
