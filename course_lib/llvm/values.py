"""LLVM values: how element types are held, and helpers that numbers and vectors share.

    register_type(f32)           ->  float
    like(x, 1.0)                 ->  float 1.0, or <8 x float> <1.0, 1.0, ...>: whatever x is
    intrinsic(b, "sqrt", x)      ->  call <8 x float> @llvm.sqrt.v8f32(<8 x float> %x)

LLVM's instructions work on vectors as they do on numbers, so that one helper serves both. Next
room: `host.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from course_lib.ir.types import DType

I32 = ir.IntType(32)
I64 = ir.IntType(64)
F32 = ir.FloatType()

_REGISTER: dict[str, ir.Type] = {
    "f16": ir.HalfType(),
    "f32": F32,
    "f64": ir.DoubleType(),
    "bool": ir.IntType(1),
}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}


def register_type(dtype: DType) -> ir.Type:
    """How a value is held while it is computed with."""
    return _REGISTER.get(dtype.name) or ir.IntType(8 * dtype.size)


def memory_type(dtype: DType) -> ir.Type:
    """How an element lies in a buffer: a bool is a byte there."""
    return ir.IntType(8) if dtype.name == "bool" else register_type(dtype)


def element(type: ir.Type) -> ir.Type:
    """The type of one lane."""
    return type.element if isinstance(type, ir.VectorType) else type


def with_lanes(type: ir.Type, value: ir.Value) -> ir.Type:
    """`type`, or a vector of it with as many lanes as `value` has."""
    vector = isinstance(value.type, ir.VectorType)
    return ir.VectorType(type, value.type.count) if vector else type


def constant(value: float | int | bool, dtype: DType) -> ir.Constant:
    return ir.Constant(register_type(dtype), float(value) if dtype.is_float else int(value))


def like(value: ir.Value, number: float | int) -> ir.Constant:
    """`number` as a constant of the same type as `value` (in every lane, if that is a vector)."""
    if isinstance(value.type, ir.VectorType):
        return splat(ir.Constant(value.type.element, number), value.type.count)
    return ir.Constant(value.type, number)


class Splat(ir.Constant):
    """The same constant in every lane, in LLVM's short form: `splat (float 1.0)`."""

    def get_reference(self) -> str:
        return f"splat ({self.constant[0]})"


def splat(element: ir.Constant, lanes: int) -> ir.Constant:
    return Splat(ir.VectorType(element.type, lanes), element)


def intrinsic(b: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """A function that LLVM knows, where arguments and result are of one type."""
    return call(b, f"llvm.{name}.{mangled(args[0].type)}", args, args[0].type)


def call(b: ir.IRBuilder, name: str, args: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    """Call a function by name; the first call in a module declares it."""
    function = b.module.globals.get(name)
    if function is None:
        function = ir.Function(b.module, ir.FunctionType(result, [a.type for a in args]), name)
    return b.call(function, args)


def mangled(type: ir.Type) -> str:
    """A type as it stands in the name of an intrinsic: v16f32."""
    if isinstance(type, ir.VectorType):
        return f"v{type.count}{mangled(type.element)}"
    return _SUFFIX.get(str(type)) or str(type)
