"""From operations on tiles to instructions of the chip: addresses, then one rule for each.

    npu.dma_load %x[0, 128] [64, 128] to %3     lda dram=128 acts=24576 h=1 w=64 bytes=128 ...
    npu.matmul %3, %7 into %9              ->   preload weights=4096 k=32 n=32 pitch=32
                                                matmul acts=24576 ... k=32 n=32 accs=256 add=1

Arrays lie one behind the other in DRAM, buffers in their memories, in the order of the text. A
matmul that is deeper than the array is several (`accelerator/compile/products.py`). Which engine
has to wait for which follows from the addresses (`compile/tokens.py`), as for the chip's own
compiler. Next room: `stages.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, i32
from xdsl.ir import Operation, SSAValue

from course_lib.accelerator.chip import ACCS, PARAMS, SRAMS, WEIGHTS, Chip
from course_lib.accelerator.compile.layer import ALIGN
from course_lib.accelerator.compile.products import products, sums_stay
from course_lib.accelerator.compile.tiles import OS
from course_lib.accelerator.compile.tokens import synchronize
from course_lib.accelerator.isa.execute import Matmul
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.load import Lda, Ldb, Ldw
from course_lib.accelerator.isa.store import Act, St, Stacc
from course_lib.mlir.npu.dialect import ActivateOp, MatmulOp
from course_lib.mlir.npu.machine import PanelsAttr, chip_of, slot_size, space_of, taken
from course_lib.mlir.npu.module import functions, located
from course_lib.mlir.npu.rules import memref, shape
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp

# An operation, and where arrays and tiles are (`_Emitter`)  ->  its instruction.
Rule = Callable[[Operation, Mapping[SSAValue, int]], Instruction]


@dataclass(frozen=True)
class Assembled:
    """A program of the chip, and where its arrays are in DRAM: bytes, in the order in which the
    function has them; `size` is the end of all."""

    chip: Chip
    program: list[Instruction]
    arrays: list[int]
    size: int


def emit(module: ModuleOp, rules: Mapping[str, Rule] | None = None) -> Assembled:
    """The instructions of the only function of a module, which has no loops (`unroll.py`).

    rules  for operations of others, by their names
    """
    (function, *more) = functions(module) or [None]
    if function is None or more:
        raise located("one function becomes a program of the chip", module)
    emitter, program = _Emitter(function, rules or {}), []
    for op in function.body.block.ops:
        try:
            program += emitter.instructions(op)
        except Fault as fault:
            raise located(f"no instruction can say this: {fault.what}", op) from None
    ready = synchronize(program, emitter.chip, emitter.size)
    arrays = [emitter.at[value] for value in function.body.block.args]
    return Assembled(emitter.chip, [*ready, Halt()], arrays, emitter.size)


def bytes_of(type: MemRefType) -> int:
    return math.prod(type.get_shape()) * (4 if type.element_type == i32 else 1)


class _Emitter:
    """`at` says where arrays are, in bytes; where buffers and tiles are, in elements of their
    memory (of accumulators and parameters, int32 words)."""

    def __init__(self, function: func.FuncOp, rules: Mapping[str, Rule]) -> None:
        self.chip, self.rules = chip_of(function), rules
        self.origin = (function.sym_name.data,)
        self.at: dict[SSAValue, int] = {}
        self.size = 0
        for value in function.body.block.args:
            if not isinstance(value.type, MemRefType):
                raise located(f"parameters are arrays, not {value.type}", function)
            self.at[value] = self.size
            self.size += -(-bytes_of(value.type) // ALIGN) * ALIGN
        self.free: dict[str, int] = dict.fromkeys(SRAMS, 0)

    def instructions(self, op: Operation) -> Iterator[Instruction]:
        """What one operation becomes."""
        match op:
            case BufferOp(result=buffer):
                space = space_of(buffer.type)
                self.at[buffer] = self.free[space]
                self.free[space] += taken(self.chip, buffer.type)
            case SlotOp():
                self.at[op.result] = self.slot(op)
            case DmaLoadOp():
                yield self.load(op)
            case MatmulOp():
                yield from self.matmul(op)
            case ActivateOp():
                yield self.activate(op)
            case DmaStoreOp():
                yield self.store(op)
            case func.ReturnOp():
                pass
            case _ if op.name in self.rules:
                yield self.rules[op.name](op, self.at)
            case _:
                raise located("the chip has no instruction for this", op)

    def slot(self, op: SlotOp) -> int:
        """Where a tile begins: slots are whole banks apart, blocks inside a slot follow."""
        first, *inner = op.static_indices.get_values()
        start = self.at[op.buffer] + first * slot_size(self.chip, memref(op.buffer))
        sizes = shape(op.buffer)
        for axis, index in enumerate(inner, 1):
            start += index * math.prod(sizes[axis + 1 :])
        return start

    def rows_of_sums(self, tile: SSAValue) -> int:
        return self.at[tile] // self.chip.cols

    # ── DMA ──

    def window(self, op: DmaLoadOp | DmaStoreOp) -> tuple[int, int]:
        """Where a window of a matrix begins in DRAM, and from a row to the next; bytes."""
        (row, column), (_, n) = op.static_offsets.get_values(), op.static_sizes.get_values()
        type, (height, width) = memref(op.array), shape(op.array)
        start = self.at[op.array]
        if isinstance(type.layout, PanelsAttr):
            return start + column * height + row * n, n
        size = bytes_of(type) // (height * width)
        return start + (row * width + column) * size, width * size

    def load(self, op: DmaLoadOp) -> Instruction:
        at, space, sizes = self.at[op.tile], space_of(op.tile.type), op.static_sizes.get_values()
        if space == PARAMS:
            entry = 2 * self.chip.cols
            first = self.at[op.array] + op.static_offsets.get_values()[0] * entry * 4
            return Ldb(dram=first, params=at // entry, count=sizes[0], origin=self.origin)
        (start, pitch), (rows, n) = self.window(op), sizes
        if space == WEIGHTS:
            return Ldw(dram=start, weights=at, rows=rows, bytes=n, pitch=pitch, origin=self.origin)
        return Lda(dram=start, acts=at, h=1, w=rows, bytes=n, step=pitch, line=rows * pitch,
                   origin=self.origin)  # fmt: skip

    def store(self, op: DmaStoreOp) -> Instruction:
        (start, pitch), (rows, n) = self.window(op), op.static_sizes.get_values()
        if space_of(op.tile.type) == ACCS:
            accs = self.rows_of_sums(op.tile)
            return Stacc(accs=accs, dram=start, rows=rows, n=n, pitch=pitch, origin=self.origin)
        return St(acts=self.at[op.tile], dram=start, h=1, w=rows, bytes=n, step=pitch,
                  line=rows * pitch, origin=self.origin)  # fmt: skip

    # ── array and output pipeline ──

    def matmul(self, op: MatmulOp) -> list[Instruction]:
        """As many passes through the array as the depth needs."""
        (m, depth), (_, n) = shape(op.x), shape(op.w)
        first = Matmul(
            acts=self.at[op.x], h=1, w=m, step=depth, line=m * depth, k=1, n=n,
            accs=self.rows_of_sums(op.sums), add=int(op.overwrite is None), origin=self.origin,
        )  # fmt: skip
        flow = sums_stay if op.dataflow.data == OS else products
        return flow([(0, depth)], self.at[op.w], first, self.chip.rows)

    def activate(self, op: ActivateOp) -> Instruction:
        rows, n = shape(op.sums)
        low, high = op.limits
        return Act(
            accs=self.rows_of_sums(op.sums), n=n, params=self.at[op.params] // (2 * self.chip.cols),
            acts=self.at[op.out], h=1, w=rows, step=n, line=rows * n, low=low, high=high,
            origin=self.origin,
        )  # fmt: skip
