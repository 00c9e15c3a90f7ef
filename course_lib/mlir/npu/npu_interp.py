"""What a program of the NPU dialect means, on numpy: the oracle for every pass.

    interpret(module, [x, w, params, y])     # y is filled in

Arrays of DRAM are numpy arrays as their types say; a layout is only where things lie, and here
nothing lies anywhere. Buffers are arrays too, full of garbage at first, so that what nobody loaded
is not zero by luck. Time, engines and banks are no part of it. Loops are walked as `unroll.py`
walks them. Next room: `stages.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, i32
from xdsl.ir import Attribute, Operation, SSAValue

from course_lib.accelerator.chip import ACTS, WEIGHTS
from course_lib.mlir.npu.dialect import ActivateOp, ClearOp, MatmulOp, ProductOp
from course_lib.mlir.npu.machine import space_of
from course_lib.mlir.npu.module import functions, located
from course_lib.mlir.npu.rules import shape
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp
from course_lib.mlir.npu.unroll import Known, numbers, walked

GARBAGE = -86  # 0xaa
Values = dict[SSAValue, np.ndarray]


def interpret(
    module: ModuleOp,
    arrays: Sequence[np.ndarray],
    garbage: int = GARBAGE,
    watch: Callable[[Operation, Values], None] = lambda op, values: None,
) -> None:
    """Run the only function of a module on its arrays, which it changes. NpuError for an operation
    of another dialect, ValueError for arrays that are not what the function takes.

    garbage  what buffers hold before anything is written there, -128 to 127
    watch    is told each operation before it runs, and what all values are then
    """
    (function,) = functions(module)
    values: Values = {}
    for argument, array in zip(function.body.block.args, arrays, strict=True):
        if (array.shape, array.dtype) != (shape(argument), dtype_of(argument.type)):
            came = f"{array.dtype}{list(array.shape)}"
            raise ValueError(f"the function takes a {argument.type}, got {came}")
        values[argument] = array
    for op, known in walked(function.body.block):
        if isinstance(op, BufferOp):
            values[op.result] = np.full(shape(op.result), garbage, dtype_of(op.result.type))
        else:
            watch(op, values)
            _run(op, known, values)


def dtype_of(type: Attribute) -> np.dtype:
    """Of the elements of a memref."""
    assert isinstance(type, MemRefType)
    return np.dtype(np.int32 if type.element_type == i32 else np.int8)


def _run(op: Operation, known: Known, values: Values) -> None:
    match op:
        case SlotOp():
            values[op.result] = _tile(op, known, values[op.buffer])
        case DmaLoadOp():
            values[op.tile][...] = values[op.array][_window(op, known)]
        case DmaStoreOp():
            values[op.array][_window(op, known)] = values[op.tile]
        case ClearOp():
            values[op.sums][...] = 0
        case MatmulOp():
            sums = values[op.sums]
            sums[...] = product(values[op.x], values[op.w]) + (0 if op.overwrite else sums)
        case ActivateOp():
            bias, scale = values[op.params][:, : values[op.sums].shape[1]]
            values[op.out][...] = pipeline(values[op.sums], bias, scale.view("f4"), *op.limits)
        case ProductOp():
            _whole(op, values)
        case func.ReturnOp():
            pass
        case _:
            raise located("this is no operation of the machine", op)


def _tile(op: SlotOp, known: Known, buffer: np.ndarray) -> np.ndarray:
    """A slot as a tile, a view: without gaps in acts and weights, a corner elsewhere."""
    slot, sizes = buffer[numbers(op.at, known, op)], numbers(op.tile, known, op)
    if space_of(op.buffer.type) in (ACTS, WEIGHTS):
        return slot.reshape(-1)[: math.prod(sizes)].reshape(sizes)
    return slot[tuple(slice(size) for size in sizes)]


def _window(op: DmaLoadOp | DmaStoreOp, known: Known) -> tuple[slice, ...]:
    starts, sizes = (numbers(part, known, op) for part in op.window)
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


def _whole(op: ProductOp, values: Values) -> None:
    sums = product(values[op.x], values[op.w])
    if op.params is not None:
        n = sums.shape[1]
        bias, scale = values[op.params].transpose(1, 0, 2).reshape(2, -1)[:, :n]
        sums = pipeline(sums, bias, scale.view("f4"), *op.limits)
    values[op.y][...] = sums


def product(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """int8[m, k] and int8[k, n] -> int32[m, n]; sums wrap."""
    return x.astype(np.int32) @ w.astype(np.int32)


def pipeline(
    sums: np.ndarray, bias: np.ndarray, scale: np.ndarray, low: int, high: int
) -> np.ndarray:
    """int32 -> int8: bias, scale in float32, half to even, limits."""
    scaled = (sums + bias).astype(np.float32) * scale.astype(np.float32)
    return np.clip(np.rint(scaled), low, high).astype(np.int8)
