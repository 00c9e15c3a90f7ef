"""Loops written out: what is left has numbers for all positions and sizes.

    affine.for %i = 0 to 197 step 64 {                   npu.dma_load %x[0, 0] [64, 128] to ...
      %m = affine.min (64, 197 - %i)                ->   npu.dma_load %x[64, 0] [64, 128] to ...
      npu.dma_load %x[%i, 0] [%m, 128] to ... }          ...  npu.dma_load %x[192, 0] [5, 128] ...

The chip has no instruction for loops. An interpreter walks over the program; where it would move or
multiply, it writes down the operation instead, with what it knows. Next room: `keep.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.builder import Builder
from xdsl.dialects import affine, arith
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from course_lib.mlir.npu.double_buffer import step
from course_lib.mlir.npu.module import functions, located
from course_lib.mlir.npu.rules import Index
from course_lib.mlir.npu.transfer import DmaLoadOp, DmaStoreOp, SlotOp

Known = dict[SSAValue, int]
MOST = 200_000


def unroll(module: ModuleOp) -> None:
    """Every function becomes one block without loops and without computed indices."""
    for function in functions(module):
        old = function.body.block
        for _ in walked(old):  # too long a program is refused before it is written
            pass
        block = Block(arg_types=old.arg_types)
        writer = _Writer(Builder(InsertPoint.at_end(block)))
        for before, after in zip(old.args, block.args, strict=True):
            after.name_hint = before.name_hint
            writer.values[before] = after
        for op, known in walked(old):
            writer.write(op, known)
        function.body.detach_block(old)
        function.body.add_block(block)
        old.erase(safe_erase=False)


def walked(block: Block) -> Iterator[tuple[Operation, Known]]:
    """The operations in the order in which they happen, each with the numbers known there. NpuError
    for an index that is not known, and for more than MOST operations."""
    known: Known = {}
    for number, op in enumerate(_walked(block, known)):
        if number == MOST:
            raise located(f"a program has at most {MOST:,} operations without its loops", op)
        yield op, known


def _walked(block: Block, known: Known) -> Iterator[Operation]:
    for op in block.ops:
        match op:
            case affine.ForOp():
                for index in _indices(op, known):
                    known[op.body.block.args[0]] = index
                    yield from _walked(op.body.block, known)
            case affine.ApplyOp() | affine.MinOp():
                known[op.result] = min(_results(op, op.map, op.operands, known))
            case arith.ConstantOp(value=IntegerAttr(value=value)):
                known[op.result] = value.data
            case affine.YieldOp():
                pass
            case _:
                yield op


def _indices(op: affine.ForOp, known: Known) -> range:
    if step(op) < 1 or op.inits:
        raise located("a loop has a positive step, and carries no values", op)
    low = _results(op, op.lowerBoundMap, op.lowerBoundOperands, known)
    high = _results(op, op.upperBoundMap, op.upperBoundOperands, known)
    return range(max(low), min(high), step(op))


def _results(
    op: Operation, map: AffineMapAttr, operands: Sequence[SSAValue], known: Known
) -> tuple[int, ...]:
    """The values of an affine map."""
    given, dims = [_number(value, known, op) for value in operands], map.data.num_dims
    try:
        return tuple(map.data.eval(given[:dims], given[dims:]))
    except ZeroDivisionError:
        raise located("a division by zero", op) from None


def _number(value: SSAValue, known: Known, op: Operation) -> int:
    if value not in known:
        raise located("this index is not known when the program is compiled", op)
    return known[value]


def numbers(values: Sequence[Index], known: Known, op: Operation) -> tuple[int, ...]:
    """Numbers for positions and sizes of an operation."""
    return tuple(v if isinstance(v, int) else _number(v, known, op) for v in values)


class _Writer:
    """Operations in a new block. A slot that is seen as the same tile twice is one value."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.values: dict[SSAValue, SSAValue] = {}
        self.tiles: dict[tuple[SSAValue, tuple[int, ...], tuple[int, ...]], SSAValue] = {}

    def write(self, op: Operation, known: Known) -> None:
        match op:
            case SlotOp():
                key = op.buffer, numbers(op.at, known, op), numbers(op.tile, known, op)
                if key not in self.tiles:
                    new_slot = self.builder.insert(SlotOp(self.values[op.buffer], *key[1:]))
                    new_slot.result.name_hint = op.result.name_hint
                    self.tiles[key] = new_slot.result
                self.values[op.result] = self.tiles[key]
            case DmaLoadOp() | DmaStoreOp():
                kind: Callable[..., Operation] = type(op)
                array, tile = self.values[op.array], self.values[op.tile]
                window = (numbers(part, known, op) for part in op.window)
                self.builder.insert(kind(array, tile, *window))
            case _:
                self.builder.insert(op.clone(self.values))
