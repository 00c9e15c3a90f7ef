"""exp, tanh and erf of f32 as short polynomials: plain arithmetic, so that loops vectorize.

    exp(x) = 2**n * exp(r)      with n = round(x / ln 2) and |r| <= ln 2 / 2

The C library's functions are as exact but work on one number at a time. Measured against float64
over their whole range, these stay below 4 units in the last place (`tests/llvm/test_scalars.py`).

Sources: exp after Cephes (S. Moshier); tanh and erf are rational approximations as in Eigen and
XLA, with the coefficients that those projects publish. Next room: `values.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir

from course_lib.llvm.values import I32, intrinsic, like, with_lanes

FLAGS = ("contract",)

EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5)
TANH_P = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
          1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03)  # fmt: skip
TANH_Q = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)

ERF_P = (0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861,
         0.18520832239976145, 1.128379143519084)  # fmt: skip
ERF_Q = (-1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885,
         0.014070470171167667, 0.11098505178285362, 0.49746925110067538, 1.0)  # fmt: skip


def _horner(b: ir.IRBuilder, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
    """c0 x^n + c1 x^(n-1) + ... + cn"""
    result: ir.Value = like(x, coefficients[0])
    for c in coefficients[1:]:
        result = b.fadd(b.fmul(result, x, flags=FLAGS), like(x, c), flags=FLAGS)
    return result


def _clamp(b: ir.IRBuilder, x: ir.Value, low: float, high: float) -> ir.Value:
    """x within low .. high; NaN stays NaN."""
    x = b.select(b.fcmp_ordered("<", x, like(x, low)), like(x, low), x)
    return b.select(b.fcmp_ordered(">", x, like(x, high)), like(x, high), x)


def exp(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """Below -87.3 the result is 0 (no denormals), above 88.7 it is infinite; NaN stays NaN."""
    inside = _clamp(b, x, -87.33654, 88.72283)
    n = intrinsic(b, "roundeven", b.fmul(inside, like(x, 1 / math.log(2)), flags=FLAGS))
    # ln 2 in two parts: n times the first is exact, so that r keeps all of its digits
    r = b.fsub(inside, b.fmul(n, like(x, 0.693359375), flags=FLAGS), flags=FLAGS)
    r = b.fadd(r, b.fmul(n, like(x, 2.12194440e-4), flags=FLAGS), flags=FLAGS)
    tail = b.fmul(b.fmul(r, r, flags=FLAGS), _horner(b, r, EXP), flags=FLAGS)
    value = b.fadd(b.fadd(tail, r, flags=FLAGS), like(x, 1.0), flags=FLAGS)
    value = _scale(b, value, n)
    value = b.select(b.fcmp_ordered("<", x, like(x, -87.33654)), like(x, 0.0), value)
    value = b.select(b.fcmp_ordered(">", x, like(x, 88.72283)), like(x, math.inf), value)
    return b.select(b.fcmp_unordered("uno", x, x), x, value)


def _scale(b: ir.IRBuilder, value: ir.Value, n: ir.Value) -> ir.Value:
    """value * 2**n, in two steps because 2**128 is not a float: the exponent bits are n + 127."""
    # n is a whole number between -126 and 128; NaN takes no part (the caller selects it away)
    safe = b.select(b.fcmp_unordered("uno", n, n), like(n, 0.0), n)
    exponent = b.fptosi(safe, with_lanes(I32, n))
    half = b.ashr(exponent, like(exponent, 1))
    for part in (half, b.sub(exponent, half)):
        bits = b.shl(b.add(part, like(part, 127)), like(part, 23))
        value = b.fmul(value, b.bitcast(bits, n.type), flags=FLAGS)
    return value


def tanh(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """x P(x^2) / Q(x^2) inside +-7.9; beyond +-9 the result is +-1. Tiny x is its own tanh."""
    inside = _clamp(b, x, -7.90531110763549805, 7.90531110763549805)
    square = b.fmul(inside, inside, flags=FLAGS)
    top = b.fmul(inside, _horner(b, square, TANH_P), flags=FLAGS)
    value = b.fdiv(top, _horner(b, square, TANH_Q), flags=FLAGS)
    value = b.select(b.fcmp_ordered(">", x, like(x, 9.0)), like(x, 1.0), value)
    value = b.select(b.fcmp_ordered("<", x, like(x, -9.0)), like(x, -1.0), value)
    tiny = b.fcmp_ordered("<", intrinsic(b, "fabs", x), like(x, 0.0004))
    return b.select(tiny, x, value)


def erf(b: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """x P(x^2) / Q(x^2) inside +-3.83; beyond, the result is +-1 to the last digit."""
    inside = _clamp(b, x, -3.832506856900711, 3.832506856900711)
    square = b.fmul(inside, inside, flags=FLAGS)
    top = b.fmul(inside, _horner(b, square, ERF_P), flags=FLAGS)
    return _clamp(b, b.fdiv(top, _horner(b, square, ERF_Q), flags=FLAGS), -1.0, 1.0)
