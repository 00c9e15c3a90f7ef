"""Scalar functions of f32 and f64 that are more than one instruction.

    relu(b, %x)     ->  %c = fcmp ugt float %x, 0.0
                        select i1 %c, float %x, float 0.0

exp, tanh and erf of f32 are short polynomials (`approx.py`), so that loops over them vectorize;
those of f64, and the other transcendental functions, are the C library's. Next room: `integers.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from course_lib.llvm import approx
from course_lib.llvm.values import F32, I32, call, element, intrinsic, like

Emit = Callable[..., ir.Value]  # (builder, *arguments) -> result


def relu(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Unordered: NaN stays; and -0.0 becomes 0.0, as in numpy."""
    return b.select(b.fcmp_unordered(">", a, like(a, 0.0)), a, like(a, 0.0))


def sign(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """0 and NaN stay as they are."""
    positive = b.select(b.fcmp_ordered(">", a, like(a, 0.0)), like(a, 1.0), a)
    return b.select(b.fcmp_ordered("<", a, like(a, 0.0)), like(a, -1.0), positive)


def floor_mod(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    """The remainder of C, moved by one divisor where the signs differ."""
    rest, zero = b.frem(a, divisor), like(a, 0.0)
    differ = b.xor(b.fcmp_ordered("<", rest, zero), b.fcmp_ordered("<", divisor, zero))
    wrong = b.and_(differ, b.fcmp_ordered("!=", rest, zero))
    return b.select(wrong, b.fadd(rest, divisor), rest)


def reciprocal(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return b.fdiv(like(a, 1.0), a)


def rsqrt(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return reciprocal(b, intrinsic(b, "sqrt", a))


def exp(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return approx.exp(b, a) if element(a.type) == F32 else intrinsic(b, "exp", a)


def tanh(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return approx.tanh(b, a) if element(a.type) == F32 else intrinsic(b, "tanh", a)


def erf(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return approx.erf(b, a) if element(a.type) == F32 else library("erf")(b, a)


def sigmoid(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return reciprocal(b, b.fadd(exp(b, b.fneg(a)), like(a, 1.0)))


def isnan(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return b.fcmp_unordered("uno", a, a)


def isinf(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return b.fcmp_ordered("==", intrinsic(b, "fabs", a), like(a, math.inf))


def library(name: str) -> Emit:
    """A function of the C library that LLVM does not know: one call for each lane."""

    def emit(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
        if not isinstance(a.type, ir.VectorType):
            return call(b, name + ("f" if a.type == F32 else ""), [a], a.type)
        result = ir.Constant(a.type, ir.Undefined)
        for lane in range(a.type.count):
            value = emit(b, b.extract_element(a, I32(lane)))
            result = b.insert_element(result, value, I32(lane))
        return result

    return emit
