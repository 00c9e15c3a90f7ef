"""What a program moves: operations and bytes, beside what no program can do without.

    commands(module)          Counter({'npu.matmul': 288, 'npu.dma_load': 361, ...})
    moved(module)             {'x': 907776, 'w': 589824, 'params': 6144, 'y': 151296}
    least(product)            {'x': 151296, ...}: each array once
    tiled(product, tile)      {'x': 907776, ...}: what loops over tiles move that keep nothing

A product of [m, k] and [k, n] in tiles of tm rows and tn columns needs each piece of x for every
group of columns, and each piece of w for every block of rows:

    bytes of x >= m k        tiled: m k ceil(n / tn)
    bytes of w >= k n        tiled: k n ceil(m / tm)
    bytes of y  = m n        int8; 4 m n for sums

So a tile that is larger along n saves x, one larger along m saves w, and how deep it is does not
matter. What is still on the chip when it is wanted again is not moved: a program lies between the
two. Next room: `course_lib/commands/npu.py`.
"""

from __future__ import annotations

import math
from collections import Counter

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue

from course_lib.accelerator.compile.tiles import Tile
from course_lib.mlir.npu.dialect import ProductOp
from course_lib.mlir.npu.machine import chip_of
from course_lib.mlir.npu.module import functions
from course_lib.mlir.npu.npu_interp import dtype_of
from course_lib.mlir.npu.rules import shape
from course_lib.mlir.npu.transfer import DmaLoadOp, DmaStoreOp
from course_lib.mlir.npu.unroll import numbers, walked

Bytes = dict[str, int]


def commands(module: ModuleOp) -> Counter[str]:
    """How often each operation of the machine is carried out, loops counted as often as they run;
    views of memory are none."""
    views = ("npu.slot", "npu.buffer")
    counter: Counter[str] = Counter()
    for function in functions(module):
        for op, _ in walked(function.body.block):
            if op.name.startswith("npu.") and op.name not in views:
                counter[op.name] += 1
    return counter


def moved(module: ModuleOp) -> Bytes:
    """The bytes that DMA moves from or to each array, by the name of the parameter."""
    by_name: Bytes = {}
    for function in functions(module):
        for op, known in walked(function.body.block):
            if isinstance(op, DmaLoadOp | DmaStoreOp):
                name = op.array.name_hint or "?"
                size = math.prod(numbers(op.window[1], known, op)) * element(op.array.type)
                by_name[name] = by_name.get(name, 0) + size
    return by_name


def least(op: ProductOp) -> Bytes:
    """Each array once: no program moves less."""
    arrays = {"x": op.x, "w": op.w, "params": op.params, "y": op.y}
    return {name: _size(value) for name, value in arrays.items() if value is not None}


def tiled(op: ProductOp, tile: Tile) -> Bytes:
    """What loops over these tiles move before anything is kept (`tile.py`)."""
    (m, n), once = shape(op.y), least(op)
    rows = -(-m // tile.w)
    again = {"x": -(-n // (tile.blocks * chip_of(op).cols)), "w": rows, "params": rows, "y": 1}
    return {name: size * again[name] for name, size in once.items()}


def element(type: Attribute) -> int:
    """Bytes of an element."""
    return dtype_of(type).itemsize


def _size(value: SSAValue) -> int:
    assert isinstance(value.type, MemRefType)
    return math.prod(shape(value)) * element(value.type)
