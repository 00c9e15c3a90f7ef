"""Floats in exact rational arithmetic: every result is worked out as a fraction, and rounded once.

    bits(Fraction(1, 3), "f32")   ->   0x3EAAAAAB
    value(0x3C00, "f16")          ->   1.0

Values are Python floats, which hold every number of all four formats, and fractions in between.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}  # exponent, mantissa
CODES = {"f16": "<He", "f32": "<If", "f64": "<Qd"}
Real = float | Fraction


def size(name: str) -> int:
    return 1 + sum(FORMATS[name])


def value(pattern: int, name: str) -> float:
    """The number with these bits."""
    if name == "bf16":
        return value(pattern << 16, "f32")
    order, whole, real = CODES[name]
    return struct.unpack(order + real, struct.pack(order + whole, pattern))[0]


def bits(x: Real, name: str) -> int:
    """The bits of the nearest number, to even where two are as near; one pattern for NaN."""
    exponent, mantissa = FORMATS[name]
    infinity = ((1 << exponent) - 1) << mantissa
    if isinstance(x, float):
        if math.isnan(x):
            return infinity | (1 << (mantissa - 1))
        sign = int(math.copysign(1, x) < 0) << (exponent + mantissa)
        if math.isinf(x) or x == 0:
            return sign | (infinity if x else 0)
        x = Fraction(x)
    sign = int(x < 0) << (exponent + mantissa)
    x = Fraction(abs(x))
    lowest = 2 - (1 << (exponent - 1))  # the exponent of the smallest normal number
    power = max(_log2(x), lowest)
    steps = round(x / Fraction(2) ** (power - mantissa))  # Python rounds fractions to even
    return sign | min(((power - lowest) << mantissa) + steps, infinity)


def _log2(x: Fraction) -> int:
    """The largest n with 2**n <= x."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if Fraction(2) ** n <= x else n - 1


def flushed(x: float, name: str = "f32") -> float:
    """.ftz: 0 of the same sign for what is subnormal."""
    exponent, mantissa = FORMATS[name]
    small = (bits(x, name) >> mantissa) & ((1 << exponent) - 1) == 0
    return math.copysign(0.0, x) if small else x


def add(a: float, b: float) -> Real:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    return Fraction(a) + Fraction(b) or a + b  # a sum that is 0 is so as a float, with its sign


def mul(a: float, b: float) -> Real:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return Fraction(a) * Fraction(b) or a * b


def fma(a: float, b: float, c: float) -> Real:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return exact
    return 0.0 if a and b else a * b + c


def div(a: float, b: float) -> Real:
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 == b):
        return math.nan
    if math.isinf(a) or b == 0:
        return sign * math.inf
    if math.isinf(b) or a == 0:
        return sign * 0.0
    return Fraction(a) / Fraction(b)


def sqrt(a: float) -> Real:
    """Exact where the root is rational; else a fraction on the same side of all that rounding
    asks about."""
    if math.isnan(a) or a < 0:
        return math.nan
    if math.isinf(a) or a == 0:
        return a
    x = Fraction(a)
    square = (x.numerator * x.denominator) << 400
    root = math.isqrt(square)
    inexact = root * root != square
    return Fraction(2 * root + inexact, x.denominator << 201)


def least(a: float, b: float, nan: bool = False) -> float:
    """The smaller number; -0 is smaller than 0. NaN counts only where `nan` says so."""
    if math.isnan(a) or math.isnan(b):
        return math.nan if nan or (math.isnan(a) and math.isnan(b)) else (b if math.isnan(a) else a)
    return min((a, math.copysign(1, a)), (b, math.copysign(1, b)))[0]


def largest(a: float, b: float, nan: bool = False) -> float:
    return -least(-a, -b, nan)
