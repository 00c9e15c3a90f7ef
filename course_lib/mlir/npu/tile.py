"""From a product to loops over tiles: what moves when, one buffer for each operand.

    npu.product %x, %w, %params into %y                     for a group of columns %j
    ->                                                        for a block of rows %i
      buffers; for %j { for %i { for %k {                       for a piece of the sums %k
        load a tile of x; load tiles of w                         load, load, multiply
        matmul } activate; store }}                             activate, store

How large tiles are and in which order they come is what the chip's own compiler would choose
(`accelerator/compile/search.py`). A group is several blocks of `cols` columns, which share a tile
of x; the innermost loop runs over them. The last tiles of ragged sizes are smaller: `affine.min`.
Nothing overlaps yet and nothing is kept: that is for the passes behind this one. Next room:
`double_buffer.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import dce

from course_lib.accelerator.chip import ACCS, ACTS, PARAMS, WEIGHTS, Chip
from course_lib.accelerator.compile.product import Product, matrix
from course_lib.accelerator.compile.search import choose_tile
from course_lib.accelerator.compile.tiles import WEIGHTS_FIRST, Tile
from course_lib.mlir.npu.dialect import ActivateOp, ClearOp, MatmulOp, ProductOp
from course_lib.mlir.npu.loops import Body, computed, counted, loop, rest
from course_lib.mlir.npu.machine import chip_of, memory
from course_lib.mlir.npu.module import located
from course_lib.mlir.npu.rules import Index, shape
from course_lib.mlir.npu.transfer import BufferOp, DmaLoadOp, DmaStoreOp, SlotOp

Choose = Callable[[Product, Chip], Tile]
D0, D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


class Block(NamedTuple):
    """m rows and n columns of sums, the first column, and where they are on the chip."""

    at: Index
    m: Index
    n: Index
    sums: SSAValue


def tile(module: ModuleOp, choose: Choose = choose_tile) -> None:
    """Every `npu.product` as loops over tiles. NpuError if not even one tile fits the chip."""
    for op in list(module.walk()):
        if isinstance(op, ProductOp):
            try:
                chosen = choose(product_of(op), chip_of(op))
            except ValueError as error:
                raise located(f"does not fit the chip: {error}", op) from None
            _Tiling(op, chosen).write()
            op.detach()
            op.erase()
    dce(module)  # positions that nobody needed


def product_of(op: ProductOp) -> Product:
    """What the chip's compiler calls it: an image of one row of m pixels."""
    (m, k), (_, n) = shape(op.x), shape(op.w)
    return matrix(m, k, n)


class _Tiling:
    """The loops of one product, from the outermost inwards."""

    def __init__(self, op: ProductOp, tile: Tile) -> None:
        self.op, self.tile = op, tile
        (self.m, self.k), (_, self.n) = shape(op.x), shape(op.w)
        self.cols = chip_of(op).cols
        self.blocks = min(tile.blocks, -(-self.n // self.cols))
        self.group = self.blocks * self.cols
        self.whole = tile.channels >= self.k  # a sum is complete after one piece
        self.builder = Builder(InsertPoint.before(op))

    def write(self) -> None:
        self.buffers()
        groups, rows, top = self.over_groups, self.over_rows, self.builder
        if self.tile.outer == WEIGHTS_FIRST:
            groups(top, lambda at, j: rows(at, lambda at, i: self.sums(at, i, j)))
        else:
            rows(top, lambda at, i: groups(at, lambda at, j: self.sums(at, i, j)))

    def buffers(self) -> None:
        """One slot each; of sums that take several pieces, one for each block of a group."""
        w, depth, cols = self.tile.w, min(self.tile.channels, self.k), self.cols
        self.xs = self.buffer("xs", ACTS, 1, w, depth)
        self.ws = self.buffer("ws", WEIGHTS, 1, self.blocks, depth, cols)
        self.accs = self.buffer("accs", ACCS, 1 if self.whole else self.blocks, w, cols)
        if self.op.params is not None:
            self.entries = self.buffer("entries", PARAMS, 1, self.blocks, 2, cols)
            self.out = self.buffer("out", ACTS, 1, w, min(cols, self.n))

    def buffer(self, name: str, space: str, *sizes: int) -> SSAValue:
        value = self.builder.insert(BufferOp(memory(sizes, space))).result
        value.name_hint = name
        return value

    # ── loops ──

    def over_groups(self, builder: Builder, body: Body) -> None:
        loop(builder, self.n, self.group, "j", body)

    def over_rows(self, builder: Builder, body: Body) -> None:
        loop(builder, self.m, self.tile.w, "i", body)

    def over_blocks(self, builder: Builder, j: Index, body: Body) -> None:
        """The blocks of columns of the group that begins at `j`."""
        wide, many = -(-self.n // self.cols), self.blocks
        if isinstance(j, int) or wide % many == 0:
            loop(builder, many, 1, "b", body)
            return
        end = AffineMap(1, 0, (AffineExpr.constant(many), (-D0 + self.n).ceil_div(self.cols)))
        counted(builder, end, [j], 1, "b", body)

    # ── bodies ──

    def sums(self, builder: Builder, i: Index, j: Index) -> None:
        """The sums of a group for a block of rows."""
        if self.op.params is not None:
            self.load_entries(builder, j)
        if self.whole:
            self.piece(builder, i, j, 0)
            return

        def clear(builder: Builder, b: Index) -> None:
            builder.insert(ClearOp(self.block(builder, i, j, b, b).sums))

        def finish(builder: Builder, b: Index) -> None:
            self.finish(builder, self.block(builder, i, j, b, b), i, b)

        self.over_blocks(builder, j, clear)
        step = self.tile.channels
        loop(builder, self.k, step, "k", lambda builder, k: self.piece(builder, i, j, k))
        self.over_blocks(builder, j, finish)

    def piece(self, builder: Builder, i: Index, j: Index, k: Index) -> None:
        """What one piece of x adds to them."""
        m = rest(builder, "m", i, self.tile.w, self.m)
        depth = rest(builder, "depth", k, min(self.tile.channels, self.k), self.k)
        x = self.slot(builder, "xt", self.xs, [0], m, depth)
        builder.insert(DmaLoadOp(self.op.x, x, [i, k], [m, depth]))

        def load(builder: Builder, b: Index) -> None:
            at, n = self.columns(builder, j, b)
            w = self.slot(builder, "wt", self.ws, [0, b], depth, n)
            builder.insert(DmaLoadOp(self.op.w, w, [k, at], [depth, n]))

        def multiply(builder: Builder, b: Index) -> None:
            block = self.block(builder, i, j, b, 0 if self.whole else b, m)
            w = self.slot(builder, "wt", self.ws, [0, b], depth, block.n)
            if self.whole:
                builder.insert(ClearOp(block.sums))
            builder.insert(MatmulOp(x, w, block.sums, self.tile.dataflow))
            if self.whole:
                self.finish(builder, block, i, b)

        self.over_blocks(builder, j, load)
        self.over_blocks(builder, j, multiply)

    def finish(self, builder: Builder, block: Block, i: Index, b: Index) -> None:
        """Complete sums: through the output pipeline, if there is one, and away."""
        result = block.sums
        if self.op.params is not None:
            entry = self.slot(builder, "entry", self.entries, [0, b], 2, self.cols)
            result = self.slot(builder, "result", self.out, [0], block.m, block.n)
            builder.insert(ActivateOp(block.sums, entry, result, self.op.limits))
        builder.insert(DmaStoreOp(self.op.y, result, [i, block.at], [block.m, block.n]))

    def load_entries(self, builder: Builder, j: Index) -> None:
        """Bias and scale of a group."""
        assert self.op.params is not None
        first = computed(builder, "first", [j], D0 // self.cols)
        many = rest(builder, "many", first, self.blocks, -(-self.n // self.cols))
        sizes = [many, 2, self.cols]
        entries = self.slot(builder, "group", self.entries, [0], *sizes)
        builder.insert(DmaLoadOp(self.op.params, entries, [first, 0, 0], sizes))

    # ── pieces ──

    def slot(
        self, builder: Builder, name: str, buffer: SSAValue, at: list[Index], *sizes: Index
    ) -> SSAValue:
        value = builder.insert(SlotOp(buffer, at, sizes)).result
        value.name_hint = name
        return value

    def columns(self, builder: Builder, j: Index, b: Index) -> tuple[Index, Index]:
        """Where block `b` of a group begins, and how many columns it has."""
        at = computed(builder, "at", [j, b], D0 + D1 * self.cols)
        return at, rest(builder, "n", at, self.cols, self.n)

    def block(
        self, builder: Builder, i: Index, j: Index, b: Index, slot: Index, m: Index | None = None
    ) -> Block:
        """The sums of block `b` of a group."""
        rows = rest(builder, "m", i, self.tile.w, self.m) if m is None else m
        at, n = self.columns(builder, j, b)
        return Block(at, rows, n, self.slot(builder, "sums", self.accs, [slot], rows, n))
