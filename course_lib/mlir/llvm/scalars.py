"""One value from one or a few: arith and math, which LLVM has nearly word for word.

    %2 = arith.addf %0, %1 : f64            ->     %2 = fadd double %0, %1
    %2 = arith.cmpi slt, %0, %1 : index     ->     %2 = icmp slt i64 %0, %1
    %1 = math.exp %0 : f32                  ->     %1 = call float @llvm.exp.f32(float %0)

Division that rounds down or up is spelled out, for processors only round towards zero. Next room:
`memory.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from xdsl.dialects import arith, builtin, math
from xdsl.ir import Operation

from course_lib.mlir.llvm.types import lowered, refused

Values = Sequence[ir.Value]
Emit = Callable[[ir.IRBuilder, Values], Any]

INSTRUCTIONS: dict[type[Operation], Emit] = {
    arith.AddiOp: lambda b, v: b.add(*v),
    arith.SubiOp: lambda b, v: b.sub(*v),
    arith.MuliOp: lambda b, v: b.mul(*v),
    arith.DivSIOp: lambda b, v: b.sdiv(*v),
    arith.DivUIOp: lambda b, v: b.udiv(*v),
    arith.RemSIOp: lambda b, v: b.srem(*v),
    arith.RemUIOp: lambda b, v: b.urem(*v),
    arith.FloorDivSIOp: lambda b, v: _rounded(b, v, "!="),
    arith.CeilDivSIOp: lambda b, v: _rounded(b, v, "=="),
    arith.MinSIOp: lambda b, v: b.select(b.icmp_signed("<", *v), *v),
    arith.MaxSIOp: lambda b, v: b.select(b.icmp_signed(">", *v), *v),
    arith.MinUIOp: lambda b, v: b.select(b.icmp_unsigned("<", *v), *v),
    arith.MaxUIOp: lambda b, v: b.select(b.icmp_unsigned(">", *v), *v),
    arith.AndIOp: lambda b, v: b.and_(*v),
    arith.OrIOp: lambda b, v: b.or_(*v),
    arith.XOrIOp: lambda b, v: b.xor(*v),
    arith.ShLIOp: lambda b, v: b.shl(*v),
    arith.ShRSIOp: lambda b, v: b.ashr(*v),
    arith.ShRUIOp: lambda b, v: b.lshr(*v),
    arith.AddfOp: lambda b, v: b.fadd(*v),
    arith.SubfOp: lambda b, v: b.fsub(*v),
    arith.MulfOp: lambda b, v: b.fmul(*v),
    arith.DivfOp: lambda b, v: b.fdiv(*v),
    arith.NegfOp: lambda b, v: b.fneg(*v),
    arith.SelectOp: lambda b, v: b.select(*v),
    math.FmaOp: lambda b, v: b.fma(*v),
}
CASTS: dict[type[Operation], Callable[[ir.IRBuilder, ir.Value, ir.Type], Any]] = {
    arith.SIToFPOp: lambda b, v, t: b.sitofp(v, t),
    arith.UIToFPOp: lambda b, v, t: b.uitofp(v, t),
    arith.FPToSIOp: lambda b, v, t: b.fptosi(v, t),
    arith.FPToUIOp: lambda b, v, t: b.fptoui(v, t),
    arith.ExtFOp: lambda b, v, t: b.fpext(v, t),
    arith.TruncFOp: lambda b, v, t: b.fptrunc(v, t),
    arith.ExtSIOp: lambda b, v, t: b.sext(v, t),
    arith.ExtUIOp: lambda b, v, t: b.zext(v, t),
    arith.TruncIOp: lambda b, v, t: b.trunc(v, t),
    arith.BitcastOp: lambda b, v, t: b.bitcast(v, t),
    arith.IndexCastOp: lambda b, v, t: b.trunc(v, t) if v.type.width > t.width else b.sext(v, t),
}
INTRINSICS: dict[type[Operation], str] = {
    arith.MaximumfOp: "maximum",
    arith.MinimumfOp: "minimum",
    arith.MaxnumfOp: "maxnum",
    arith.MinnumfOp: "minnum",
    math.AbsFOp: "fabs",
    math.CeilOp: "ceil",
    math.CopySignOp: "copysign",
    math.CosOp: "cos",
    math.Exp2Op: "exp2",
    math.ExpOp: "exp",
    math.FloorOp: "floor",
    math.LogOp: "log",
    math.Log2Op: "log2",
    math.Log10Op: "log10",
    math.PowFOp: "pow",
    math.RoundEvenOp: "roundeven",
    math.RoundOp: "round",
    math.SinOp: "sin",
    math.SqrtOp: "sqrt",
    math.TanhOp: "tanh",
    math.TruncOp: "trunc",
}
LIBRARY = {math.ErfOp: "erf"}  # of C; with an f behind it for float
SIGNS = ("==", "!=", "<", "<=", ">", ">=")  # cmpi: these, and the last four again, unsigned
FLOAT_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "": "ord"}


def emit_scalar(op: Operation, builder: ir.IRBuilder, operands: Values) -> ir.Value:
    """What computes the result of an operation on scalars. ValueError, with the operation's text,
    for one of another kind."""
    kind = type(op)
    types = [lowered(result.type, op) for result in op.results]
    if isinstance(op, arith.ConstantOp):
        return _constant(op, types[0])
    if isinstance(op, arith.CmpiOp):
        return _compare(builder, op.predicate.value.data, operands)
    if isinstance(op, arith.CmpfOp):
        name = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
        return _compare_floats(builder, name, operands)
    if kind in INSTRUCTIONS:
        return INSTRUCTIONS[kind](builder, operands)
    if kind in CASTS:
        return CASTS[kind](builder, operands[0], types[0])
    if kind in INTRINSICS:
        return _call(builder, f"llvm.{INTRINSICS[kind]}.{_suffix(types[0])}", operands)
    if kind in LIBRARY and types[0] != ir.HalfType():
        single = isinstance(types[0], ir.FloatType)
        return _call(builder, LIBRARY[kind] + "f" * single, operands)
    raise refused(op)


def _constant(op: arith.ConstantOp, type: ir.Type) -> ir.Value:
    if isinstance(op.value, builtin.FloatAttr):
        return ir.Constant(type, op.value.value.data)
    assert isinstance(op.value, builtin.IntegerAttr)  # for the result is a scalar
    number = op.value.value.data
    return ir.Constant(type, number & 1 if type == ir.IntType(1) else number)


def _compare(builder: ir.IRBuilder, predicate: int, operands: Values) -> ir.Value:
    if predicate < len(SIGNS):
        return builder.icmp_signed(SIGNS[predicate], *operands)
    return builder.icmp_unsigned(SIGNS[predicate - 4], *operands)


def _compare_floats(builder: ir.IRBuilder, name: str, operands: Values) -> ir.Value:
    """`o...`: false if one is not a number; `u...`: true."""
    if name in ("false", "true"):
        return ir.Constant(ir.IntType(1), int(name == "true"))
    if name in ("ord", "uno"):
        return builder.fcmp_ordered(name, *operands)
    compare = builder.fcmp_ordered if name[0] == "o" else builder.fcmp_unordered
    return compare(FLOAT_SIGNS[name[1:]], *operands)


def _rounded(builder: ir.IRBuilder, operands: Values, signs: str) -> ir.Value:
    """A quotient rounded down (`signs` is "!=") or up ("=="). Division rounds towards zero, which
    is the other way where something remains and the signs differ, or do not."""
    a, b = operands
    zero = ir.Constant(a.type, 0)
    quotient = builder.sdiv(a, b)
    remains = builder.icmp_signed("!=", builder.srem(a, b), zero)
    negative = [builder.zext(builder.icmp_signed("<", v, zero), ir.IntType(8)) for v in (a, b)]
    wrong = builder.and_(remains, builder.icmp_signed(signs, *negative))
    step = builder.zext(wrong, a.type) if a.type != ir.IntType(1) else wrong
    return builder.sub(quotient, step) if signs == "!=" else builder.add(quotient, step)


def _call(builder: ir.IRBuilder, name: str, operands: Values) -> ir.Value:
    module = builder.module
    if name not in module.globals:
        type = ir.FunctionType(operands[0].type, [v.type for v in operands])
        ir.Function(module, type, name)
    return builder.call(module.globals[name], operands)


def _suffix(type: ir.Type) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}[str(type)]
