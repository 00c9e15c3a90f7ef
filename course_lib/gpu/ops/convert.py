"""From one type to another, and from one register to another.

    cvt.rzi.s32.f32    towards 0, and what is too large becomes the largest number
    cvt.rn.f16x2.f32   two numbers in one register; the first operand is the upper half

Next room: `../simt/machine.py`, which runs all of this.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ops import rounding
from course_lib.gpu.ops.row import Array, Meaning, op, refuse
from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.ptx.types import TYPES, Type

WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
Function = Callable[[Array], Array]


@op("cvt")
def cvt(i: Instruction) -> Meaning:
    result, *sources = i.types
    if result.name in ("f16x2", "bf16x2"):
        return _pair(i, result, sources[0])
    (source,) = sources
    if i.one_of("rz", "rm", "rp") and result.is_float:
        raise refuse(i, "only rounding to the nearest")
    return Meaning((source,), result, _converted(i, result, source))


def _converted(i: Instruction, to: Type, source: Type) -> Function:
    read: Function = rounding.of_bf16 if source.name == "bf16" else lambda x: x
    if to.name == "tf32":
        return rounding.tf32
    if to.name == "bf16":
        return lambda x: rounding.bf16(read(x))
    if not source.is_float and to.is_float:
        return lambda x: x.astype(to.numpy)
    if to.is_float:
        return _to_float(i, to, _flushed(i, source, read))
    if source.is_float:
        return _to_whole(i, to, source, _flushed(i, source, read))
    return _resized(i, to, source)


def _to_float(i: Instruction, to: Type, read: Function) -> Function:
    how = WHOLE.get(i.one_of(*WHOLE), lambda x: x)
    clamp: Function = rounding.saturated if i.has("sat") else lambda x: x
    return _flushed(i, to, lambda x: clamp(how(read(x))).astype(to.numpy))


def _flushed(i: Instruction, type: Type, read: Function) -> Function:
    """.ftz is about float32, whichever side it stands on."""
    return (lambda x: rounding.flushed(read(x))) if i.has("ftz") and type.name == "f32" else read


def _to_whole(i: Instruction, to: Type, source: Type, read: Function) -> Function:
    """A float becomes a whole number, clamped to those that there are. NaN becomes 0 where both are
    small, else the highest bit alone (PTX 9.0, "cvt")."""
    how = WHOLE.get(i.one_of(*WHOLE))
    if how is None:
        raise refuse(i, ".rni, .rzi, .rmi or .rpi says how it is rounded")
    low, high = np.iinfo(to.numpy).min, np.iinfo(to.numpy).max
    wide = source.bits == 64 or to.bits == 64
    none = np.array(1 << (to.bits - 1) if wide else 0, f"u{to.nbytes}").view(to.numpy)

    def whole(x: Array) -> Array:
        value = how(read(x).astype(np.float64))
        large, nan = value >= float(high), np.isnan(value)  # 2**64 - 1 is no float64
        inside = np.where(large | nan, 0.0, np.maximum(value, float(low)))
        return np.where(nan, none, np.where(large, np.array(high, to.numpy),
                                            inside.astype(to.numpy)))  # fmt: skip

    return whole


def _resized(i: Instruction, to: Type, source: Type) -> Function:
    if not i.has("sat"):
        return lambda x: x.astype(to.numpy)
    low, high = np.iinfo(to.numpy).min, np.iinfo(to.numpy).max
    del source
    return lambda x: np.clip(x, max(low, np.iinfo(x.dtype).min), min(high, np.iinfo(x.dtype).max)
                             ).astype(to.numpy)  # fmt: skip


def _pair(i: Instruction, result: Type, source: Type) -> Meaning:
    if source.name != "f32":
        raise refuse(i, "two numbers of f32 only")

    def half(x: Array) -> Array:
        if result.name == "bf16x2":
            return rounding.bf16(x).astype(np.uint32)
        return x.astype(np.float16).view(np.uint16).astype(np.uint32)

    def packed(high: Array, low: Array) -> Array:
        return (half(high) << np.uint32(16)) | half(low)

    return Meaning((TYPES["f32"],) * 2, result, packed)


@op("mov")
def mov(i: Instruction) -> Meaning:
    (type,) = i.types
    return Meaning((type,), type, lambda x: x)


@op("cvta")
def cvta(i: Instruction) -> Meaning:
    """An address of one memory, and the same as one of all: they are one here."""
    (type,) = i.types
    return Meaning((type,), type, lambda x: x)
