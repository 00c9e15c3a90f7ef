"""What is on the chip already is not loaded again.

    npu.dma_load %w[0, 0] [128, 32] to %3             npu.dma_load %w[0, 0] [128, 32] to %3
    npu.matmul %1, %3 into %5                    ->   npu.matmul %1, %3 into %5
    npu.dma_load %w[0, 0] [128, 32] to %3             npu.matmul %2, %3 into %5
    npu.matmul %2, %3 into %5

The elimination of redundant loads, known from every compiler, on a program without loops: what each
slot holds is known at every line. Arrays of DRAM are different memory. Next room: `sums.py`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from course_lib.mlir.npu.dialect import ActivateOp
from course_lib.mlir.npu.module import functions, located
from course_lib.mlir.npu.transfer import DmaLoadOp, DmaStoreOp, SlotOp

Place = tuple[SSAValue, tuple[int, ...]]  # a buffer, and indices of a slot in it


def keep(module: ModuleOp) -> None:
    """Remove loads of what stands in its slot already."""
    for function in functions(module):
        held: dict[Place, DmaLoadOp] = {}
        for op in list(function.body.block.ops):
            match op:
                case DmaLoadOp():
                    place = place_of(op.tile)
                    if place in held and _same_window(held[place], op):
                        Rewriter.erase_op(op)
                        continue
                    held = {p: load for p, load in held.items() if not overlap(p, place)}
                    held[place] = op
                case ActivateOp():
                    gone = place_of(op.out)
                    held = {p: load for p, load in held.items() if not overlap(p, gone)}
                case DmaStoreOp():
                    held = {p: load for p, load in held.items() if load.array is not op.array}


def _same_window(a: DmaLoadOp, b: DmaLoadOp) -> bool:
    windows = [(op.array, op.static_offsets, op.static_sizes) for op in (a, b)]
    return windows[0] == windows[1]


def place_of(tile: SSAValue) -> Place:
    """Which slot of which buffer a tile is. NpuError for a tile that is none, or that only a loop
    knows."""
    owner = tile.owner
    if isinstance(owner, SlotOp) and not owner.indices:
        return owner.buffer, tuple(owner.static_indices.get_values())
    first = next(iter(tile.uses)).operation if tile.uses else owner
    assert isinstance(first, Operation)
    raise located("a tile is a slot of a buffer, its number known: unroll first", first)


def overlap(a: Place, b: Place) -> bool:
    """Do two slots share bytes? A slot [2] holds all blocks [2, 0], [2, 1], ..."""
    shared = min(len(a[1]), len(b[1]))
    return a[0] is b[0] and a[1][:shared] == b[1][:shared]
