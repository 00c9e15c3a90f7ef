"""From `linalg` on tensors to one operation of the machine on arrays in DRAM.

    %s = linalg.matmul ins(%x, %w : tensor<9x8xi8>, tensor<8x5xi8>) outs(%zeros) ...
    %y = linalg.generic ... ins(%s, %bias, %scale) { clamp(round((s + bias) * scale)) } ...
    return %y : tensor<9x5xi8>
    ->
    npu.product %x, %w, %params into %y {low = 0 : i64, high = 127 : i64} : ...

Two things happen at once, as so often below tensors. A value gets a place: the result is an
argument now, which the caller provides. And the machine's conventions begin: weights lie in panels
as wide as the array, bias and scale together in entries of `cols` (`layout.py`). What the machine
does behind a product is recognized by its body, operation by operation, so that nothing is taken
for it that rounds otherwise. Next room: `layout.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import (
    FloatAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    i8,
    i32,
)
from xdsl.dialects.linalg import ops
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint

from course_lib.accelerator.chip import DRAM, PARAMS
from course_lib.mlir.npu.dialect import LIMITS, ProductOp
from course_lib.mlir.npu.machine import SpaceAttr, chip_of, memory
from course_lib.mlir.npu.module import functions, located

WHOLE = AffineMap.identity(2)
COLUMN = AffineMap.from_callable(lambda m, n: (n,))


@dataclass(frozen=True)
class Found:
    """A product in a function on tensors: its operands, and what follows it."""

    x: SSAValue
    w: SSAValue
    bias: SSAValue | None = None
    scale: SSAValue | None = None
    limits: tuple[int, int] = LIMITS


def to_product(module: ModuleOp) -> None:
    """Every function that computes one product becomes one on memrefs, with one `npu.product`."""
    for function in functions(module):
        product = _find(function)
        if product is not None:
            _rewrite(function, product)


def _find(function: func.FuncOp) -> Found | None:
    """What the function returns, if that is a product."""
    last = function.body.block.last_op
    if not any(isinstance(op, ops.MatmulOp) for op in function.walk()):
        return None
    if not isinstance(last, func.ReturnOp) or len(last.arguments) != 1:
        raise located("a function for the machine returns one product", function)
    last_op = last.arguments[0].owner
    if isinstance(last_op, ops.GenericOp):
        product = _epilogue(last_op)
    else:
        product = _matmul(last_op)
    for value in (product.x, product.w, product.bias, product.scale):
        if value is not None and not isinstance(value, BlockArgument):
            raise located("operands of the product are parameters of the function", last)
    return product


def _matmul(op: Any) -> Found:
    """A product whose sums begin with zeros."""
    if isinstance(op, Block):
        raise located("this function computes no product", _parent(op))
    if not isinstance(op, ops.MatmulOp):
        raise located("the chip computes linalg.matmul, and behind it only its pipeline", op)
    start = op.outputs[0].owner
    zero = start.inputs[0].owner if isinstance(start, ops.FillOp) else None
    if not isinstance(zero, arith.ConstantOp) or zero.value != IntegerAttr(0, i32):
        raise located("the sums begin with linalg.fill of 0 : i32", op)
    x, w = op.inputs
    for value in (x, w):
        if not isinstance(value.type, TensorType) or value.type.element_type != i8:
            raise located(f"operands are tensors of i8, not {value.type}", op)
    return Found(x, w)


def _epilogue(op: ops.GenericOp) -> Found:
    """sums, bias?, scale -> clamp(int8(roundeven(float(sums + bias) * scale)))."""
    maps = [m.data for m in op.indexing_maps]
    arguments: dict[SSAValue, Any] = dict(
        zip(op.body.block.args, zip(op.inputs, maps, strict=False), strict=False)
    )
    chain = _Chain(op)
    (value,) = chain.below(chain.end(), arith.FPToSIOp)
    value, high = chain.below(value, arith.MinimumfOp)
    value, low = chain.below(value, arith.MaximumfOp)
    (value,) = chain.below(value, math.RoundEvenOp)
    value, scale = chain.below(value, arith.MulfOp)
    (value,) = chain.below(value, arith.SIToFPOp)
    bias = None
    if isinstance(value.owner, arith.AddiOp):
        value, bias = chain.below(value, arith.AddiOp)
    for each, wanted in ((value, WHOLE), (scale, COLUMN), (bias, COLUMN)):
        if each is not None and (each not in arguments or arguments[each][1] != wanted):
            raise located(f"an operand of the pipeline is read by {wanted}", op)
    product = _matmul(arguments[value][0].owner)
    given = None if bias is None else arguments[bias][0]
    limits = chain.number(low), chain.number(high)
    return Found(product.x, product.w, given, arguments[scale][0], limits)


@dataclass
class _Chain:
    """The scalar operations of a body, walked from its end."""

    op: ops.GenericOp

    def below(self, value: SSAValue, kind: type[Operation]) -> tuple[SSAValue, ...]:
        op = value.owner
        if isinstance(op, Operation) and isinstance(op, kind):
            return tuple(op.operands)
        had = op.name if isinstance(op, Operation) else "an operand"
        raise located(f"behind a product: expected {kind.name}, got {had}", self.op)

    def end(self) -> SSAValue:
        last = self.op.body.block.last_op
        if not isinstance(last, ops.YieldOp) or len(last.operands) != 1:
            raise located("a body yields one value", self.op)
        return last.operands[0]

    def number(self, value: SSAValue) -> int:
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
            given = op.value.value.data
            if given == int(given):
                return int(given)
        raise located("a limit of the pipeline is a constant, a whole number", self.op)


def _rewrite(function: func.FuncOp, product: Found) -> None:
    """The same name, other parameters: arrays, and the result among them."""
    cols = chip_of(function).cols
    (m, k), (_, n) = (_tensor(value).get_shape() for value in (product.x, product.w))
    plain = product.scale is None
    y = MemRefType(i32 if plain else i8, (m, n), memory_space=SpaceAttr(DRAM))
    types = [memory((m, k), DRAM), memory((k, n), DRAM, cols), y]
    names = ["x", "w", "y"]
    if not plain:
        entries = MemRefType(i32, (-(-n // cols), 2, cols), memory_space=SpaceAttr(DRAM))
        types.insert(2, entries)
        names.insert(2, PARAMS)
    block = Block(arg_types=types)
    for argument, name in zip(block.args, names, strict=True):
        argument.name_hint = name
    builder = Builder(InsertPoint.at_end(block))
    x, w, *params, y = block.args
    builder.insert(ProductOp(x, w, params[0] if params else None, y, product.limits))
    builder.insert(func.ReturnOp())
    parent = function.parent
    assert parent is not None
    rewritten = func.FuncOp(
        function.sym_name.data, FunctionType.from_lists(types, []), Region(block)
    )
    parent.insert_op_before(rewritten, function)
    function.detach()
    function.erase()


def _tensor(value: SSAValue) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _parent(block: Block) -> Operation:
    parent = block.parent_op()
    assert parent is not None
    return parent
