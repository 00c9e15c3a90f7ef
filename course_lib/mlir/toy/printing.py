"""Affine loops to plain loops, and `toy.print` to calls of a runtime (chapter 6).

    toy.print %0 : memref<3x2xf64>
    ->
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c2 step %c1 {
        %1 = memref.load %0[%i, %j] : memref<3x2xf64>
        func.call @print_f64(%1) : (f64) -> ()
      }
      func.call @print_newline() : () -> ()
    }

The last axis makes a line, as in the tutorial; of more than two axes, each matrix ends with an
empty line. A compiled program has no way to write but to call somebody who can: the functions are
declared here and defined by whoever runs it (`mlir/llvm/printer.py`). Next room:
`mlir/llvm/types.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, func, memref, scf
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, f64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint
from xdsl.transforms.convert_scf_to_cf import ConvertScfToCf
from xdsl.transforms.lower_affine import LowerAffinePass

from course_lib.mlir.toy.functions import PrintOp
from course_lib.mlir.toy.module import context

VALUE, NEWLINE = "print_f64", "print_newline"


def to_scf(module: ModuleOp) -> None:
    """Loops with bounds in registers, indices as arithmetic, printing as calls."""
    prints = [op for op in module.walk() if isinstance(op, PrintOp)]
    for op in prints:
        _lower_print(op)
    if prints:
        module.body.block.add_ops(
            [func.FuncOp.external(VALUE, [f64], []), func.FuncOp.external(NEWLINE, [], [])]
        )
    for op in module.walk():
        if isinstance(op, (affine.LoadOp, affine.StoreOp)):
            op.map = _of_dims(op.map)
    LowerAffinePass().apply(context(), module)


def to_cf(module: ModuleOp) -> None:
    """Loops as blocks and branches between them."""
    ConvertScfToCf().apply(context(), module)


def _of_dims(map: AffineMapAttr) -> AffineMapAttr:
    """The map with all indices as dimensions. Where xDSL reads a text, it makes symbols of them,
    which its lowering does not take."""
    dims, symbols = map.data.num_dims, map.data.num_symbols
    every = [AffineExpr.dimension(k) for k in range(dims + symbols)]
    return AffineMapAttr(
        map.data.replace_dims_and_symbols(every[:dims], every[dims:], len(every), 0)
    )


def _lower_print(op: PrintOp) -> None:
    block = op.parent
    assert block is not None
    before = op.prev_op
    shape = cast(MemRefType, op.input.type).get_shape()
    _loops(Builder(InsertPoint.before(op)), op.input, shape, [])
    new = before.next_op if before else block.first_op
    while new is not None and new is not op:
        for inner in new.walk():
            inner.location = op.location
        new = new.next_op
    op.detach()
    op.erase()


def _loops(
    builder: Builder, source: SSAValue, shape: Sequence[int], indices: list[SSAValue]
) -> None:
    """What prints the part of `source` that has these first indices."""
    left = len(shape) - len(indices)
    if left:
        low, high, step = (_index(builder, n) for n in (0, shape[len(indices)], 1))
        block = Block(arg_types=[IndexType()])
        inside = Builder(InsertPoint.at_end(block))
        _loops(inside, source, shape, [*indices, block.args[0]])
        inside.insert(scf.YieldOp())
        builder.insert(scf.ForOp(low, high, step, [], Region(block)))
    else:
        value = builder.insert(memref.LoadOp.get(source, indices)).res
        builder.insert(func.CallOp(VALUE, [value], []))
    if left == 1 or not shape or (left == 2 and len(shape) > 2):
        builder.insert(func.CallOp(NEWLINE, [], []))


def _index(builder: Builder, value: int) -> SSAValue:
    constant: Operation = arith.ConstantOp(IntegerAttr.from_index_int_value(value))
    return builder.insert(constant).results[0]
