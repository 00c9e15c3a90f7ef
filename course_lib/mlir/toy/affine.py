"""Tensors to loops over memory (chapter 5); `toy.print` stays, in the middle of other dialects.

    %1 = toy.transpose %0 : tensor<2x3xf64> to tensor<3x2xf64>
    ->
    %1 = memref.alloc() : memref<3x2xf64>
    affine.for %i = 0 to 3 {
      affine.for %j = 0 to 2 {
        %2 = affine.load %0[%j, %i] : memref<2x3xf64>
        affine.store %2, %1[%i, %j] : memref<3x2xf64>
      }
    }

A tensor is a value, a memref is a place: from here on somebody has to say where results live, and
when that memory is free again. Constants become globals. `reshape` shows what an affine map is:
element (i) of the result is element (i floordiv 3, i mod 3) of a 2 x 3 operand. The tutorial
writes constants element by element, and a reshape of what is no constant not at all.

Of an operation that is defined elsewhere, `more` has the loops: a function that writes what fills
the memory of the result from the memory of the operands. Next room: `printing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import affine, arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    UnknownLoc,
    f64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from course_lib.mlir.toy.ast import Shape
from course_lib.mlir.toy.dialect import (
    AddOp,
    ConstantOp,
    MulOp,
    ReshapeOp,
    TransposeOp,
    shape_of,
)
from course_lib.mlir.toy.functions import FuncOp, PrintOp, ReturnOp
from course_lib.mlir.toy.module import located

Indices = Sequence[SSAValue]
Body = Callable[[Builder, Indices], SSAValue]
Loops = Callable[[Operation, Builder, Sequence[SSAValue], SSAValue], object]


def to_affine(module: ModuleOp, more: Mapping[type[Operation], Loops] | None = None) -> ModuleOp:
    """The same program on memrefs. ToyError for what is left of calls, casts and structs."""
    constants: list[Operation] = []
    functions: list[Operation] = []
    for function in module.ops:
        if not isinstance(function, FuncOp) or function.function_type.inputs:
            raise located("only a toy.func without parameters has loops: inline first", function)
        lowering = _Lowering(constants, more or {})
        for op in function.block.ops:
            lowering.lower(op)
        kind = FunctionType.from_lists([], [])
        functions.append(func.FuncOp(function.sym_name.data, kind, Region(lowering.block)))
    return ModuleOp([*constants, *functions])


class _Lowering:
    """An interpreter of Toy whose values are memrefs, and whose answers are operations."""

    def __init__(self, constants: list[Operation], more: Mapping[type[Operation], Loops]) -> None:
        self.constants, self.more, self.block = constants, more, Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.memory: dict[SSAValue, SSAValue] = {}
        self.allocated: list[SSAValue] = []

    def lower(self, op: Operation) -> None:
        before = self.block.last_op
        match op:
            case ConstantOp(value=value):
                self.constant(op, value)
            case AddOp() | MulOp():
                self.loops(op, self.elementwise(op))
            case TransposeOp():
                self.loops(op, self.transposed(op))
            case ReshapeOp():
                self.loops(op, self.reshaped(op))
            case PrintOp(input=value):
                self.builder.insert(PrintOp(self.memory[value]))
            case ReturnOp(input=None):
                for memory in self.allocated:
                    self.builder.insert(memref.DeallocOp.get(memory))
                self.builder.insert(func.ReturnOp())
            case _ if type(op) in self.more:
                memory = [self.memory[operand] for operand in op.operands]
                self.more[type(op)](op, self.builder, memory, self.allocate(op.results[0]))
            case _:
                raise located("this has no loops: inline and canonicalize first", op)
        new = before.next_op if before else self.block.first_op
        while new is not None:
            _locate(new, op)
            new = new.next_op

    def constant(self, op: ConstantOp, value: DenseIntOrFPElementsAttr) -> None:
        type = _memory_type(op.result)
        name = f"constant_{len(self.constants)}"
        kept = memref.GlobalOp.get(StringAttr(name), type, value, constant=UnitAttr())
        self.constants.append(kept)
        self.memory[op.result] = self.builder.insert(memref.GetGlobalOp(name, type)).memref

    def loops(self, op: Operation, element: Body) -> None:
        """Memory for the result, and loops over it: `element` computes what is stored."""
        (result,) = op.results
        target = self.allocate(result)

        def store(builder: Builder, indices: Indices) -> None:
            value = element(builder, indices)
            builder.insert(affine.StoreOp(value, target, indices))

        nest(self.builder, shape_of(result) or (), store)

    def allocate(self, result: SSAValue) -> SSAValue:
        """Memory for a result, which is free again where the function returns."""
        target = self.builder.insert(memref.AllocOp([], [], _memory_type(result))).memref
        target.name_hint = result.name_hint
        self.memory[result] = target
        self.allocated.append(target)
        return target

    def elementwise(self, op: AddOp | MulOp) -> Body:
        kind = arith.AddfOp if isinstance(op, AddOp) else arith.MulfOp
        left, right = self.memory[op.lhs], self.memory[op.rhs]

        def element(builder: Builder, indices: Indices) -> SSAValue:
            a, b = (builder.insert(affine.LoadOp(m, indices)).result for m in (left, right))
            return builder.insert(kind(a, b)).result

        return element

    def transposed(self, op: TransposeOp) -> Body:
        source = self.memory[op.input]
        return lambda builder, indices: builder.insert(affine.LoadOp(source, indices[::-1])).result

    def reshaped(self, op: ReshapeOp) -> Body:
        source = self.memory[op.input]
        map = reshape_map(shape_of(op.input) or (), shape_of(op.result) or ())
        read = AffineMapAttr(map)
        return lambda builder, indices: builder.insert(affine.LoadOp(source, indices, read)).result


def nest(
    builder: Builder,
    shape: Shape,
    body: Callable[[Builder, Indices], object],
    indices: Indices = (),
) -> None:
    """One `affine.for` for each dimension, outermost first; `body` writes what stands inside."""
    if len(indices) == len(shape):
        body(builder, indices)
        return
    block = Block(arg_types=[IndexType()])
    inside = Builder(InsertPoint.at_end(block))
    nest(inside, shape, body, [*indices, block.args[0]])
    inside.insert(affine.YieldOp.get())
    size = shape[len(indices)]
    builder.insert(affine.ForOp.from_region([], [], [], [], 0, size, Region(block)))


def reshape_map(source: Shape, target: Shape) -> AffineMap:
    """From the indices of an element after a reshape to those before it, by its number in
    row-major order. All elements come from the only one of an array of rank 0.

    >>> print(reshape_map((2, 3), (6,)))
    (d0) -> ((d0 floordiv 3), (d0 mod 3))
    """
    number = AffineExpr.constant(0)
    for axis, size in enumerate(target):
        number = number * size + AffineExpr.dimension(axis)
    read: list[AffineExpr] = []
    for axis, size in reversed([*enumerate(source)]):
        read.append(number % size if axis else number)
        number = number // size
    return AffineMap(len(target), 0, tuple(reversed(read)))


def _memory_type(value: SSAValue) -> MemRefType:
    return MemRefType(f64, cast(Shape, shape_of(value)))


def _locate(operation: Operation, source: Operation) -> None:
    for op in operation.walk():
        if isinstance(op.location, UnknownLoc):
            op.location = source.location
