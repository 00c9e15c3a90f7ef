"""Writing loops over tiles: positions and sizes that are numbers where they are known.

    affine.for %i = 0 to 197 step 64 {
      %rows = affine.min affine_map<(d0) -> (64, -d0 + 197)>(%i)

A loop that runs once is left out, and its index is the number 0; so the text of a small product has
no loop that is none. Next room: `tile.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from course_lib.mlir.npu.rules import Index

Body = Callable[[Builder, Index], None]


def loop(builder: Builder, end: int, step: int, name: str, body: Body) -> None:
    """body(0), body(step), ... below `end`."""
    counted(builder, AffineMap.constant_map(end), (), step, name, body, once=end <= step)


def counted(
    builder: Builder,
    end: AffineMap,
    operands: Sequence[SSAValue],
    step: int,
    name: str,
    body: Body,
    once: bool = False,
) -> None:
    """The same where the end is computed: the least result of a map."""
    if once:
        body(builder, 0)
        return
    block = Block(arg_types=[IndexType()])
    block.args[0].name_hint = name
    inside = Builder(InsertPoint.at_end(block))
    body(inside, block.args[0])
    inside.insert(affine.YieldOp.get())
    region = Region(block)
    builder.insert(
        affine.ForOp.from_region([], operands, [], [], 0, AffineMapAttr(end), region, step)
    )


def computed(builder: Builder, name: str, values: Sequence[Index], *exprs: AffineExpr) -> Index:
    """The value of an expression in dimensions d0, d1, ..., which stand for `values`; of several
    expressions, the least."""
    used = [value for value in values if isinstance(value, SSAValue)]
    dims = [AffineExpr.constant(v) if isinstance(v, int) else AffineExpr.dimension(used.index(v))
            for v in values]  # fmt: skip
    filled = tuple(expr.replace_dims_and_symbols(dims, []) for expr in exprs)
    map = AffineMap(len(used), 0, filled)
    if not used:
        return min(map.eval([], []))
    if filled == (AffineExpr.dimension(0),):
        return used[0]
    kind = affine.ApplyOp if len(exprs) == 1 else affine.MinOp
    result = builder.insert(kind(used, AffineMapAttr(map))).result
    result.name_hint = name
    return result


def rest(builder: Builder, name: str, at: Index, step: int, end: int) -> Index:
    """How much of a tile of size `step` at `at` lies below `end`."""
    if end % step == 0:
        return step
    d0 = AffineExpr.dimension(0)
    return computed(builder, name, [at], AffineExpr.constant(step), -d0 + end)
