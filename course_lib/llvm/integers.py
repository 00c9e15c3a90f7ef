"""Scalar functions of integers that are more than one instruction.

    fmod(b, %a, %d)     ->  %safe = select (%d == 0 or %d == -1), 1, %d
                            srem i32 %a, %safe

Processors disagree on x / 0 and on lowest / -1: some stop the program. So neither reaches one. The
results are those of numpy: x / 0 == 0, lowest / -1 == lowest, and the remainders are 0. Overflow
wraps around everywhere. Next room: `casts.py`.
"""

from __future__ import annotations

from llvmlite import ir

from course_lib.llvm.values import element, intrinsic, like


def neg(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return b.sub(like(a, 0), a)


def relu(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return intrinsic(b, "smax", a, like(a, 0))


def absolute(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """The lowest number has no opposite: it stays."""
    return intrinsic(b, "smax", a, neg(b, a))


def sign(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return intrinsic(b, "smax", intrinsic(b, "smin", a, like(a, 1)), like(a, -1))


def same(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """The absolute value and the relu of an unsigned number."""
    return a


def sign_unsigned(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return intrinsic(b, "umin", a, like(a, 1))


def div(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    """Truncates towards zero."""
    minus_one = b.icmp_signed("==", divisor, like(a, -1))
    value = b.select(minus_one, neg(b, a), b.sdiv(a, _harmless(b, divisor)))
    return b.select(_is_zero(b, divisor), like(a, 0), value)


def fmod(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    """The remainder has the sign of `a`."""
    return b.srem(a, _harmless(b, divisor))


def mod(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    """The remainder has the sign of the divisor."""
    rest, zero = fmod(b, a, divisor), like(a, 0)
    differ = b.xor(b.icmp_signed("<", rest, zero), b.icmp_signed("<", divisor, zero))
    wrong = b.and_(differ, b.icmp_signed("!=", rest, zero))
    return b.select(wrong, b.add(rest, divisor), rest)


def _harmless(b: ir.IRBuilder, divisor: ir.Value) -> ir.Value:
    """1 instead of 0 and -1; the remainder is 0 in all three cases."""
    minus_one = b.icmp_signed("==", divisor, like(divisor, -1))
    return b.select(b.or_(_is_zero(b, divisor), minus_one), like(divisor, 1), divisor)


def div_unsigned(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    zero = _is_zero(b, divisor)
    return b.select(zero, like(a, 0), b.udiv(a, b.select(zero, like(a, 1), divisor)))


def mod_unsigned(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    return b.urem(a, b.select(_is_zero(b, divisor), like(a, 1), divisor))


def _is_zero(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    return b.icmp_unsigned("==", a, like(a, 0))


def power_unsigned(b: ir.IRBuilder, base: ir.Value, exponent: ir.Value) -> ir.Value:
    """Square and multiply, over the bits of the exponent."""
    result, square = like(base, 1), base
    for bit in range(element(base.type).width):
        skipped = _is_zero(b, b.and_(exponent, like(base, 1 << bit)))
        result = b.select(skipped, result, b.mul(result, square))
        square = b.mul(square, square)
    return result


def power(b: ir.IRBuilder, base: ir.Value, exponent: ir.Value) -> ir.Value:
    """A negative power is 0, but for those of 1 and -1."""
    zero, one = like(base, 0), like(base, 1)
    unit = b.icmp_signed("==", absolute(b, base), one)
    even = _is_zero(b, b.and_(exponent, one))
    inverse = b.select(unit, b.select(even, one, base), zero)
    negative = b.icmp_signed("<", exponent, zero)
    return b.select(negative, inverse, power_unsigned(b, base, exponent))
