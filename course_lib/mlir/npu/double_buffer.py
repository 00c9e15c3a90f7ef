"""Double buffering: a buffer gets more slots, and each tile goes to the next one.

    %xs = npu.buffer : memref<1x64x128xi8, ...>       ->   memref<3x64x128xi8, ...>
    affine.for %i = 0 to 197 step 64 {                     affine.for %i = 0 to 197 step 64 {
      affine.for %k = 0 to 768 step 128 {                    affine.for %k = 0 to 768 step 128 {
        %0 = npu.slot %xs[0] ...                               %s = affine.apply
                                                                 ((%i / 64) * 6 + %k / 128) mod 3
                                                               %0 = npu.slot %xs[%s] ...

With one slot, a load waits until the work on what stands there is done. With two, it runs during
that work; more help where tiles differ in length, and tiles that are wanted again may still be
there. So slots are numbered by the loops that choose the tile, those inside a loop that wants all
of them again only if they do not all fit (`_counted`). MLIR's `memref.multibuffer` rewrites one
loop so; here it is a nest. Sums are not loaded: `sums.py` spreads them. Next room: `unroll.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import affine
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from course_lib.accelerator.chip import Chip
from course_lib.mlir.npu.loops import computed
from course_lib.mlir.npu.machine import chip_of, memory, room, slot_size, space_of, taken
from course_lib.mlir.npu.rules import shape
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, SlotOp


def double_buffer(module: ModuleOp) -> None:
    """As many slots as there is room for, and tiles to hold, in every buffer that DMA fills."""
    for op in list(module.walk()):
        if isinstance(op, BufferOp):
            _spread(op)


def _spread(op: BufferOp) -> None:
    slots = [use.operation for use in op.result.uses if isinstance(use.operation, SlotOp)]
    loads = [
        use.operation
        for slot in slots
        for use in slot.result.uses
        if isinstance(use.operation, DmaLoadOp)
    ]
    loops = _common([_around(slot) for slot in slots])
    if not loops or not _loads_first(op, loops[-1]) or not all(trips(loop) for loop in loops):
        return
    wanted = _choosing(loads, loops)
    pieces = 1
    for loop in wanted:
        pieces *= trips(loop)
    many = min(pieces, _most(op, chip_of(op)))
    if many == 1:
        return
    counted = _counted(loops, wanted, many)
    kind = memory((many, *shape(op.result)[1:]), space_of(op.result.type))
    Rewriter.replace_value_with_new_type(op.result, kind)
    for slot in slots:
        builder = Builder(InsertPoint.before(slot))
        at = computed(builder, "slot", [loop.body.block.args[0] for loop in counted],
                      _number(counted) % many)  # fmt: skip
        new_slot = SlotOp(op.result, [at, *slot.at[1:]], slot.tile)
        new_slot.result.name_hint = slot.result.name_hint
        Rewriter.replace_op(slot, new_slot)


def _most(op: BufferOp, chip: Chip) -> int:
    """How many slots there is room for, beside all other buffers of the same memory."""
    space, block = space_of(op.result.type), op.parent
    assert isinstance(block, Block)
    same = [o for o in block.ops if isinstance(o, BufferOp) and space_of(o.result.type) == space]
    others = sum(taken(chip, other.result.type) for other in same if other is not op)
    return (room(chip, space) - others) // slot_size(chip, op.result.type)


def _around(op: Operation) -> list[affine.ForOp]:
    """The loops around an operation, outermost first."""
    loops: list[affine.ForOp] = []
    while (parent := op.parent_op()) is not None:
        if isinstance(parent, affine.ForOp):
            loops.insert(0, parent)
        op = parent
    return loops


def _common(nests: Sequence[list[affine.ForOp]]) -> list[affine.ForOp]:
    return [loop for loop in nests[0] if all(loop in nest for nest in nests)] if nests else []


def trips(loop: affine.ForOp) -> int:
    """How often a loop from 0 runs; 0 if that is not known."""
    if loop.lowerBoundOperands or loop.upperBoundOperands:
        return 0
    low, high = (m.data.eval([], []) for m in (loop.lowerBoundMap, loop.upperBoundMap))
    return 0 if max(low) else max(0, -(-min(high) // step(loop)))


def step(loop: affine.ForOp) -> int:
    return loop.step.value.data


def _loads_first(buffer: BufferOp, loop: affine.ForOp) -> bool:
    """Does every turn of a loop begin with a load into the buffer? Then nothing that is there from
    the turn before is needed, and the next turn may have another slot."""
    for op in loop.walk():
        for value in op.operands:
            if isinstance(slot := value.owner, SlotOp) and slot.buffer is buffer.result:
                return isinstance(op, DmaLoadOp)
    return False


def _choosing(loads: Sequence[DmaLoadOp], loops: Sequence[affine.ForOp]) -> list[affine.ForOp]:
    """The loops whose index chooses which windows are loaded."""
    seen: set[SSAValue] = set()
    todo = [value for load in loads for value in load.offsets]
    while todo:
        value = todo.pop()
        if value not in seen:
            seen.add(value)
            if isinstance(value.owner, Operation):
                todo += value.owner.operands
    return [loop for loop in loops if loop.body.block.args[0] in seen]


def _counted(
    loops: Sequence[affine.ForOp], wanted: Sequence[affine.ForOp], many: int
) -> list[affine.ForOp]:
    """The loops that number the tiles. A loop that wants the same tiles again is left out, if all
    that one turn of it touches fit: then they are found where they were."""
    numbering: list[affine.ForOp] = []
    touched = 1
    for loop in reversed(loops):
        if loop in wanted or touched > many:
            numbering.insert(0, loop)
            touched *= trips(loop)
    return numbering


def _number(loops: Sequence[affine.ForOp]) -> AffineExpr:
    """How many tiles came before."""
    number = AffineExpr.constant(0)
    for axis, loop in enumerate(loops):
        number = number * trips(loop) + AffineExpr.dimension(axis) // step(loop)
    return number
