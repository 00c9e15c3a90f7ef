"""Buffers: where the bytes of each value are while a compiled model runs.

    constants     the program's own arrays; a copy of what may change or does not begin a cache line
    in between    one arena, made once; each value at the offset that the memory plan gives it
    inputs        the caller's own arrays, if their bytes lie row by row
    results       new bytes in each call: afterwards they are the caller's

A view has no bytes: it stands for its owner, and only owners have a buffer. Next room: `code.py`.
"""

from __future__ import annotations

import ctypes
from collections import ChainMap
from collections.abc import MutableMapping, Sequence

import numpy as np

from course_lib.ir.arrays import address, aligned_bytes, aligned_copy, aligned_empty, is_aligned
from course_lib.ir.loops.program import Program
from course_lib.ir.types import TensorType
from course_lib.limits import check_room
from course_lib.memory.plan import MemoryPlan

Arrays = MutableMapping[str, np.ndarray]  # owner -> its bytes


class Buffers:
    """The memory of one compiled model. `arena` and `table` serve one call at a time.

    fixed    the arrays that are the same in every call: constants, and what lies in the arena
    table    the address of every owner, in the order of `program.owners`, for machine code
    """

    def __init__(self, program: Program, memory: MemoryPlan) -> None:
        self.program = program
        self.arena = aligned_bytes(memory.size)
        self.fixed: Arrays = {
            value: array if _as_it_is(array) else aligned_copy(array)
            for value, array in program.constants.items()
        }
        for value, offset in memory.offsets.items():
            self.fixed[value] = array_at(self.arena, offset, program.types[value])
        self.slots = {owner: slot for slot, owner in enumerate(program.owners)}
        self.table = (ctypes.c_void_p * len(self.slots))()
        for value, array in self.fixed.items():
            self.table[self.slots[value]] = address(array)
        owners = [program.owner(v) for v in program.outputs]
        self.results = {v: program.types[v] for v in owners if v in program.buffers}
        self.returned = [
            (owner, program.types[value].dims, owner in self.results and owners.count(owner) == 1)
            for owner, value in zip(owners, program.outputs, strict=True)
        ]

    def of_a_call(self, inputs: Sequence[np.ndarray]) -> Arrays:
        """The arrays of all owners during one call. Their addresses are in `table` then."""
        own: Arrays = dict(zip(self.program.inputs, map(as_rows, inputs), strict=True))
        for value, type in self.results.items():
            own[value] = aligned_empty(type.dims, type.dtype.numpy)
        for value, array in own.items():
            self.table[self.slots[value]] = address(array)
        return ChainMap(own, self.fixed)

    def outputs(self, arrays: Arrays) -> list[np.ndarray]:
        """Results as arrays of the caller's own: never our arena, a constant or an input."""
        results = []
        for owner, dims, given_away in self.returned:
            array = arrays[owner]
            array = array if array.shape == dims else array.reshape(dims)
            results.append(array if given_away else array.copy())
        return results


def check_memory(program: Program, memory: MemoryPlan) -> None:
    """ValueError in words if a call would take more bytes than this process may take: for what
    lies in the arena, and for the results."""
    buffers = set(program.buffers)
    own = {step.writes: step for step in program.steps if step.writes in buffers}
    size = memory.size + sum(program.types[v].nbytes for v in own if v not in memory.offsets)
    if own:
        largest = max(own, key=lambda value: program.types[value].nbytes)
        bytes = f"{program.types[largest].nbytes:,} bytes"
        what = f"its largest value is {own[largest].node!r} with {bytes}"
        check_room(
            size, f"@{program.name} needs memory for {len(own)} steps; {what}. Together that"
        )


def seen(program: Program, value: str, arrays: Arrays) -> np.ndarray:
    """A value, which may be a view, with its own shape."""
    return arrays[program.owner(value)].reshape(program.types[value].dims)


def as_rows(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy whose bytes lie as compiled code expects them."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def _as_it_is(array: np.ndarray) -> bool:
    """May machine code read this array for as long as the model lives?"""
    return is_aligned(array) and not array.flags.writeable


def array_at(memory: np.ndarray, offset: int, type: TensorType) -> np.ndarray:
    """The bytes from `offset` on as an array of this type."""
    return np.ndarray(type.dims, type.dtype.numpy, memory, offset)  # type: ignore[arg-type]
