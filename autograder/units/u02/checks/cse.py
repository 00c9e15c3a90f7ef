"""Checks of unit 2 for common subexpressions.

Which node of equal ones is kept is said, so a small program has one right result. Some programs,
with what cse makes of them, stand in cse.txt. Next room: match.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import Wrong, checks
from autograder.check.programs import deep, diamond, graphs
from autograder.check.properties import same_meaning
from autograder.units.u02.checks.compare import programs_in, same_program_as, two_programs
from autograder.units.u02.checks.shared import compiles, doubled_often, same_bits, takes_large
from course_lib.ir.graph.build import concat, neg, select, softmax, trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.infra.match import COMMUTATIVE

LINEAR = "Near-linear time: do not compare all pairs"
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


_LARGE = np.linspace(0, 1, 3000, dtype=np.float32)
# (program and what cse makes of it, types, why, words of the specification)
_LARGER: list[tuple[Any, Any, list[str], str, str]] = [
    (lambda x: (x + const(_LARGE)) * (x + const(_LARGE.copy())),
     lambda x: (y := x + const(_LARGE)) * y, ["f32[3000]"],
     "The two constants are large and hold the same bytes.", BYTES),
    (lambda x, y: concat([x, y, y, x, y, x], 0) * concat([x, y, y, x, y, x], 0),
     lambda x, y: (r := concat([x, y, y, x, y, x], 0)) * r, ["f32[2]", "f32[2]"],
     "The two concat have the same six operands.", OPERANDS),
]  # fmt: skip
# (a program and what cse makes of it: one text, or two graphs; why; words)
EQUAL: list[tuple[Any, ...]] = [
    *programs_in("cse.txt"),
    *(((trace(a, *types), trace(b, *types)), *row) for a, b, types, *row in _LARGER),
]


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


def _different() -> list[tuple[Graph, str, str]]:
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


@for_each("passes.cse", _different(), "{} programs in which nothing is equal")
def cse_keeps_apart_what_differs(cse, before, why, spec):
    """Different constants, attributes, orders and inputs are different values."""
    problem = f"Nothing may merge here. {why}"
    same_program_as(before, cse(before), before, problem=problem, spec=spec,
                    label_spec=FIRST)  # fmt: skip


@for_each("passes.cse", EQUAL, "{} programs with equal values", spec=FIRST)
def cse_merges_what_is_equal(cse, text, why, spec):
    """Equal chains, operands in either order, equal constants; the first is kept, dead code too."""
    before, after = two_programs(text) if isinstance(text, str) else text
    same_program_as(before, cse(before), after, problem=why, spec=spec, label_spec=FIRST)


@checks("passes.cse", spec=[ORDER, APART])
def cse_knows_what_commutes(cse):
    """x op y is y op x for each op in `COMMUTATIVE`, and for no other."""
    for kind, ops in _TWO_OPERANDS.items():
        before = trace(functools.partial(_both_orders, ops), kind, kind)
        after = same_meaning(before, cse(before))
        for node, turned in zip(after.outputs[::2], after.outputs[1::2], strict=True):
            commutes = node.op in COMMUTATIVE
            if (node is turned) != commutes:
                one, two = f"{node.op}(%x, %y)", f"{node.op}(%y, %x)"
                raise Wrong(f"{one} {'is' if commutes else 'is not'} {two}.",
                            program=trace(functools.partial(_both_orders, [node.op]), kind, kind),
                            got=f"{one} and {two} are {'two nodes' if commutes else 'one node'}",
                            spec=ORDER if commutes else APART)  # fmt: skip
    return "every operation of two operands, in both orders"


def _both_orders(ops: Iterable[str], x: Node, y: Node) -> list[Node]:
    return [apply(op, *operands) for op in ops for operands in ((x, y), (y, x))]


_TWO_OPERANDS = {
    "f32[3,3]": ("add", "mul", "sub", "div", "max", "min", "pow", "matmul", "eq", "ne", "lt"),
    "i32[2]": ("bit_and", "bit_or", "bit_xor", "mod", "add", "mul", "max", "ge"),
    "bool[2]": ("and", "or", "xor", "eq", "ne"),
}


@checks("passes.cse", given=graphs(size=8), examples=15, spec=OPERANDS)
def cse_keeps_every_bit(cse, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, cse(graph))


@checks("passes.cse", given=graphs(size=5, repeats=False), examples=15,
        spec=ORDER)  # fmt: skip
def cse_merges_a_program_with_its_copy(cse, graph):
    """A program that computes everything twice, in the copy with operands the other way round."""
    twice = _doubled(graph)
    after = same_meaning(twice, cse(twice))
    half = len(after.outputs) // 2
    for first, second in zip(after.outputs[:half], after.outputs[half:], strict=True):
        if first is not second:
            one, two = (value_names(after)[n] for n in (first, second))
            raise Wrong(f"Every operation is here twice, so at most {len(graph.ops)} of "
                        f"{len(twice.ops)} may be left, but %{one} and %{two} are still two.",
                        program=twice, got=after, marked=(two,))  # fmt: skip


def _many_of_a_kind() -> Graph:
    return _doubled(trace(lambda x: [
        apply("slice", x, starts=(k,), stops=(k + 1,)) * const(float(k)) for k in range(200)],
        "f32[200]"))  # fmt: skip


@functools.lru_cache(maxsize=1000)
def _doubled(graph: Graph) -> Graph:
    """Every operation a second time, turned around where it commutes; both are returned."""
    copy: dict[Node, Node] = {n: n for n in graph.nodes if n.op in ("input", "constant")}
    nodes = list(graph.nodes)
    for node in graph.ops:
        inputs = [copy[i] for i in node.inputs]
        if node.op in COMMUTATIVE:
            inputs.reverse()
        copy[node] = apply(node.op, *inputs, **node.attrs)
        nodes.append(copy[node])
    outputs = (*graph.outputs, *(copy[n] for n in graph.outputs))
    return Graph(graph.name, graph.inputs, tuple(nodes), outputs)


SHARED = "a shared value is looked at once for each path"
takes_large("passes.cse", [  # ours takes a sixth to a third of the steps
    (lambda: _doubled(deep(1100)), 1_000_000, "two equal chains of 1,100 relu",
     "are all pairs compared, or one walk for each?", 1100, ALONG),
    (_many_of_a_kind, 60_000, "200 slices of x, each times a constant, twice", "is each node "
     "compared with all constants, or with all that read the same value?", 400, LINEAR),
    (lambda: _doubled(doubled_often()), 150_000, "a value that is doubled 60 times, twice", SHARED,
     60, LINEAR),
    (lambda: _doubled(diamond()), 150_000, "60 values, each read by two operations, twice", SHARED,
     180, LINEAR),
])  # fmt: skip
compiles("passes.cse", SAME)
