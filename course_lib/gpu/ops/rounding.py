"""Floats as a GPU computes them: one rounding where the text says one.

    fma32(a, b, c)     a * b + c with a single rounding; float64 alone would round twice
    bf16(x), of_bf16(bits)    bfloat16, which numpy does not have

A product of two float32 is exact in float64, the sum with a third one is not: it is rounded to 53
bits, and then to 24. That goes wrong where the first rounding lands in the middle between two
float32, and nowhere else; there the part that was lost decides. Next room: `floats.py`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

Array = np.ndarray
TINY = float(np.finfo(np.float32).tiny)
SPLIT = float(2**27 + 1)
LARGE = 2.0**900


def fma32(a: Array, b: Array, c: Array) -> Array:
    """float32 a * b + c, rounded once."""
    product = np.multiply(a, b, dtype=np.float64)
    total = product + c
    result = total.astype(np.float32)
    middle = (total.view(np.uint64) & 0x1FFF_FFFF) == 0x1000_0000
    middle |= np.abs(total) < 2 * TINY  # float32 has fewer digits there
    if middle.any():
        exact = _to_odd(product, np.asarray(c, np.float64), total).astype(np.float32)
        result = np.where(middle, exact, result)
    return result


def fma64(a: Array, b: Array, c: Array) -> Array:
    """float64 a * b + c, rounded once. Boldo and Melquiond, "Emulation of FMA and correctly rounded
    sums", 2008. Where a part of it may leave the range of float64, fractions are used."""
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _product(a, b)
    middle, small = _sum(c, low)
    top, rest = _sum(high, middle)
    total = rest + small
    result = top + _to_odd(rest, small, total)
    factors = np.isfinite(a) & np.isfinite(b)
    finite = factors & np.isfinite(c)
    plain = np.where(factors & ~finite, c, a * b + c)  # no finite product is as large as infinity
    result = np.where(finite & (a != 0) & (b != 0), result, plain)
    large = np.abs(a) > LARGE, np.abs(b) > LARGE, np.abs(c) > LARGE, np.abs(high) > LARGE
    far = np.logical_or.reduce(large) | (np.abs(high) < 1 / LARGE)
    for at in np.argwhere(far & finite & (a != 0) & (b != 0)):
        place = tuple(at)
        result[place] = _exactly(float(a[place]), float(b[place]), float(c[place]))
    return result


def _exactly(a: float, b: float, c: float) -> float:
    """a * b + c for finite numbers, rounded once by Python's division of whole numbers."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else 0.0  # a product that is not 0, and its opposite
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def fma_odd(a: Array, b: Array, c: Array) -> Array:
    """a * b + c for float64 arrays whose product is exact, rounded to odd: it may be rounded again
    to far fewer digits."""
    product = np.multiply(a, b, dtype=np.float64)
    c = np.asarray(c, np.float64)
    return _to_odd(product, c, product + c)


def _to_odd(a: Array, b: Array, total: Array) -> Array:
    """a + b rounded to float64 such that what was lost still shows: where it is not exact, the last
    digit is odd. `total` is a + b as usual."""
    part = total - a
    lost = (a - (total - part)) + (b - part)
    bits = total.view(np.int64)
    even = (bits & 1) == 0
    away = (lost > 0) == (total > 0)  # the exact value is further from 0 than the total
    moved = (bits + np.where(away, 1, -1)).view(np.float64)
    return np.where((lost != 0) & even & np.isfinite(total), moved, total)


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b, and what its rounding lost. Knuth."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b, and what its rounding lost. Dekker."""
    product = a * b
    ah, al = _halves(a)
    bh, bl = _halves(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _halves(a: Array) -> tuple[Array, Array]:
    big = a * SPLIT
    high = big - (big - a)
    return high, a - high


def bf16(x: Array) -> Array:
    """The bits of numbers as bfloat16, to the nearest and even."""
    bits = np.ascontiguousarray(_float32(x)).view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    return np.where(np.isnan(x), 0x7FFF, rounded).astype(np.uint16)


def _float32(x: Array) -> Array:
    """What has more digits than float32 as float32, to odd."""
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8:  # first to the digits that float64 has
        low = x.dtype.type(0x7FF)
        x = np.where(x >> 53 == x >> 63, x, (x & ~low) | (((x & low) != 0) * (low + 1)))
    if x.dtype.itemsize <= 4 and x.dtype.kind == "f":
        return x.astype(np.float32)
    wide = x.astype(np.float64)
    near = wide.astype(np.float32)
    bits, back = near.view(np.int32), near.astype(np.float64)
    moved = (bits + np.where(np.abs(wide) > np.abs(back), 1, -1)).astype(np.int32)
    even = (wide != back) & (bits & 1 == 0) & ~np.isnan(wide)
    return np.where(even, moved.view(np.float32), near)


def of_bf16(bits: Array) -> Array:
    """bfloat16 as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def tf32(x: Array) -> Array:
    """float32 with ten digits of mantissa, to the nearest, ties away from 0."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return (
        np.where(np.isfinite(x), (bits + 0x1000) & 0xFFFF_E000, bits)
        .astype(np.uint32)
        .view(np.float32)
    )


def flushed(x: Array) -> Array:
    """Numbers below the smallest normal one of their type become 0 of their sign."""
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


def saturated(x: Array) -> Array:
    """Clamped to 0 and 1; what is no number becomes 0."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))
