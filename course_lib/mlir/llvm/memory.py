"""memref to addresses: an element stands at base + sum of index * stride.

    %2 = memref.load %0[%i, %j] : memref<2x3xf64>
    ->
    %2 = mul i64 %i, 3
    %3 = add i64 %2, %j
    %4 = getelementptr double, ptr %0, i64 %3
    %5 = load double, ptr %4

A part of a memref (`subview`) is an address, too. Memory comes from C's malloc. Next room:
`to_llvm.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from xdsl.dialects import builtin, memref
from xdsl.ir import Attribute, Operation

from course_lib.mlir.llvm.types import I64, POINTER, VOID, count, element, refused, size, strides

Values = Sequence[ir.Value]


def address(
    op: Operation, builder: ir.IRBuilder, type: Attribute, base: ir.Value, indices: Values
) -> ir.Value:
    """The address of an element of a memref of this type."""
    place: ir.Value = ir.Constant(I64, 0)
    for axis, (index, stride) in enumerate(zip(indices, strides(type, op), strict=True)):
        part = index if stride == 1 else builder.mul(index, ir.Constant(I64, stride))
        place = builder.add(place, part) if axis else part
    return builder.gep(base, [place], source_etype=element(type, op))


def load(op: memref.LoadOp, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    base, *indices = operands
    type = op.memref.type
    return builder.load(address(op, builder, type, base, indices), typ=element(type, op))


def store(op: memref.StoreOp, builder: ir.IRBuilder, operands: Values) -> None:
    value, base, *indices = operands
    builder.store(value, address(op, builder, op.memref.type, base, indices))


def alloc(op: memref.AllocOp, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    return builder.call(_of_c(builder, "malloc", POINTER, I64), [size(op.memref.type, op)])


def alloca(op: memref.AllocaOp, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    type = op.memref.type
    with builder.goto_entry_block():  # once in a call, however often a loop comes by
        pointer = builder.alloca(ir.ArrayType(element(type, op), count(type, op)))
    pointer.type = POINTER  # llvmlite's own is typed, which LLVM no longer reads
    return pointer


def dealloc(op: memref.DeallocOp, builder: ir.IRBuilder, operands: Values) -> None:
    builder.call(_of_c(builder, "free", VOID, POINTER), operands)


def copy(op: memref.CopyOp, builder: ir.IRBuilder, operands: Values) -> None:
    count(op.destination.type, op)
    source, target = operands
    memcpy = _of_c(builder, "memcpy", POINTER, POINTER, POINTER, I64)
    builder.call(memcpy, [target, source, size(op.source.type, op)])


def get_global(op: memref.GetGlobalOp, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    name = op.name_.root_reference.data
    if name not in builder.module.globals:
        raise refused(op, f"there is no global {name}")
    return builder.module.globals[name]


def subview(op: memref.SubviewOp, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    """A part begins at the element that has its offsets as indices."""
    dynamic = iter(operands[1:])
    indices = [
        next(dynamic) if n == builtin.DYNAMIC_INDEX else ir.Constant(I64, n)
        for n in op.static_offsets.get_values()
    ]
    strides(op.result.type, op)
    return address(op, builder, op.source.type, operands[0], indices)


def cast(op: Operation, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    """The same memory under a type that says less, or more."""
    strides(op.results[0].type, op)
    return operands[0]


MEMORY: dict[type[Operation], Callable[[Any, ir.IRBuilder, Values], ir.Value | None]] = {
    memref.LoadOp: load,
    memref.StoreOp: store,
    memref.AllocOp: alloc,
    memref.AllocaOp: alloca,
    memref.DeallocOp: dealloc,
    memref.CopyOp: copy,
    memref.GetGlobalOp: get_global,
    memref.SubviewOp: subview,
    memref.CastOp: cast,
    memref.MemorySpaceCastOp: cast,
    memref.CollapseShapeOp: cast,
    memref.ExpandShapeOp: cast,
}


def emit_global(module: ir.Module, op: memref.GlobalOp) -> None:
    """Memory that is there from the start, with its values or zeros."""
    length, of = count(op.type, op), element(op.type, op)
    variable = ir.GlobalVariable(module, ir.ArrayType(of, length), op.sym_name.data)
    variable.type = POINTER  # as in alloca
    variable.linkage, variable.align = "internal", 64
    variable.global_constant = op.constant is not None
    values = None  # zeros
    if isinstance(op.initial_value, builtin.DenseIntOrFPElementsAttr):
        given = list(op.initial_value.get_values())
        values = [ir.Constant(of, v) for v in (given * length if len(given) == 1 else given)]
    variable.initializer = ir.Constant(variable.value_type, values)


def _of_c(builder: ir.IRBuilder, name: str, result: ir.Type, *parameters: ir.Type) -> ir.Value:
    """A function of C's library."""
    function = builder.module.globals.get(name)
    if isinstance(function, ir.Function):
        return function
    return ir.Function(builder.module, ir.FunctionType(result, parameters), name)
