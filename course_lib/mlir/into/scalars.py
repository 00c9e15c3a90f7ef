"""arith and math as ops of ours: on single numbers, and on all points of a domain at once.

    arith.cmpf ugt, %a, %b : f32     ->     not(le(%a, %b)), which is true for NaN as `ugt` is

An integer of MLIR's has no sign; where the operation reads it without one (`arith.divui`), it is
cast to an unsigned one and back. Next room: `maps.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.ir.graph.node import Node, apply
from course_lib.ir.scalar import SCALARS
from course_lib.ir.types import DType
from course_lib.mlir.into.cursor import Cursor, Unreadable, tensor_type

# What is one operation of math for floats is the op of ours whose row in `ir/scalar.py` says so.
_MATH = {row.mlir.split()[0]: name for name, row in SCALARS.items() if row.arity == 1 and row.mlir}
UNARY = {word: name for word, name in _MATH.items() if word.startswith("math.")} | {
    "math.rsqrt": "rsqrt", "math.absi": "abs", "arith.negf": "neg",
}  # fmt: skip
BINARY = {
    "arith.addf": "add", "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div",
    "arith.remf": "fmod", "arith.maximumf": "max", "arith.minimumf": "min", "math.powf": "pow",
    "arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.divsi": "div",
    "arith.remsi": "fmod", "arith.maxsi": "max", "arith.minsi": "min",
}  # fmt: skip
UNSIGNED = {"arith.divui": "div", "arith.remui": "fmod", "arith.maxui": "max", "arith.minui": "min"}
LOGIC = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "xor"}
CASTS = {"extf", "truncf", "sitofp", "uitofp", "fptosi", "fptoui", "extsi", "extui", "trunci",
         "index_cast"}  # fmt: skip
COMPARISONS = {"eq": "eq", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le", "ne": "ne"}
OPPOSITE = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}

Look = Callable[[str], Node]  # the value of a name


def scalar(op: str, c: Cursor, look: Look) -> Node | None:
    """The value of an operation; None if it is no operation on numbers."""
    if op in UNARY:
        return apply(UNARY[op], look(c.value()))
    if op in ("arith.cmpf", "arith.cmpi"):
        return _compared(op, c, look)
    if op == "arith.select":
        return _selected(*operands(c, look, 3))
    dialect, _, name = op.partition(".")
    if dialect == "arith" and name in CASTS:
        return _cast(name, c, look)
    if op in BINARY or op in UNSIGNED or op in LOGIC:
        return _binary(op, *operands(c, look, 2))
    return None


def operands(c: Cursor, look: Look, count: int) -> list[Node]:
    """The values that come next, which have to be so many."""
    names = c.values()
    if len(names) != count:
        raise Unreadable(f"{count} operands expected, got {len(names)}")
    return [look(name) for name in names]


def _binary(op: str, a: Node, b: Node) -> Node:
    dtype = a.type.dtype
    if op in LOGIC:
        return apply(LOGIC[op] if dtype.kind == "bool" else f"bit_{LOGIC[op]}", a, b)
    if dtype.kind == "bool":
        raise Unreadable(f"{op} of truth values")
    if op in UNSIGNED:
        return _signed(apply(UNSIGNED[op], unsigned(a), unsigned(b)), dtype)
    return apply(BINARY[op], a, b)


def unsigned(a: Node) -> Node:
    """The same bits, read as a number without sign."""
    return apply("cast", a, dtype=f"u{a.type.dtype.size * 8}")


def _signed(a: Node, dtype: DType) -> Node:
    return apply("cast", a, dtype=dtype.name)


def _compared(op: str, c: Cursor, look: Look) -> Node:
    predicate = c.take()
    c.take(",")
    a, b = operands(c, look, 2)
    if op == "arith.cmpi":
        if predicate in ("eq", "ne"):
            return apply(predicate, a, b)
        if predicate[:1] not in ("s", "u") or predicate[1:] not in COMPARISONS:
            raise Unreadable(f"a comparison `{predicate}`")
        if predicate[0] == "u" and a.type.dtype.kind != "bool":
            a, b = unsigned(a), unsigned(b)
        return apply(COMPARISONS[predicate[1:]], a, b)
    return _floats(predicate, a, b)


def _floats(predicate: str, a: Node, b: Node) -> Node:
    """`o`: false for NaN; `u`: true for NaN. numpy's `ne` is true for NaN, the others false."""
    if predicate in ("uno", "ord"):
        unordered = (
            apply("isnan", a) if a is b else apply("or", *(apply("isnan", x) for x in (a, b)))
        )
        return unordered if predicate == "uno" else apply("not", unordered)
    if predicate in ("one", "ueq"):
        apart = apply("or", apply("lt", a, b), apply("gt", a, b))
        return apart if predicate == "one" else apply("not", apart)
    order, name = predicate[0], predicate[1:]
    if name not in COMPARISONS:
        raise Unreadable(f"a comparison `{predicate}`")
    if order == "u" and name != "ne":
        return apply("not", apply(OPPOSITE[name], a, b))
    return apply(name, a, b)


def _selected(condition: Node, a: Node, b: Node) -> Node:
    """x > 0 or NaN ? x : 0 is relu."""
    if condition.op == "not" and condition.inputs[0].op == "le":
        x, zero = condition.inputs[0].inputs
        if (x, zero) == (a, b) and zero.op == "constant" and not np.any(zero.value):
            return apply("relu", x)
    return apply("select", condition, a, b)


def _cast(name: str, c: Cursor, look: Look) -> Node:
    value = look(c.value())
    while c.take() != "to":
        pass
    new, old = tensor_type(c.take()).dtype, value.type.dtype
    if old.kind == "bool" and name in ("extsi", "sitofp"):
        return apply("neg", apply("cast", value, dtype=new.name))
    if new.kind == "bool":
        raise Unreadable(f"arith.{name} to i1")
    if name in ("extui", "uitofp") and old.kind == "int":
        value = unsigned(value)
    if name == "fptoui":
        value = apply("cast", value, dtype=f"u{new.size * 8}")
    return apply("cast", value, dtype=new.name)
