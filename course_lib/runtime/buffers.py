"""Buffers: where the bytes of each value are while a compiled model runs.

    constants     copied once, when the model is made
    in between    one arena, made once; each value at the offset that the memory plan gives it
    inputs        the caller's own arrays, if their bytes lie row by row
    results       new bytes in each call: afterwards they are the caller's

A view has no bytes: it stands for its owner, and only owners have a buffer. Next room: `call.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.loops.program import Program
from course_lib.ir.types import TensorType, type_of
from course_lib.memory.liveness import ALIGNMENT
from course_lib.memory.plan import MemoryPlan

Arrays = dict[str, np.ndarray]  # owner -> its bytes


class Buffers:
    """The memory of one compiled model. `arena` serves one call at a time."""

    def __init__(self, program: Program, memory: MemoryPlan) -> None:
        self.program = program
        self.arena = aligned_bytes(memory.size)
        self.fixed: Arrays = {v: aligned_copy(array) for v, array in program.constants.items()}
        for value, offset in memory.offsets.items():
            self.fixed[value] = array_at(self.arena, offset, program.types[value])
        self.fixed_addresses = addresses(self.fixed)
        owners = [program.owner(v) for v in program.outputs]
        self.results = [v for v in dict.fromkeys(owners) if v in program.buffers]
        self.given_away = {v for v in self.results if owners.count(v) == 1}

    def of_a_call(self, inputs: Sequence[np.ndarray]) -> tuple[Arrays, dict[str, int]]:
        """The arrays of all owners during one call, and their addresses."""
        own = dict(zip(self.program.inputs, map(as_rows, inputs), strict=True))
        for value in self.results:
            own[value] = aligned_empty(self.program.types[value])
        return {**self.fixed, **own}, {**self.fixed_addresses, **addresses(own)}

    def outputs(self, arrays: Arrays) -> list[np.ndarray]:
        """Results as arrays of the caller's own: never our arena, a constant or an input."""
        owners = [self.program.owner(v) for v in self.program.outputs]
        found = [seen(self.program, v, arrays) for v in self.program.outputs]
        return [
            array if owner in self.given_away else array.copy()
            for owner, array in zip(owners, found, strict=True)
        ]


def seen(program: Program, value: str, arrays: Arrays) -> np.ndarray:
    """A value, which may be a view, with its own shape."""
    return arrays[program.owner(value)].reshape(program.types[value].dims)


def addresses(arrays: Arrays) -> dict[str, int]:
    return {name: array.ctypes.data for name, array in arrays.items()}


def as_rows(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy whose bytes lie as compiled code expects them."""
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def aligned_bytes(size: int) -> np.ndarray:
    """New bytes that begin at a multiple of 64."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def array_at(memory: np.ndarray, offset: int, type: TensorType) -> np.ndarray:
    """The bytes from `offset` on as an array of this type."""
    return memory[offset : offset + type.nbytes].view(type.dtype.numpy).reshape(type.dims)


def aligned_empty(type: TensorType) -> np.ndarray:
    return array_at(aligned_bytes(type.nbytes), 0, type)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    copy = aligned_empty(type_of(array))
    copy[...] = array
    return copy
