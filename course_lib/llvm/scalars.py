"""One case for each scalar function of `ir/scalar.py`, on numbers and on vectors of numbers alike.

    emit_scalar(b, "relu", [x], [f32], f32)     ->   select (x < 0), 0, x

Floats may be contracted (`a * b + c` becomes one fused multiply-add), sums may be reassociated
where the caller says so, and nothing else: no step assumes that NaN or infinities do not happen.
exp, tanh, erf and the sigmoid of f32 are short polynomials (`approx.py`), so that loops over them
vectorize; other transcendental functions call the C library, and f16 computes all of them in f32.
Next room: `approx.py`, then `jit.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir

from course_lib.ir.types import DType

CONTRACT = ("contract",)
REASSOCIATE = ("contract", "reassoc", "nsz")

_REGISTER: dict[str, ir.Type] = {
    "f16": ir.HalfType(),
    "f32": ir.FloatType(),
    "f64": ir.DoubleType(),
    "bool": ir.IntType(1),
}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_LIBRARY = ("asinh", "acosh", "atanh")  # no LLVM intrinsic: call the C library
_INTRINSIC = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "floor": "floor", "ceil": "ceil", "round": "roundeven", "pow": "pow",
}  # fmt: skip
_IN_F32 = {*_INTRINSIC, *_LIBRARY, "erf", "sigmoid", "rsqrt", "fmod", "mod", "sign"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def register_type(dtype: DType) -> ir.Type:
    """How a value is held while it is computed with."""
    return _REGISTER.get(dtype.name) or ir.IntType(8 * dtype.size)


def memory_type(dtype: DType) -> ir.Type:
    """How an element lies in a buffer."""
    return ir.IntType(8) if dtype.name == "bool" else register_type(dtype)


def constant(value: float | int | bool, dtype: DType) -> ir.Constant:
    return ir.Constant(register_type(dtype), float(value) if dtype.is_float else int(value))


def like(value: ir.Value, number: float | int) -> ir.Constant:
    """`number` as a constant of the same type as `value` (in every lane, if that is a vector)."""
    if isinstance(value.type, ir.VectorType):
        return ir.Constant(value.type, [ir.Constant(value.type.element, number)] * value.type.count)
    return ir.Constant(value.type, number)


def with_lanes(type: ir.Type, value: ir.Value) -> ir.Type:
    """`type`, or a vector of it with as many lanes as `value` has."""
    vector = isinstance(value.type, ir.VectorType)
    return ir.VectorType(type, value.type.count) if vector else type


def intrinsic(b: ir.IRBuilder, name: str, args: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    """Call an LLVM intrinsic, declared under its mangled name: llvm.sqrt.v16f32."""
    function = _declare(b.module, f"llvm.{name}", [a.type for a in args], result)
    return b.call(function, args, fastmath=CONTRACT if _is_float(result) else ())


def _declare(module: ir.Module, name: str, args: Sequence[ir.Type], result: ir.Type) -> ir.Function:
    if name in module.globals:
        return module.globals[name]
    return ir.Function(module, ir.FunctionType(result, args), name)


def mangled(type: ir.Type) -> str:
    if isinstance(type, ir.VectorType):
        return f"v{type.count}{mangled(type.element)}"
    return _SUFFIX.get(str(type)) or str(type)


def element(type: ir.Type) -> ir.Type:
    return type.element if isinstance(type, ir.VectorType) else type


def _is_float(type: ir.Type) -> bool:
    return isinstance(element(type), (ir.HalfType, ir.FloatType, ir.DoubleType))


def unary(b: ir.IRBuilder, name: str, a: ir.Value) -> ir.Value:
    return intrinsic(b, f"{name}.{mangled(a.type)}", [a], a.type)


def emit_scalar(
    b: ir.IRBuilder,
    fn: str,
    args: Sequence[ir.Value],
    kinds: Sequence[DType],
    result: DType,
    reassociate: bool = False,
) -> ir.Value:
    """The instructions of one scalar function. `kinds` are the element types of `args`."""
    if fn == "select":
        return b.select(*args)
    if fn == "cast":
        return _cast(b, args[0], kinds[0], result)
    if fn in _COMPARE:
        return _compare(b, fn, args, kinds[0])
    if kinds[0].kind == "bool":
        return _logic(b, fn, args)
    if kinds[0].is_float:
        return _float(b, fn, args, REASSOCIATE if reassociate else CONTRACT)
    return _integer(b, fn, args, kinds[0].kind == "int")


def _compare(b: ir.IRBuilder, fn: str, args: Sequence[ir.Value], kind: DType) -> ir.Value:
    if kind.is_float:
        test = b.fcmp_unordered if fn == "ne" else b.fcmp_ordered  # NaN differs from everything
        return test(_COMPARE[fn], *args)
    test = b.icmp_signed if kind.kind == "int" else b.icmp_unsigned
    return test(_COMPARE[fn], *args)


def _logic(b: ir.IRBuilder, fn: str, args: Sequence[ir.Value]) -> ir.Value:
    match fn:
        case "and" | "bit_and" | "mul" | "min":
            return b.and_(*args)
        case "or" | "bit_or" | "add" | "max":
            return b.or_(*args)
        case "xor" | "bit_xor":
            return b.xor(*args)
        case "not" | "bit_not":
            return b.not_(args[0])
    raise ValueError(f"no code for {fn} of bool")


# ── floats ──


def _float(b: ir.IRBuilder, fn: str, args: Sequence[ir.Value], flags: Sequence[str]) -> ir.Value:
    from course_lib.llvm import approx

    a = args[0]
    if fn in _IN_F32 and element(a.type) == ir.HalfType():
        wide = [b.fpext(x, with_lanes(ir.FloatType(), x)) for x in args]
        return b.fptrunc(_float(b, fn, wide, flags), a.type)
    match fn:
        case "add":
            return b.fadd(*args, flags=flags)
        case "sub":
            return b.fsub(*args, flags=flags)
        case "mul":
            return b.fmul(*args, flags=flags)
        case "div":
            return b.fdiv(*args, flags=CONTRACT)
        case "neg":
            return b.fneg(a)
        case "max":
            return intrinsic(b, f"maximum.{mangled(a.type)}", args, a.type)
        case "min":
            return intrinsic(b, f"minimum.{mangled(a.type)}", args, a.type)
        case "relu":
            # unordered: NaN stays; and -0.0 becomes 0.0, as in numpy
            return b.select(b.fcmp_unordered(">", a, like(a, 0.0)), a, like(a, 0.0))
        case "abs":
            return unary(b, "fabs", a)
        case "sign":
            return _sign(b, a)
        case "reciprocal":
            return b.fdiv(like(a, 1.0), a)
        case "rsqrt":
            return b.fdiv(like(a, 1.0), unary(b, "sqrt", a))
        case "fmod":
            return b.frem(*args)
        case "mod":
            return _floor_mod_float(b, *args)
        case "isnan":
            return b.fcmp_unordered("uno", a, a)
        case "isinf":
            return b.fcmp_ordered("==", unary(b, "fabs", a), like(a, math.inf))
        case "sigmoid":
            return _sigmoid(b, a)
        case "erf" | "exp" | "tanh" if approx.suits(a.type):
            return approx.FUNCTIONS[fn](b, a)
        case _ if fn in _INTRINSIC:
            return intrinsic(b, f"{_INTRINSIC[fn]}.{mangled(a.type)}", args, a.type)
        case _ if fn == "erf" or fn in _LIBRARY:
            return _library(b, fn, a)
    raise ValueError(f"no code for {fn} of floats")


def _sign(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """0 and NaN stay as they are."""
    positive = b.select(b.fcmp_ordered(">", a, like(a, 0.0)), like(a, 1.0), a)
    return b.select(b.fcmp_ordered("<", a, like(a, 0.0)), like(a, -1.0), positive)


def _sigmoid(b: ir.IRBuilder, a: ir.Value) -> ir.Value:
    e = _float(b, "exp", [b.fneg(a)], CONTRACT)
    return b.fdiv(like(a, 1.0), b.fadd(e, like(a, 1.0)))


def _floor_mod_float(b: ir.IRBuilder, a: ir.Value, divisor: ir.Value) -> ir.Value:
    rest = b.frem(a, divisor)
    differ = b.xor(
        b.fcmp_ordered("<", rest, like(a, 0.0)), b.fcmp_ordered("<", divisor, like(a, 0.0))
    )
    wrong = b.and_(differ, b.fcmp_ordered("!=", rest, like(a, 0.0)))
    return b.select(wrong, b.fadd(rest, divisor), rest)


def _library(b: ir.IRBuilder, fn: str, a: ir.Value) -> ir.Value:
    """A function of the C library, once for each lane."""
    if isinstance(a.type, ir.VectorType):
        result = ir.Constant(a.type, ir.Undefined)
        for lane in range(a.type.count):
            index = ir.IntType(32)(lane)
            value = _library(b, fn, b.extract_element(a, index))
            result = b.insert_element(result, value, index)
        return result
    name = fn + ("f" if isinstance(a.type, ir.FloatType) else "")
    return b.call(_declare(b.module, name, [a.type], a.type), [a])


# ── integers ──


def _integer(b: ir.IRBuilder, fn: str, args: Sequence[ir.Value], signed: bool) -> ir.Value:
    a = args[0]
    less = b.icmp_signed if signed else b.icmp_unsigned
    match fn:
        case "add":
            return b.add(*args)
        case "sub":
            return b.sub(*args)
        case "mul":
            return b.mul(*args)
        case "neg":
            return b.sub(like(a, 0), a)
        case "max":
            return b.select(less(">", *args), *args)
        case "min":
            return b.select(less("<", *args), *args)
        case "relu":
            return b.select(less(">", a, like(a, 0)), a, like(a, 0))
        case "abs":
            return b.select(less("<", a, like(a, 0)), b.sub(like(a, 0), a), a)
        case "sign":
            above, below = less(">", a, like(a, 0)), less("<", a, like(a, 0))
            return b.sub(b.zext(above, a.type), b.zext(below, a.type))
        case "div" | "mod" | "fmod":
            return _divide(b, fn, a, args[1], signed)
        case "pow":
            return _power(b, a, args[1], signed)
        case "bit_and":
            return b.and_(*args)
        case "bit_or":
            return b.or_(*args)
        case "bit_xor":
            return b.xor(*args)
        case "bit_not":
            return b.not_(a)
    raise ValueError(f"no code for {fn} of integers")


def _divide(b: ir.IRBuilder, fn: str, a: ir.Value, d: ir.Value, signed: bool) -> ir.Value:
    """The processor stops the program on x / 0 and on lowest / -1, so neither may reach it.

    Both give what numpy gives: x / 0 == 0 and lowest / -1 == lowest.
    """
    zero, one = like(a, 0), like(a, 1)
    by_zero = b.icmp_unsigned("==", d, zero)
    safe = b.select(by_zero, one, d)
    if not signed:
        value = b.udiv(a, safe) if fn == "div" else b.urem(a, safe)
        return b.select(by_zero, zero, value)
    by_minus_one = b.icmp_signed("==", d, like(a, -1))
    safe = b.select(by_minus_one, one, safe)
    if fn == "div":
        value = b.select(by_minus_one, b.sub(zero, a), b.sdiv(a, safe))
        return b.select(by_zero, zero, value)
    rest = b.select(b.or_(by_zero, by_minus_one), zero, b.srem(a, safe))
    if fn == "mod":
        differ = b.xor(b.icmp_signed("<", rest, zero), b.icmp_signed("<", d, zero))
        wrong = b.and_(differ, b.icmp_signed("!=", rest, zero))
        rest = b.select(wrong, b.add(rest, d), rest)
    return rest


def _power(b: ir.IRBuilder, base: ir.Value, exponent: ir.Value, signed: bool) -> ir.Value:
    """Square and multiply over the bits of the exponent. A negative power is 0 but for 1 and -1."""
    zero, one = like(base, 0), like(base, 1)
    result, square = one, base
    for bit in range(element(base.type).width):
        taken = b.icmp_unsigned("!=", b.and_(exponent, like(base, 1 << bit)), zero)
        result = b.select(taken, b.mul(result, square), result)
        square = b.mul(square, square)
    if not signed:
        return result
    unit = b.icmp_unsigned("<=", b.add(base, one), like(base, 2))  # -1, 0 or 1
    unit = b.and_(unit, b.icmp_unsigned("!=", base, zero))
    odd = b.icmp_unsigned("!=", b.and_(exponent, one), zero)
    inverse = b.select(unit, b.select(odd, base, one), zero)
    return b.select(b.icmp_signed("<", exponent, zero), inverse, result)


# ── conversions ──


def _cast(b: ir.IRBuilder, value: ir.Value, old: DType, new: DType) -> ir.Value:
    target = with_lanes(register_type(new), value)
    if old == new:
        return value
    if new.kind == "bool":
        if old.is_float:
            return b.fcmp_unordered("!=", value, like(value, 0.0))
        return b.icmp_unsigned("!=", value, like(value, 0))
    if old.size == 8 and old.is_float and new.size == 2 and new.is_float:
        return b.fptrunc(_to_odd(b, value), target)
    if old.is_float and new.is_float:
        return b.fpext(value, target) if new.size > old.size else b.fptrunc(value, target)
    if old.is_float:  # saturating: out of range has no meaning in C, here it has one
        name = "fptosi.sat" if new.kind == "int" else "fptoui.sat"
        return intrinsic(b, f"{name}.{mangled(target)}.{mangled(value.type)}", [value], target)
    if new.is_float:
        return b.sitofp(value, target) if old.kind == "int" else b.uitofp(value, target)
    if old.kind == "bool" or new.size > old.size:
        return b.sext(value, target) if old.kind == "int" else b.zext(value, target)
    return b.trunc(value, target) if new.size < old.size else value


def _to_odd(b: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """f64 -> f32, ready for another rounding to f16 (most processors have no direct way).

    Rounding twice may go wrong where the first result lies halfway between two f16. So what is not
    exact here becomes the neighbour whose last bit is 1, which is never halfway (round to odd).
    """
    narrow = b.fptrunc(value, with_lanes(ir.FloatType(), value))
    back = b.fpext(narrow, value.type)
    bits = b.bitcast(narrow, with_lanes(ir.IntType(32), value))
    size, before = unary(b, "fabs", back), unary(b, "fabs", value)
    truncated = b.select(b.fcmp_ordered(">", size, before), b.sub(bits, like(bits, 1)), bits)
    exact = b.fcmp_unordered("==", back, value)  # or NaN
    return b.bitcast(b.select(exact, bits, b.or_(truncated, like(bits, 1))), narrow.type)
