"""Sums: each new one takes the next accumulators, and begins with a product that overwrites.

    npu.clear %a         npu.matmul %x, %w into %a {overwrite}
    npu.matmul       ->  npu.activate %a ...                       the store engine reads %a, while
    npu.activate         npu.matmul %x, %v into %b {overwrite}     the array fills %b
    npu.clear %a         npu.activate %b ...
    npu.matmul ...

`rename` is what a processor does with registers: where sums begin, nothing that stood there is
needed, so another place is as good, and nobody has to wait for the old one. `overwrite` says what
the machine can do: it has no instruction for zeros. Next room: `ahead.py`.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from course_lib.accelerator.chip import ACCS
from course_lib.mlir.npu.dialect import ClearOp, MatmulOp
from course_lib.mlir.npu.machine import chip_of, memory, room, slot_size, space_of
from course_lib.mlir.npu.module import functions, located
from course_lib.mlir.npu.rules import shape
from course_lib.mlir.npu.transfer import BufferOp, SlotOp

Use = tuple[Operation, int, SlotOp]  # an operand that is a slot


def rename(module: ModuleOp) -> None:
    """Sums in as many slots as the accumulators have, each new one in the next that is free."""
    for function in functions(module):
        for op in list(function.body.block.ops):
            if isinstance(op, BufferOp) and space_of(op.result.type) == ACCS:
                _rename(op)


def _rename(buffer: BufferOp) -> None:
    chip, block, wide = chip_of(buffer), buffer.parent, shape(buffer.result)[1:]
    assert isinstance(block, Block)
    others = [op for op in block.ops if isinstance(op, BufferOp) and op is not buffer
              and space_of(op.result.type) == ACCS]  # fmt: skip
    if others:
        return
    many = room(chip, ACCS) // slot_size(chip, buffer.result.type)
    uses = _uses(buffer)
    ends = _ends(uses)
    Rewriter.replace_value_with_new_type(buffer.result, memory((many, *wide), ACCS))
    place: dict[object, int] = {}  # of sums that are still needed
    tiles: dict[object, SSAValue] = {}
    free = 0
    for number, (op, operand, slot) in enumerate(uses):
        old = slot.static_indices
        if _begins(op):
            place.pop(old, None)
            ring = (s % many for s in range(free, free + many))
            free = next(s for s in ring if s not in place.values())
            place[old] = free
            free += 1
        if old not in place:
            raise located("these sums never began: npu.clear", op)
        key = place[old], slot.static_sizes
        if key not in tiles:
            new_slot = SlotOp(buffer.result, [place[old]], slot.tile)
            new_slot.result.name_hint = slot.result.name_hint
            tiles[key] = Builder(InsertPoint.before(op)).insert(new_slot).result
        op.operands[operand] = tiles[key]
        if number in ends:
            del place[old]
    for old in {slot for _, _, slot in uses}:
        Rewriter.erase_op(old)


def _begins(op: Operation) -> bool:
    return isinstance(op, ClearOp) or (isinstance(op, MatmulOp) and op.overwrite is not None)


def _uses(buffer: BufferOp) -> list[Use]:
    """Where slots of a buffer are operands, in the order of the program."""
    assert buffer.parent is not None
    uses: list[Use] = []
    for op in buffer.parent.ops:
        for number, value in enumerate(op.operands):
            slot = value.owner
            if isinstance(slot, SlotOp) and slot.buffer is buffer.result:
                uses.append((op, number, slot))
    return uses


def _ends(uses: list[Use]) -> set[int]:
    """The uses behind which nobody needs the sums: the slot begins anew, or is never seen again."""
    ends: set[int] = set()
    again: set[object] = set()
    for number, (op, _, slot) in reversed([*enumerate(uses)]):
        old = slot.static_indices
        if old not in again:
            ends.add(number)
        again.add(old)
        if _begins(op):
            again.discard(old)
    return ends


def overwrite(module: ModuleOp) -> None:
    """npu.clear of sums, and the first product into them  ->  a product that overwrites."""
    for function in functions(module):
        cleared: dict[SSAValue, ClearOp] = {}
        for op in list(function.body.block.ops):
            if isinstance(op, ClearOp):
                cleared[op.sums] = op
            elif isinstance(op, MatmulOp) and op.sums in cleared:
                op.properties["overwrite"] = UnitAttr()
                Rewriter.erase_op(cleared.pop(op.sums))
            elif any(value in cleared for value in op.operands):
                raise located("these sums are zeros, which the machine cannot write", op)
        for op in cleared.values():
            raise located("nothing is added to these sums", op)
