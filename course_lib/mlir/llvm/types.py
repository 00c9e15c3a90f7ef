"""MLIR's types as LLVM has them: numbers are numbers, a memref is an address.

    index, i64            ->   i64
    f32                   ->   float
    memref<2x3xf64>       ->   ptr, strides 3 and 1

All of a memref but its address stands in its type, so sizes and strides have to be known when the
program is compiled. (Upstream MLIR hands both along in a descriptor, where they may also be values;
it calls ours the bare-pointer convention.) Next room: `scalars.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from llvmlite import ir
from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation

I64, POINTER, VOID = ir.IntType(64), ir.PointerType(), ir.VoidType()
FLOATS = {builtin.f16: ir.HalfType(), builtin.f32: ir.FloatType(), builtin.f64: ir.DoubleType()}


def lowered(type: Attribute, op: Operation) -> ir.Type:
    """LLVM's type for a scalar or a memref. ValueError, with the text of `op`, for others."""
    if isinstance(type, builtin.MemRefType):
        strides(type, op)
        return POINTER
    if isinstance(type, builtin.IndexType):
        return I64
    if isinstance(type, builtin.IntegerType):
        return ir.IntType(type.width.data)
    if type in FLOATS:
        return FLOATS[cast(Any, type)]
    raise refused(op, f"there is no LLVM type for {type}")


def element(type: Attribute, op: Operation) -> ir.Type:
    """LLVM's type for the elements of a memref."""
    assert isinstance(type, builtin.MemRefType)
    if isinstance(type.element_type, builtin.MemRefType):
        raise refused(op, f"a memref holds numbers here, got {type}")
    return lowered(type.element_type, op)


def strides(type: Attribute, op: Operation) -> Sequence[int]:
    """Elements from one index to the next, for each axis."""
    assert isinstance(type, builtin.MemRefType)
    element(type, op)
    steps = type.get_strides()
    if steps is None or None in steps:
        raise refused(op, f"sizes and strides of a memref have to be known here, got {type}")
    return cast(Sequence[int], steps)


def count(type: Attribute, op: Operation) -> int:
    """Elements of a memref without gaps."""
    assert isinstance(type, builtin.MemRefType)
    if not type.has_static_shape():
        raise refused(op, f"all sizes have to be known here, got {type}")
    if tuple(strides(type, op)) != builtin.ShapedType.strides_for_shape(type.get_shape()):
        raise refused(op, f"memory without gaps is expected here, got {type}")
    return type.element_count()


def size(type: Attribute, op: Operation) -> ir.Constant:
    """Bytes of a memref without gaps, as a constant of LLVM."""
    width = {"half": 16, "float": 32, "double": 64}
    of = element(type, op)
    bits = of.width if isinstance(of, ir.IntType) else width[str(of)]
    return ir.Constant(I64, count(type, op) * ((bits + 7) // 8))


def refused(op: Operation, why: str = "it has no case in the lowering to LLVM") -> ValueError:
    """The error for an operation that cannot be lowered."""
    return ValueError(f"{op.name}: {why}\n  in {str(op).splitlines()[0]}")
