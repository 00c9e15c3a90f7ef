"""What the operations of `arith` compute from numbers: in the body of a `linalg.generic`.

    computed(op, [a, b])     # its result; ValueError, in words, for what has no result here

A float is a numpy scalar of its width; an integer, an `index` or a truth value is a Python int from
0 to 2 ** width - 1. Next room: wild.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith, builtin
from xdsl.ir import Attribute, Operation

FLOATS: dict[Attribute, type] = {
    builtin.f16: np.float16,
    builtin.f32: np.float32,
    builtin.f64: np.float64,
}
OF_FLOATS: dict[str, Callable[..., Any]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
    "negf": lambda a: -a,
    "maximumf": np.maximum,  # NaN if an operand is
    "minimumf": np.minimum,
    "maxnumf": np.fmax,  # the other operand, if one is NaN
    "minnumf": np.fmin,
    "extf": lambda a: a,
    "truncf": lambda a: a,
}
UNSIGNED: dict[str, Callable[..., Any]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divui": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-a // b),
    "remui": lambda a, b: a % b,
    "minui": min,
    "maxui": max,
    "shli": lambda a, b: a << b,
    "shrui": lambda a, b: a >> b,
    "uitofp": float,
    "extui": lambda a: a,
    "trunci": lambda a: a,
}
SIGNED: dict[str, Callable[..., Any]] = {
    "divsi": lambda a, b: abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1),
    "remsi": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "minsi": min,
    "maxsi": max,
    "shrsi": lambda a, b: a >> b,
    "sitofp": float,
    "extsi": lambda a: a,
    "index_cast": lambda a: a,
}
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}


def computed(op: Operation, given: list[Any]) -> Any:
    """The result of an operation of `arith`."""
    _believes_in_no_nan(op)
    kind = op.results[0].type
    try:
        with np.errstate(all="ignore"):
            return as_type(_computed(op, op.name.removeprefix("arith."), given), kind)
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"the result of {op.name} for these operands may be anything") from None


def _computed(op: Operation, name: str, given: list[Any]) -> Any:
    match op:
        case arith.ConstantOp(value=builtin.FloatAttr(value=number)):
            return number.data
        case arith.ConstantOp(value=builtin.IntegerAttr(value=number)):
            return number.data
        case arith.CmpfOp():
            return _floats_compared(op.predicate.value.data, *given)
        case arith.CmpiOp():
            return _integers_compared(op, *given)
        case arith.SelectOp():
            return given[1] if given[0] else given[2]
        case arith.BitcastOp():
            return _same_bits(given[0], op.operands[0].type, op.results[0].type)
        case arith.FPToSIOp() | arith.FPToUIOp():
            return _whole(op, given[0])
    if name in OF_FLOATS:
        return OF_FLOATS[name](*given)
    if name in UNSIGNED:
        return UNSIGNED[name](*given)
    if name in SIGNED:
        pairs = zip(given, op.operands, strict=True)
        return SIGNED[name](*(_signed(number, value.type) for number, value in pairs))
    raise ValueError(f"{op.name} is not supported in the body of a linalg.generic here")


def as_type(number: Any, kind: Attribute) -> Any:
    """A number as a value of this type: rounded, or without the bits that do not fit."""
    if kind in FLOATS:
        return FLOATS[kind](number)
    return int(number) % (1 << _width(kind))


def _width(kind: Attribute) -> int:
    """How many bits an integer has."""
    if isinstance(kind, builtin.IndexType):
        return 64
    if isinstance(kind, builtin.IntegerType):
        return kind.width.data
    raise ValueError(f"there are no numbers of type {kind} here")


def _signed(number: int, kind: Attribute) -> int:
    width = _width(kind)
    return number - (1 << width) if number >> (width - 1) else number


def _floats_compared(predicate: int, a: Any, b: Any) -> bool:
    """`o...`: false if one is not a number; `u...`: true."""
    name = arith.CMPF_COMPARISON_OPERATIONS[predicate]
    if name in ("false", "true"):
        return name == "true"
    if np.isnan(a) or np.isnan(b):
        return name[0] == "u"
    return name == "ord" or (name != "uno" and bool(ORDERS[name[1:]](a, b)))


def _integers_compared(op: arith.CmpiOp, a: int, b: int) -> bool:
    name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if name[0] == "s":
        a, b = (_signed(number, op.lhs.type) for number in (a, b))
    return ORDERS[name[-2:]](a, b)


def _same_bits(number: Any, given: Attribute, kind: Attribute) -> Any:
    """A float as the integer that has its bits, or the other way round."""
    if given in FLOATS:
        data = FLOATS[given](number).tobytes()
    else:
        data = number.to_bytes(-(-_width(given) // 8), "little")
    if kind in FLOATS:
        return np.frombuffer(data, FLOATS[kind])[0]
    return int.from_bytes(data, "little")


def _whole(op: Operation, number: Any) -> int:
    """A float without its fraction, if the type of the result has that number."""
    width = _width(op.results[0].type)
    low = -(1 << (width - 1)) if isinstance(op, arith.FPToSIOp) else 0
    if not (np.isfinite(number) and low <= int(number) < low + (1 << width)):
        raise ValueError(f"the result of {op.name} for {number:g} may be anything")
    return int(number)


def _believes_in_no_nan(op: Operation) -> None:
    """ValueError for an operation that says that no operand is NaN."""
    flags = op.properties.get("fastmath")
    if isinstance(flags, arith.FastMathFlagsAttr) and "nnan" in [f.value for f in flags.data]:
        raise ValueError(
            f"with this fastmath flag, the result of {op.name} for NaN may be anything"
        )
