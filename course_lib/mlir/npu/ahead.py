"""Loads before their time: those of each step before the work of the step in front of it.

    load 0; work 0; load 1; work 1; load 2; work 2
    ->
    load 0; load 1; work 0; load 2; work 1; work 2

That is software pipelining. The load engine runs ahead of the array by itself, as far as its queue
reaches; with queues shorter than a step, the program has to have this order. It is right only if
the loads go to other slots than those that the work in front of them uses, and do not read an array
that this work stores to. Arrays of DRAM are different memory. Next room: `emit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from course_lib.mlir.npu.keep import overlap, place_of
from course_lib.mlir.npu.module import functions
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp


@dataclass
class Step:
    """Loads, and the work behind them."""

    loads: list[DmaLoadOp] = field(default_factory=list)
    work: list[Operation] = field(default_factory=list)

    def disturbs(self, before: Step) -> bool:
        """Do its loads overwrite what the work of the step before it uses, or read what it
        stores?"""
        used = [v for op in before.work for v in op.operands if isinstance(v.owner, SlotOp)]
        places = {place_of(value) for value in used}
        stored = {op.array for op in before.work if isinstance(op, DmaStoreOp)}
        return any(
            load.array in stored or any(overlap(place_of(load.tile), place) for place in places)
            for load in self.loads
        )


def ahead(module: ModuleOp) -> None:
    """Move the loads of every step in front of the work before, where they disturb nothing."""
    for function in functions(module):
        block = function.body.block
        _views_first(block)
        for before, after in pairwise(_steps(block)):
            if not after.disturbs(before):
                for op in after.loads:
                    op.detach()
                    block.insert_op_before(op, before.work[0])


def _views_first(block: Block) -> None:
    """Buffers, then slots: they cost nothing, and stand in nobody's way."""
    views = [op for op in block.ops if isinstance(op, BufferOp)]
    slots = [op for op in block.ops if isinstance(op, SlotOp)]
    for op in reversed([*views, *slots]):
        op.detach()
        if block.first_op is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, block.first_op)


def _steps(block: Block) -> list[Step]:
    """Runs of loads and of other work in turns."""
    steps = [Step()]
    for op in block.ops:
        if isinstance(op, DmaLoadOp):
            if steps[-1].work:
                steps.append(Step())
            steps[-1].loads.append(op)
        elif not isinstance(op, SlotOp | BufferOp):
            steps[-1].work.append(op)
    return steps
