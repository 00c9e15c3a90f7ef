"""Programs for cse: some with equal values (and those of cse.txt), some where nothing merges.

Next room: match.py.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.units.u02.checks.compare import programs_in
from course_lib.ir.graph.build import concat, neg, select, softmax, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

FIRST = "of several equal ones, the first is kept as it is"
ALONG = "two equal chains merge from end to end, in one walk from the inputs"
BYTES = "Constants are equal if they have the same element type, shape and *bytes*"

ORDER = "may stand in either order"
ATTRIBUTES = "Attributes count: softmax along axis 0 is not softmax along axis 1"
PADS = "a pad with -0.0 is not a pad with 0.0"
OPERANDS = "equal operands (after merging) and equal attributes"
APART = "`sub`, `div` and `matmul` are not commutative"
INPUTS = "Inputs are never merged with each other"
ZEROS = "(So -0.0 is not 0.0, and NaN is NaN.)"
TYPES = "the same element type, shape and *bytes*"
SAME = "Merge nodes that compute the same value"


def _large() -> tuple[Graph, Graph]:
    large = np.linspace(0, 1, 3000, dtype=np.float32)
    return (trace(lambda x: (x + const(large)) * (x + const(large.copy())), "f32[3000]"),
            trace(lambda x: (y := x + const(large)) * y, "f32[3000]"))  # fmt: skip


def _six() -> tuple[Graph, Graph]:
    def row(x: Node, y: Node) -> Node:
        return concat([x, y, y, x, y, x], 0)

    return (trace(lambda x, y: row(x, y) * row(x, y), "f32[2]", "f32[2]"),
            trace(lambda x, y: (r := row(x, y)) * r, "f32[2]", "f32[2]"))  # fmt: skip


# (a program and what cse makes of it, or a function that makes both; why; words)
EQUAL: list[tuple[Any, str, str]] = [
    *programs_in("cse.txt"),
    (_large, "The two constants are large and hold the same bytes.", BYTES),
    (_six, "The two concat have the same six operands.", OPERANDS),
]


@functools.cache
def different() -> list[tuple[Graph, str, str]]:
    """Programs that cse leaves alone: (program, why, words of the specification)."""
    programs = [(trace(make, *types), why, spec) for make, types, why, spec in DIFFERENT]
    for op, type_, attrs, why in ATTRIBUTED:
        every = trace(lambda x, op=op, attrs=attrs: [apply(op, x, **a) for a in attrs], type_)
        programs.append((every, why, ATTRIBUTES))
    for a, b, type_, why, spec in _constants():
        programs.append((trace(lambda x, a=a, b=b: (x * const(a), x * const(b)), type_), why, spec))
    kinds = [const(0, "i32"), const(0.0), const(0, "u32"), const([0], "u8"), const(False),
             const(0, "i8"), const(0, "u8"), const([0.0])]  # fmt: skip
    empty = [const(np.zeros(0, kind)) for kind in ("f4", "f8", "i4", "i8")]
    empty += [const(np.zeros(shape, "f4")) for shape in ((0, 3), (3, 0))]
    x, twin = inp("x", "f32[4]"), inp("x", "f32[4]")
    return [
        *programs,
        (Graph.of([], kinds), "Each of these constants has a different type.", TYPES),
        (Graph.of([], empty), "Each of these constants is empty, and has a different type.", TYPES),
        (Graph.of([x, twin], [neg(x) - neg(twin)]),
         "Two inputs may have the same name and type, but they are two values.", INPUTS),
    ]  # fmt: skip


def _constants() -> list[tuple[Any, Any, str, str, str]]:
    """(two constants, the type of x, why they differ, words of the specification)"""
    bits = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)  # two NaN
    long = np.where(np.arange(2000) == 999, 2.0, 1.0).astype(np.float32)
    near = np.array([1, 1e-30], np.float32)
    longer = np.where(np.arange(3000) == 2999, 2.0, 1.0).astype(np.float32)
    tenth, whole = np.array([0.1, 1.0]), np.array([2**53] * 2, np.int64)
    return [
        (0.0, -0.0, "f32[2]", "0.0 == -0.0 is True, but x * 0.0 is not x * -0.0.", ZEROS),
        ([1.0, 2.0], [1.0, 3.0], "f32[2]", "The constants differ.", BYTES),
        ([1.0, 2.0], [2.0, 1.0], "f32[2]", "They hold the same numbers in another order.", BYTES),
        (bits[:1], bits[1:], "f32[2]", "Both are NaN, but their bytes differ.", BYTES),
        (near, np.nextafter(near, np.float32(2)), "f32[2]",
         "The constants are close to each other, but not equal.", BYTES),
        (long, long[::-1], "f32[2000]",
         "The constants differ in two of 2,000 elements, and str(array) shows neither.", BYTES),
        ([[1.0, 1.0]], [1.0, 1.0], "f32[2]", "f32[1,2] is not f32[2].", BYTES),
        (longer, np.ones(3000, np.float32), "f32[3000]",
         "The constants differ in the last of 3,000 elements.", BYTES),
        (tenth, np.nextafter(tenth, 1), "f64[2]", "As f32 these numbers are equal; they are f64.",
         BYTES),
        (whole, whole + 1, "i64[2]", "As floats, 2**53 and 2**53 + 1 are equal; they are i64.",
         BYTES),
    ]  # fmt: skip


def _sixes(x: Node, y: Node, z: Node) -> list[list[Node]]:
    """Rows of six operands: one of them is another one, or two neighbours are turned around."""
    row, following = [x, y, z, x, y, z], {x: y, y: z, z: x}
    changed = [[following[i] if k == at else i for k, i in enumerate(row)] for at in range(6)]
    turned = [[*row[:k], row[k + 1], row[k], *row[k + 2 :]] for k in range(5)]
    return [row, *changed, *turned]


_F, _M = "f32[4]", "f32[4,4]"

# (an op, the type of its operand, attributes of which no two are equal, why)
ATTRIBUTED: list[tuple[str, str, list[dict[str, Any]], str]] = [
    ("softmax", _M, [{"axis": a} for a in (0, 1, -1)], "No two of these axes are the same number."),
    ("reduce_sum", _M, [{"axes": (0,), "keepdims": False}, {"axes": (1,), "keepdims": False},
                        {"axes": (0,), "keepdims": True}, {"axes": (), "keepdims": False}],
     "The sums run along different axes, or keep them."),
    ("transpose", _M, [{"perm": p} for p in ((0, 1), (1, 0))],
     "One of them moves nothing, and the other one transposes the matrix."),
    ("transpose", "f32[2,2,2]", [{"perm": p} for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2))],
     "The axes are in other orders."),
    ("reshape", _M, [{"shape": s} for s in ((4, 4), (2, 8), (16,))],
     "They reshape to different shapes."),
    ("pad", _F, [{"low": (1,), "high": (1,), "value": v}
                 for v in (0.5, 0.25, 1.0, -1.0, 1.0000001, 1e-7, 2e-7)],
     "They pad with other numbers."),
    ("pad", _F, [{"low": (2,), "high": (1,)}, {"low": (1,), "high": (2,)}],
     "One of them pads the front more, and the other one the end."),
    ("cumsum", _F, [{"axis": 0, "exclusive": e, "reverse": r}
                    for e in (False, True) for r in (False, True)],
     "The sums run in two directions, with and without the element itself."),
    ("clamp", _F, [{"min": a, "max": b} for a, b in (
        (None, 0.0), (0.0, None), (0.0, 0.0), (None, None), (0.5, 1.0), (0.25, 1.0))],
     "A limit of 0.0 is a limit, and None is none."),
    ("gelu", _F, [{"approximate": a} for a in ("none", "tanh")], "One of them is approximate."),
    ("slice", "f32[4,4,4]", [{"starts": (0, 0, a), "stops": (2, 2, a + 2)} for a in (0, 1, 2)],
     "They begin at other places of the last axis."),
    ("slice", _F, [{"starts": (0,), "stops": (3,), "steps": (s,)} for s in (1, 2)],
     "The steps differ."),
    ("cast", _F, [{"dtype": to} for to in ("f64", "f16", "i32")], "The types differ."),
]  # fmt: skip

# (program, types of its inputs, why nothing merges, words of the specification)
DIFFERENT: list[tuple[Any, list[str], str, str]] = [
    (lambda x, y: (x - y) * (y - x), [_F] * 2, "x - y is not y - x.", APART),
    (lambda x, y: [concat(p, 0) for p in ([x, x, y], [x, y, y], [y, x, x])], ["f32[2]"] * 2,
     "They have the same operands, in other places or in another number.", OPERANDS),
    (lambda x, y, z: [concat(p, 0) for p in _sixes(x, y, z)], ["f32[2]"] * 3,
     "No two concat have the same six operands in the same order.", OPERANDS),
    (lambda x: [apply("pad", x, low=(1,), high=(1,), value=v) for v in (0.0, -0.0)], [_F],
     "One of them pads with 0.0, and the other one with -0.0.", PADS),
    (lambda c, x, y: [select(c, x, y), select(c, y, x)], ["bool[2]", "f32[2]", "f32[2]"],
     "The operands of a select are in another order.", OPERANDS),
    (lambda x, y: (softmax(x) * softmax(y), y), [_F] * 2,
     "Two inputs of one type are two values.", INPUTS),
    (lambda x, y, z: ((x + y) + z, x + (y + z), (x + x) + y), [_F] * 3,
     "Sums in another order are rounded differently.", OPERANDS),
    (lambda x: (x + x, neg(neg(x)), apply("reshape", x, shape=(4,)), x * 2.0, x * 1.0), [_F],
     "Nothing is here twice; making it simpler is for another pass.", SAME),
    (lambda x, y: (apply("max", x, y), apply("max", y, x), apply("min", x, y), apply("min", y, x)),
     [_F] * 2, "max(0.0, -0.0) may be either zero, so the order counts.",
     "`max` and `min` are not in the set"),
]  # fmt: skip
