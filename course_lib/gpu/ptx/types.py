"""The types of PTX, and the numpy types that hold them.

    TYPES["s32"]       ->  Type("s32", 32, "s", int32)
    bits_of(32)        ->  uint32, what a register of 32 bits is kept as

A register has a size; each instruction says how its bits are to be read. Next room: `parts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True)
class Type:
    """kind: "s" and "u" are integers, "b" bits of no type, "f" floats, "p" predicates."""

    name: str
    bits: int
    kind: str
    numpy: np.dtype

    @property
    def nbytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    def __str__(self) -> str:
        return self.name


def _types() -> dict[str, Type]:
    found = [Type("pred", 1, "p", np.dtype(bool))]
    for bits in (8, 16, 32, 64):
        found += [
            Type(f"{kind}{bits}", bits, kind, np.dtype(f"{'i' if kind == 's' else 'u'}{bits // 8}"))
            for kind in "sub"
        ]
    found += [Type(f"f{bits}", bits, "f", np.dtype(f"f{bits // 8}")) for bits in (16, 32, 64)]
    # numpy has no bfloat16, and pairs are two numbers in one register: kept as bits
    found += [Type("bf16", 16, "f", np.dtype("u2")), Type("tf32", 32, "f", np.dtype("f4"))]
    found += [Type(name, 32, "f", np.dtype("u4")) for name in ("f16x2", "bf16x2")]
    return {type.name: type for type in found}


TYPES = _types()


@cache
def bits_of(bits: int) -> np.dtype:
    """The unsigned type with so many bits; bool for one."""
    return np.dtype(bool) if bits == 1 else np.dtype(f"u{bits // 8}")
