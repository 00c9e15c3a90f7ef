"""Comparisons and choices, and the logic of bits and predicates.

    setp.lt.s32 %p1, %r1, %r2        %p1 = %r1 < %r2
    selp.f32 %f1, %f2, %f3, %p1      %f1 = %f2 where %p1, else %f3

Comparisons of floats are false where one is no number, but for those that end in `u`. Next room:
`convert.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_lib.gpu.ops.integers import binary, unary
from course_lib.gpu.ops.rounding import flushed
from course_lib.gpu.ops.row import Array, Meaning, op, refuse
from course_lib.gpu.ptx.parts import Instruction, Pair
from course_lib.gpu.ptx.types import TYPES

PRED = TYPES["pred"]
COMPARED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater,
    "hs": np.greater_equal,
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)), "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}  # fmt: skip
TOGETHER = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def comparison(i: Instruction) -> Callable[[Array, Array], Array]:
    compare = _comparison(i)
    if i.has("ftz"):
        return lambda a, b: compare(flushed(a), flushed(b))
    return compare


def _comparison(i: Instruction) -> Callable[[Array, Array], Array]:
    name = next((m for m in i.modifiers if m in COMPARED or m[:-1] in COMPARED), "")
    if not name:
        raise refuse(i, "it names no comparison")
    if name in COMPARED:
        if name == "ne" and i.types[-1].is_float:
            return lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b)
        return COMPARED[name]
    ordered = COMPARED[name[:-1]]  # ltu: or one is no number
    return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)


@op("setp")
def setp(i: Instruction) -> Meaning:
    type = i.types[-1]
    compare = comparison(i)
    with_other = i.one_of(*TOGETHER)
    function, sources = compare, (type, type)
    if with_other:
        together, sources = TOGETHER[with_other], (type, type, PRED)
        function = lambda a, b, c: together(compare(a, b), c)  # noqa: E731
    if isinstance(i.operands[0], Pair):
        if with_other:
            raise refuse(i, "a second result and a third operand together")
        return Meaning(sources, PRED, lambda a, b: (c := compare(a, b), ~c), second=True)
    return Meaning(sources, PRED, function)


@op("set")
def set_(i: Instruction) -> Meaning:
    """All ones, or 1.0, where the comparison holds."""
    result, type = i.types
    compare = comparison(i)
    one = 1.0 if result.is_float else -1
    return Meaning((type, type), result,
                   lambda a, b: np.where(compare(a, b), one, 0).astype(result.numpy))  # fmt: skip


@op("selp")
def selp(i: Instruction) -> Meaning:
    (type,) = i.types
    return Meaning((type, type, PRED), type, lambda a, b, p: np.where(p, a, b))


@op("slct")
def slct(i: Instruction) -> Meaning:
    type, sign = i.types
    return Meaning((type, type, sign), type, lambda a, b, c: np.where(c >= 0, a, b))


def _logic(name: str, function: Callable[..., Array]) -> None:
    @op(name)
    def build(i: Instruction) -> Meaning:
        return binary(i, function)


_logic("and", np.bitwise_and)
_logic("or", np.bitwise_or)
_logic("xor", np.bitwise_xor)


@op("not")
def not_(i: Instruction) -> Meaning:
    return unary(i, np.invert)


@op("cnot")
def cnot(i: Instruction) -> Meaning:
    (type,) = i.types
    return unary(i, lambda a: (a == 0).astype(type.numpy))
