"""Whole numbers: sums, products in three sizes, quotients, shifts, fields of bits.

Results wrap around as the hardware's do. A shift by more than the size gives what is left: 0, or
the sign. What PTX leaves open (a division by zero) is all ones, as on the cards. Next room:
`floats.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ops.row import Array, Meaning, only, op, refuse
from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.ptx.types import TYPES, Type

WIDER = {16: 32, 32: 64}


def binary(i: Instruction, function: Callable[[Array, Array], Array]) -> Meaning:
    (type,) = i.types
    return Meaning((type, type), type, function)


def unary(i: Instruction, function: Callable[[Array], Array]) -> Meaning:
    (type,) = i.types
    return Meaning((type,), type, function)


def product(i: Instruction) -> tuple[Type, Callable[[Array, Array], Array]]:
    """The type and function of mul's and mad's three sizes: the low half, the high one, both."""
    (type,) = i.types
    only(i, "lo", "hi", "wide")
    if i.has("lo"):
        return type, np.multiply
    if i.has("wide"):
        wide = TYPES[f"{type.kind}{WIDER[type.bits]}"]
        return wide, lambda a, b: np.multiply(a, b, dtype=wide.numpy)
    if i.has("hi"):
        return type, _high64(type) if type.bits == 64 else _high(type)
    raise refuse(i, ".lo, .hi or .wide says which part of the product")


def _high(type: Type) -> Callable[[Array, Array], Array]:
    wide = TYPES[f"{type.kind}{WIDER[type.bits]}"].numpy
    return lambda a, b: (np.multiply(a, b, dtype=wide) >> type.bits).astype(type.numpy)


def _high64(type: Type) -> Callable[[Array, Array], Array]:
    """The high half of 128 bits, from four products of 32 bits."""

    def high(a: Array, b: Array) -> Array:
        x, y = a.view(np.uint64), b.view(np.uint64)
        low = np.uint64(0xFFFF_FFFF)
        x0, x1, y0, y1 = x & low, x >> np.uint64(32), y & low, y >> np.uint64(32)
        carry = x1 * y0 + ((x0 * y0) >> np.uint64(32))
        other = x0 * y1 + (carry & low)
        result = x1 * y1 + (carry >> np.uint64(32)) + (other >> np.uint64(32))
        if type.kind == "s":
            result = result - np.where(a < 0, y, 0) - np.where(b < 0, x, 0)
        return result.view(type.numpy)

    return high


def quotient(type: Type) -> Callable[[Array, Array], Array]:
    """Towards 0, as PTX and C have it; numpy goes down."""
    ones = np.array(-1).astype(type.numpy)
    if type.kind != "s":
        return lambda a, b: np.where(b == 0, ones, a // np.where(b == 0, 1, b).astype(type.numpy))
    remainder_ = remainder(type)

    def divide(a: Array, b: Array) -> Array:
        safe = np.where(b == 0, 1, b).astype(type.numpy)
        return np.where(b == 0, ones, (a - remainder_(a, safe)) // safe)

    return divide


def remainder(type: Type) -> Callable[[Array, Array], Array]:
    """With the sign of the dividend."""

    def rest(a: Array, b: Array) -> Array:
        if b.size == 1 and b.flat[0] > 0 and type.kind == "s" and not (a < 0).any():
            return a % b  # what kernels do nearly always, in one pass
        safe = np.where(b == 0, 1, b).astype(type.numpy)
        return np.where(b == 0, a, np.fmod(a, safe))

    return rest


@op("mul24")
def mul24(i: Instruction) -> Meaning:
    if not i.has("lo"):
        raise refuse(i, "only the low half")
    (type,) = i.types
    return Meaning((type, type), type, lambda a, b: (a << 8 >> 8) * (b << 8 >> 8))


@op("rem")
def rem(i: Instruction) -> Meaning:
    return binary(i, remainder(i.types[0]))


@op("sad")
def sad(i: Instruction) -> Meaning:
    (type,) = i.types
    return Meaning((type,) * 3, type, lambda a, b, c: c + np.where(a < b, b - a, a - b))


@op("shl")
def shl(i: Instruction) -> Meaning:
    (type,), amount = i.types, TYPES["u32"]
    most = type.bits - 1

    def shifted(a: Array, by: Array) -> Array:
        result = a << np.minimum(by, most).astype(type.numpy)
        return result if by.size == 1 and by.flat[0] <= most else np.where(by > most, 0, result)

    return Meaning((type, amount), type, shifted)


@op("shr")
def shr(i: Instruction) -> Meaning:
    (type,), amount = i.types, TYPES["u32"]
    most = type.bits - 1

    def shifted(a: Array, by: Array) -> Array:
        result = a >> np.minimum(by, most).astype(type.numpy)
        if type.kind == "s" or (by.size == 1 and by.flat[0] <= most):
            return result
        return np.where(by > most, 0, result)

    return Meaning((type, amount), type, shifted)


@op("shf")
def shf(i: Instruction) -> Meaning:
    """A funnel: 32 of the 64 bits of two registers."""
    word, wrap = TYPES["u32"], i.has("wrap")

    def funnel(a: Array, b: Array, by: Array) -> Array:
        n = (by & 31 if wrap else np.minimum(by, 32)).astype(np.uint64)
        both = (b.astype(np.uint64) << np.uint64(32)) | a
        if i.has("r"):
            return (both >> n).astype(np.uint32)
        return (both >> (np.uint64(32) - n)).astype(np.uint32)

    return Meaning((word,) * 3, word, funnel)


@op("popc")
def popc(i: Instruction) -> Meaning:
    return Meaning(i.types, TYPES["u32"], lambda a: np.bitwise_count(a).astype(np.uint32))


@op("clz")
def clz(i: Instruction) -> Meaning:
    (type,) = i.types
    return Meaning((type,), TYPES["u32"], lambda a: (type.bits - _length(a)).astype(np.uint32))


@op("brev")
def brev(i: Instruction) -> Meaning:
    (type,) = i.types

    def reversed_(a: Array) -> Array:
        bits = [((a >> k) & 1) << (type.bits - 1 - k) for k in range(type.bits)]
        return np.bitwise_or.reduce(bits)

    return Meaning((type,), type, reversed_)


@op("bfind")
def bfind(i: Instruction) -> Meaning:
    """The place of the highest bit that differs from the sign; all ones if there is none."""
    (type,) = i.types

    def found(a: Array) -> Array:
        bits = (a ^ (a >> (type.bits - 1))) if type.kind == "s" else a
        length = _length(bits.view(f"u{type.nbytes}"))
        place = type.bits - length if i.has("shiftamt") else length - 1
        return np.where(length == 0, 0xFFFF_FFFF, place).astype(np.uint32)

    return Meaning((type,), TYPES["u32"], found)


def _length(a: Array) -> Array:
    """The number of binary digits."""
    rest, length = a.copy(), np.zeros(a.shape, np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        if step < a.dtype.itemsize * 8:
            high = (rest >> step) != 0
            length += np.where(high, step, 0)
            rest = np.where(high, rest >> step, rest)
    return length + (rest != 0)


@op("bfe")
def bfe(i: Instruction) -> Meaning:
    """A field of `count` bits from `first` on, with its sign where the type has one."""
    (type,), word = i.types, TYPES["u32"]
    bits, unsigned = type.bits, f"u{type.nbytes}"

    def field(a: Array, first: Array, count: Array) -> Array:
        first, count = first & 0xFF, count & 0xFF
        shape = np.broadcast_shapes(a.shape, first.shape, count.shape)
        shifted = np.where(first < bits, a >> np.minimum(first, bits - 1).astype(a.dtype),
                           a >> (bits - 1) if type.kind == "s" else 0).astype(a.dtype)  # fmt: skip
        drop = np.clip(bits - count.astype(np.int64), 0, bits - 1).astype(a.dtype)
        kept = (shifted.view(unsigned) << drop.view(unsigned)).view(a.dtype) >> drop
        return np.broadcast_to(np.where(count == 0, 0, kept).astype(a.dtype), shape)

    return Meaning((type, word, word), type, field)


@op("bfi")
def bfi(i: Instruction) -> Meaning:
    """The lowest `count` bits of a, put into b from `first` on."""
    (type,), word = i.types, TYPES["u32"]

    def put(a: Array, b: Array, first: Array, count: Array) -> Array:
        first, count = (first & 0xFF).astype(np.int64), (count & 0xFF).astype(np.int64)
        places = [(k >= first) & (k < first + count) for k in range(type.bits)]
        mask = np.bitwise_or.reduce([p.astype(type.numpy) << k for k, p in enumerate(places)])
        moved = a << np.minimum(first, type.bits - 1).astype(type.numpy)
        return (moved & mask) | (b & ~mask)

    return Meaning((type, type, word, word), type, put)


@op("lop3")
def lop3(i: Instruction) -> Meaning:
    """Any function of three bits, by its table of eight."""
    table = i.operands[-1]
    if not isinstance(table, int):
        raise refuse(i, "its table is a number")
    word = TYPES["b32"]

    def looked_up(a: Array, b: Array, c: Array, _: Array) -> Array:
        result = np.zeros(np.broadcast_shapes(a.shape, b.shape, c.shape), np.uint32)
        for k in range(8):
            if table >> k & 1:
                result |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        return result

    return Meaning((word,) * 4, word, looked_up)


@op("prmt")
def prmt(i: Instruction) -> Meaning:
    """Four bytes picked from eight."""
    if i.modifiers:
        raise refuse(i, "only the mode without a name")
    word = TYPES["b32"]

    def picked(a: Array, b: Array, which: Array) -> Array:
        both = (b.astype(np.uint64) << np.uint64(32)) | a
        result = np.zeros(both.shape, np.uint32)
        for k in range(4):
            choice = (which >> np.uint32(4 * k)) & 0xF
            byte = (both >> ((choice & 7).astype(np.uint64) * np.uint64(8))) & np.uint64(0xFF)
            sign = np.where(byte & np.uint64(0x80), 0xFF, 0).astype(np.uint64)
            byte = np.where(choice & 8, sign, byte)
            result = result | (byte.astype(np.uint32) << np.uint32(8 * k))
        return result

    return Meaning((word,) * 3, word, picked)


@op("dp4a")
def dp4a(i: Instruction) -> Meaning:
    """c and the sum of four products of bytes."""
    first, second = i.types
    result = TYPES["s32" if "s" in (first.kind, second.kind) else "u32"]

    def dot(a: Array, b: Array, c: Array) -> Array:
        total = c.astype(np.int64)
        for k in range(4):
            x, y = (
                ((v >> np.uint32(8 * k)) & 0xFF).astype(np.uint8).view(np.int8 if t.kind == "s"
                                                                       else np.uint8)
                for v, t in ((a, first), (b, second))
            )  # fmt: skip
            total = total + x.astype(np.int64) * y
        return total.astype(result.numpy)

    word = TYPES["b32"]
    return Meaning((word, word, result), result, dot)
