"""Canonicalization: the same value, written in one way only, and the simplest (chapter 3).

    %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<3x2xf64>
    %2 = toy.transpose %1 : tensor<3x2xf64> to tensor<2x3xf64>     ->     toy.print %0
    toy.print %2 : tensor<2x3xf64>

A pattern looks at one operation and its neighbours, and rewrites it or lets it be.
The driver tries all of them everywhere until none applies, and removes what nobody uses any more.
Of constants only the shape is changed. Sums of them could be folded, too; but as a program of Toy
has no input, nothing would be left of it to be compiled. The tutorial's canonicalizer is the same,
with folds apart from patterns. Next room: `inline.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import dce

from course_lib.mlir.toy.dialect import CastOp, ConstantOp, ReshapeOp, TransposeOp, dense, shape_of
from course_lib.mlir.toy.structs import StructAccessOp, StructConstantOp, StructType


def canonicalize(module: ModuleOp, more: Sequence[RewritePattern] = ()) -> None:
    """Rewrite until no pattern applies, of these and of `more`, which an operation from elsewhere
    brings along; operations without users or effects disappear."""
    patterns = (
        TransposeOfTranspose(),
        ReshapeOfReshape(),
        ReshapeOfConstant(),
        NoChange(),
        AccessOfConstant(),
        *more,
    )
    _rewrite(module, patterns)
    dce(module)


def open_structs(module: ModuleOp) -> None:
    """Only the accesses to structs. What nobody uses stays: its shapes have to fit, too."""
    _rewrite(module, [AccessOfConstant()])


def _rewrite(module: ModuleOp, patterns: Sequence[RewritePattern]) -> None:
    applier = GreedyRewritePatternApplier([*patterns], dce_enabled=False)
    PatternRewriteWalker(applier).rewrite_module(module)


def share(module: ModuleOp) -> None:
    """Common subexpression elimination: what is computed twice is computed once."""
    cse(module)


class TransposeOfTranspose(RewritePattern):
    """transpose(transpose(x))  ->  x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        if isinstance(inner := op.input.owner, TransposeOp):
            _replace(rewriter, op, CastOp(inner.input, op.result.type))


class ReshapeOfReshape(RewritePattern):
    """reshape(reshape(x))  ->  reshape(x)"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        if isinstance(inner := op.input.owner, ReshapeOp):
            _replace(rewriter, op, ReshapeOp(inner.input, op.result.type))


class ReshapeOfConstant(RewritePattern):
    """reshape(constant [[1, 2], [3, 4]] to <4>)  ->  constant [1, 2, 3, 4]"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        wanted = shape_of(op.result)
        if isinstance(inner := op.input.owner, ConstantOp) and wanted is not None:
            numbers = cast(tuple[float, ...], inner.value.get_values())
            if shape_of(op.input) == ():
                numbers = numbers * dense([0.0], wanted).type.element_count()
            _replace(rewriter, op, ConstantOp.of(numbers, wanted))


class NoChange(RewritePattern):
    """reshape(x) and cast(x), where the type of the result is that of x  ->  x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp | CastOp, rewriter: PatternRewriter) -> None:
        if op.input.type == op.result.type:
            rewriter.replace(op, [], [op.input])


class AccessOfConstant(RewritePattern):
    """struct_access(struct_constant [a, b], 1)  ->  constant b"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StructAccessOp, rewriter: PatternRewriter) -> None:
        if not isinstance(inner := op.input.owner, StructConstantOp):
            return
        value = inner.value.data[op.index.value.data]
        if isinstance(value, DenseIntOrFPElementsAttr):
            _replace(rewriter, op, ConstantOp(value))
        else:
            type = cast(StructType, op.result.type)
            _replace(rewriter, op, StructConstantOp(cast(ArrayAttr, value), type))


def _replace(rewriter: PatternRewriter, old: Operation, new: Operation) -> None:
    """`new` stands in the place of `old`, in the program and in its source."""
    new.location = old.location
    rewriter.replace(old, new)
