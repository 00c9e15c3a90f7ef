"""What programs of unit 11 compute, by the dialect's interpreter.

    contents(text)              what all arrays of the function hold afterwards
    equal(before, after)        do two programs leave the same in all arrays?

Next room: chip.py.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from course_lib.mlir.npu.module import NpuError
from course_lib.mlir.npu.npu_interp import GARBAGE, dtype_of, interpret
from course_lib.mlir.npu.transfer import SlotOp
from lessons.u11.dialect import body, overwritten, parsed, steps

ELEMENTS = 4_000_000  # of all arrays together
STEPS = 3_000


def operands(types: list[MemRefType], seed: int = 0) -> list[np.ndarray]:
    """Random contents of arrays. Scales of parameters are powers of two that suit the sums."""
    rng = np.random.default_rng(seed)
    arrays = []
    for type in types:
        array = rng.integers(-128, 128, type.get_shape(), dtype_of(type))
        if array.ndim == 3:  # biases and scales of the output pipeline
            array[:, 1] = np.full((len(array), array.shape[2]), 2.0**-8, "<f4").view("<i4")
        arrays.append(array)
    return arrays


def contents(text: str, seed: int = 0, garbage: int = GARBAGE) -> list[np.ndarray]:
    """What all arrays hold after the program; they and all buffers hold other things before.
    NpuError, which is a ValueError, for a program that has loops or is too large."""
    return left(parsed(text), seed, garbage)


def left(module: ModuleOp, seed: int = 0, garbage: int = GARBAGE) -> list[np.ndarray]:
    """The same of a module that was read already."""
    arrays = operands(arrays_of(module), seed)
    interpret(module, arrays, garbage)
    return arrays


def tiles_read(module: ModuleOp, garbage: int) -> list[np.ndarray]:
    """What every operation reads from the chip, in order."""
    tiles: list[np.ndarray] = []

    def watch(op: Operation, values: dict[SSAValue, np.ndarray]) -> None:
        new = overwritten(op)
        tiles.extend(values[tile].copy() for tile in op.operands
                     if isinstance(tile.owner, SlotOp) and tile is not new)  # fmt: skip

    interpret(module, operands(arrays_of(module)), garbage, watch)
    return tiles


def arrays_of(module: ModuleOp) -> list[MemRefType]:
    """The types of the function's parameters. NpuError for what `contents` cannot run."""
    types = [value.type for value in body(module).args]
    given = [type for type in types if isinstance(type, MemRefType)]
    if len(given) != len(types):
        raise NpuError("all parameters of the function must be arrays")
    if any(isinstance(op, ForOp) for op in module.walk()):
        raise NpuError("the program must not have loops here")
    if len(steps(module)) > STEPS:
        raise NpuError(f"a program may have at most {STEPS:,} operations here")
    sizes = [type.get_shape() for type in given]
    if any(min(size, default=0) < 1 for size in sizes) or sum(map(math.prod, sizes)) > ELEMENTS:
        raise NpuError(f"arrays must have known sizes, and at most {ELEMENTS:,} elements together")
    return given


def equal(before: str, after: str) -> bool:
    """Do both leave the same in all arrays?"""
    pairs = zip(contents(before), contents(after), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)
