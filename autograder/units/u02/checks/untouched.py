"""Checks of unit 2 for simplify: every elementwise op, of which most have no identity.

    floor(floor(x))        # may become floor(x): the same bits
    exp(log(x))            # may not become x: it is NaN for -1

Then every op beside every other one: exp(x) > 0 is 0 > 0 for -infinity, and not (x < y) is not
x >= y if one of them is NaN. And ops that combine or move elements, of which the type says little:
cumsum(x) has the type of x, and reduce_sum(transpose(x)) of a square that of reduce_sum(x).
Whatever rules an answer has, they must keep every bit. Next room: strength.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autograder.check.framework import checks
from autograder.check.meaning import meaning_of
from autograder.check.properties import valid_graph
from autograder.units.u02.checks.shared import becomes, equal_bits, same_bits, stays
from autograder.units.u02.checks.simplify import EXACT, MOVES, WHOLE
from course_lib.ir.graph.build import cast, concat, reshape, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import dtype

# The ops that this unit grades, and not whatever the table has: a new row changes no grade.
UNARY = ("neg", "abs", "sign", "relu", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid",
         "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh",
         "acosh", "atanh", "floor", "ceil", "round", "isnan", "isinf", "not",
         "bit_not")  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "mod", "fmod", "pow", "max", "min", "mul_rounded", "eq", "ne",
          "lt", "le", "gt", "ge", "and", "or", "xor", "bit_and", "bit_or", "bit_xor")  # fmt: skip
NUMBERS = (0, -0.0, 1, -1, 2, 0.5)
FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.1, 0.7, 0.5, 2.5, -1.5, 1e-7, 1e-30, 1e-45, 1e30,
          -3e38, np.inf, -np.inf, np.nan)  # fmt: skip
LARGEST = {"f16": (6e4, 6e-8), "f64": (1.7e308, 5e-324)}  # and the least of these types


def applied(op: str, *operands: Node | None, **attrs: Any) -> Iterator[Node]:
    """This node, or nothing where the op does not take these operands."""
    if None not in operands:
        try:
            yield apply(op, *operands, **attrs)
        except ValueError:
            return


def number(value: Any, kind: str, shape: tuple[int, ...] = ()) -> Node | None:
    """A constant of this element type, if it has the number."""
    type_ = dtype(kind)
    if not type_.is_float and (str(value) == "-0.0" or not type_.holds(value)):
        return None
    return const(np.full(shape, value, type_.numpy))


def each_of(ops: Iterable[str], *operands: tuple[Node | None, ...]) -> Iterator[Node]:
    """Every one of these ops, of each of these operands that it takes."""
    for op, some in itertools.product(ops, operands):
        yield from applied(op, *some)


def twice(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Every op of one operand, and every two in a row."""
    for node in each_of(UNARY, (x,)):
        yield from (node, *each_of(UNARY, (node,)))


def of_two(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Every op of two operands: of two values, of one, of one and a number; and an op after it."""
    numbers = [number(value, kind) for value in NUMBERS]
    yield from each_of(BINARY, (x, x), *((x, n) for n in numbers), *((n, x) for n in numbers))
    for node in each_of(BINARY, (x, y)):
        yield from (node, *each_of(UNARY, (node,)))


def lengths_of_one(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """What combines elements, over an axis of size 1: each result has the type of x."""
    column = apply("reshape", x, shape=(x.type.numel, 1))
    for op in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "mean"):
        yield from applied(op, column, axes=(1,), keepdims=True)
        yield from applied(op, column, axes=(1,))
    yield apply("cumsum", column, axis=1)
    if x.type.dtype.is_float:
        yield from (apply(op, column, axis=1) for op in ("softmax", "log_softmax"))


Make = Callable[[str, Node, Node], Iterator[Node]]


@functools.cache
def program(kind: str, *makes: Make) -> Graph:
    """A program of x and y that returns all these expressions, each once.

    x and y have an element for each pair of awkward numbers."""
    x, y = (inp(f"{name}_{kind}", f"{kind}[{len(awkward(kind)) ** 2}]") for name in "xy")
    outputs = [node for make in makes for node in make(kind, x, y)]
    return Graph.of([x, y], list(dict.fromkeys(outputs)), "expressions")


def awkward(kind: str) -> np.ndarray:
    """Numbers of this element type for which identities of school algebra break."""
    to = dtype(kind)
    if to.kind == "bool":
        return np.array([False, True, True, False])
    if to.is_float:
        with np.errstate(over="ignore"):
            return np.array([*FLOATS, *LARGEST.get(kind, ())]).astype(to.numpy)
    info = np.iinfo(to.numpy)
    less = [-1] if info.min else []
    return np.array([*range(9), 100, *less, info.max, info.min, info.min // 3], to.numpy)


def every_pair(graph: Graph) -> list[np.ndarray]:
    """Every pair of awkward numbers of a type, in x and y; c says where they are equal."""
    arrays = []
    for node in graph.inputs:
        name, kind = node.name.split("_")
        values = awkward(kind)
        x, y = np.repeat(values, len(values)), np.tile(values, len(values))
        arrays.append({"x": x, "y": y, "z": np.roll(x, 29), "c": x == y}[name])
    return arrays


def keeps_bits(answer: Any, graph: Graph, given: Any = every_pair, spec: str = EXACT) -> Graph:
    """Every output keeps every bit. What the answer left as it was need not be computed."""
    after = valid_graph(answer(graph), graph, spec=spec)
    rows = [row for row in zip(graph.outputs, after.outputs, strict=True) if row[0] is not row[1]]
    if not rows:
        return after
    meaning = meaning_of(graph, given)
    wanted = dict(zip(graph.outputs, meaning.outputs, strict=True))
    changed = Graph.of(graph.inputs, [new for _, new in rows], graph.name)
    results = meaning.outputs_of(changed)
    apart = [row for row, got in zip(rows, results, strict=True)
             if not equal_bits(got, wanted[row[0]]).all()]  # fmt: skip
    for row in sorted(apart, key=length)[:1]:
        before, now = (Graph.of(graph.inputs, [n], graph.name) for n in row)
        same_bits(before, now, spec=spec, given=given)
    return after


def length(row: Sequence[Any]) -> int:
    """Of how many nodes the first value of the row is made."""
    return len(topological_order([row[0]]))


@checks("passes.simplify", spec=[EXACT, WHOLE])
def simplify_keeps_the_bits_of_every_op(simplify):
    """Each elementwise op, once and twice in a row: what is simplified keeps every bit."""
    parts = [("f32", twice, lengths_of_one), ("f32", of_two), ("bool", twice, of_two),
             ("i32", twice, of_two, lengths_of_one)]  # fmt: skip
    for kind, *makes in parts:
        keeps_bits(simplify, program(kind, *makes))
    return f"{sum(len(program(*part).outputs) for part in parts):,} expressions of every op"


EITHER_WAY = ("add", "mul", "max", "min", "eq", "ne", "and", "or", "xor", "bit_and", "bit_or",
              "bit_xor")  # fmt: skip
SCHOOL = ("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "sinh", "cosh", "tanh",
          "sigmoid", "sign", "abs", "relu", "neg")  # fmt: skip
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
ARITHMETIC = ("add", "sub", "mul", "div", "mod", "fmod", "pow", "max", "min")


@checks("passes.simplify", spec=[EXACT, WHOLE])
def simplify_keeps_the_bits_of_what_is_near(simplify):
    """Two and three ops of the table in a row, and what could be chosen: every bit stays."""
    for kind in ("f32", "i32", "bool"):
        keeps_bits(simplify, program(kind, _one_then_two, _two_in_a_row))
    keeps_bits(simplify, program("u8", twice, of_two, lengths_of_one))
    keeps_bits(simplify, program("f32", _chosen, _identities))
    return "every operation after every other"


def _one_then_two(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An op of two operands after one of one operand."""
    numbers, ordered = [number(value, kind) for value in (0, 1)], {*BINARY} - {*EITHER_WAY}
    for inner in UNARY:
        for fx, fy in zip(applied(inner, x), applied(inner, y), strict=True):
            yield from each_of(BINARY, (fx, x), (fx, fy), *((fx, n) for n in numbers))
            yield from each_of(sorted(ordered), (x, fx), *((n, fx) for n in numbers))


def _two_in_a_row(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An op of two operands after another one."""
    for node in each_of(BINARY, (x, y)):
        yield from each_of(BINARY, (node, y), (x, node), (node, x), (y, node))


def _chosen(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """select after a comparison, and what could be chosen by it."""
    zero, one = number(0, kind), number(1, kind)
    values = [(x, y), (y, x), (x, zero), (zero, x), (one, zero), (zero, one), (x, -x), (-x, x)]
    for c in each_of(COMPARE, (x, y), (x, zero), (y, one)):
        yield from each_of(["select"], *((c, *two) for two in values))
        yield from each_of(["select"], *((apply("not", c), *two) for two in values))
    two = itertools.product(each_of(COMPARE, (x, y)), repeat=2)
    yield from each_of(("and", "or", "xor", "eq"), *two)


def _identities(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """What school algebra says of two functions of one number, and of one of two."""
    of_x = each_of(SCHOOL, (x,))
    yield from each_of(("mul", "div"), *itertools.combinations_with_replacement(of_x, 2))
    for inner in each_of(UNARY, (-x,)):
        yield from (*applied("neg", inner), *applied("sub", const(1.0), inner))
    for op in ARITHMETIC:
        for part in each_of(UNARY, *((node,) for node in applied(op, x, y))):
            yield from applied(op, part, y)
    both = apply("max", x, y), apply("min", x, y)
    yield from each_of(("add", "sub", "mul", "max", "min", "eq"), both)
    yield from each_of(("floor", "ceil", "round"), (x + 0.5,))


# ── what combines or moves elements ──

SUMS = ("reduce_sum", "reduce_max", "mean")
TYPE_KEPT = ("gelu", "silu", "hard_sigmoid", "hard_swish", "softplus", "elu", "leaky_relu",
             "layer_norm", "log_softmax")  # fmt: skip


@checks("passes.simplify", spec=[EXACT, MOVES])
def simplify_does_not_go_by_types(simplify):
    """Sums, cumulated sums, norms and movements, every two in a row: every bit stays."""
    keeps_bits(simplify, _squares(), _matrices)
    return "pairs of sums, norms and movements"


@functools.cache
def _squares() -> Graph:
    x = inp("x", "f32[4,4]")
    row = apply("slice", x, starts=(0, 0), stops=(1, 4))
    outputs = []
    for start in (x, row):
        outputs += [apply(op, start) for op in TYPE_KEPT]
        for once in steps_of(start, 4):
            seen, sums = (start.type, once.type), SUMS if start is x else ()
            outputs += [once, *(n for n in steps_of(once, 4) if n.type in seen or n.op in sums)]
        outputs += windows(start)
    return Graph.of([x], list(dict.fromkeys(outputs)), "squares")


def _matrices(graph: Graph) -> list[np.ndarray]:
    return [np.array([-2.5, *FLOATS[:12], *FLOATS[-3:]], np.float32)[::-1].reshape(4, 4)]


def steps_of(x: Node, side: int) -> list[Node]:
    """What combines or moves elements of this value, where `side` is the size of a matrix."""
    steps = [node for op, attrs in _steps(x, side) for node in applied(op, x, **attrs)]
    for axis, size in enumerate(x.type.dims):
        steps += applied("concat", x, x, axis=axis)
        steps += applied("gather", x, const(np.arange(size)[::-1]), axis=axis)
    identity = np.eye(x.type.dims[-1], dtype=np.float32) if x.type.rank else np.eye(1)
    return [*steps, *applied("matmul", x, const(identity))]  # infinity is multiplied by 0


def _steps(x: Node, side: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Operations of one operand, with their attributes; some do not fit."""
    dims, axes = x.type.dims, range(x.type.rank)
    zeros = [0] * len(dims)
    yield from ((op, {}) for op in ("neg", "abs", "relu"))
    for axis, size in enumerate(dims):
        with_ = functools.partial(_put, axis)
        yield from ((op, {"axes": (axis,), "keepdims": k}) for op in SUMS for k in (False, True))
        yield from ((op, {"axis": axis}) for op in ("cumsum", "softmax"))
        yield "slice", {"starts": zeros, "stops": with_(dims, size - 1)}
        yield "slice", {"starts": with_(zeros, 1), "stops": dims}
        yield "slice", {"starts": with_(zeros, size - 1), "stops": with_(dims, -1),
                        "steps": with_([1] * len(dims), -1)}  # fmt: skip
        yield "pad", {"low": with_(zeros, 1), "high": zeros}
        yield "pad", {"low": zeros, "high": with_(zeros, 1)}
    yield from (("transpose", {"perm": p}) for p in itertools.permutations(axes))
    for shape in ((side, side), (side * side,), (2, side * side // 2), (1, side), (side, 1)):
        yield "reshape", {"shape": shape}
    yield from (("expand", {"shape": s}) for s in ((side, side), (2, side, side)))
    yield from (("cast", {"dtype": to}) for to in ("f32", "f64", "f16", "i32", "bool"))
    yield "clamp", {"min": -1.0, "max": 1.0}


def _put(axis: int, numbers: Sequence[int], number: int) -> tuple[int, ...]:
    return tuple(number if k == axis else n for k, n in enumerate(numbers))


def windows(x: Node) -> Iterator[Node]:
    """Windows that lie over each element, and norms: the type of an image stays."""
    image = apply("reshape", x, shape=(1, 1, *x.type.dims))
    for op in ("max_pool", "avg_pool", "sum_pool"):
        yield apply(op, image, kernel=(3, 3), strides=(1, 1), pads=(1, 1, 1, 1))
        yield apply(op, image, kernel=(1, 1), strides=(1, 1))
    centre = np.zeros((1, 1, 3, 3), np.float32)
    centre[0, 0, 1, 1] = 1
    yield apply("conv", image, const(centre), pads=(1, 1, 1, 1))
    yield apply("conv", image, const(np.ones((1, 1, 1, 1), np.float32)))
    yield apply("group_norm", image, groups=1)
    one, zero = (const(np.array([v], np.float32)) for v in (1, 0))
    yield apply("batch_norm", image, one, zero, zero, one)


@checks("passes.simplify", spec=[MOVES, EXACT])
def simplify_uses_the_movement_rules(simplify):
    """What moves nothing goes, and of two movements in a row one is left, as `MOVEMENT` says."""
    for before, after, why in _MOVED:
        becomes(simplify, trace(before, "f32[2,3]"), trace(after, "f32[2,3]"), why, MOVES)
    for before, why in _MOVES:
        stays(simplify, trace(before, "f32[3,3]"), f"Nothing may go here. {why}", EXACT)
    return f"{len(_MOVED) + len(_MOVES)} programs that only move elements"


_MOVED = [
    (lambda x: transpose(transpose(x, (1, 0)), (1, 0)), lambda x: x, "The transposes cancel."),
    (lambda x: reshape(reshape(x, (6,)), (3, 2)), lambda x: reshape(x, (3, 2)),
     "One reshape is enough."),
    (lambda x: cast(cast(x, "f64"), "f16"), lambda x: cast(x, "f16"),
     "f64 holds every f32, so one cast is enough."),
    (lambda x: cast(reshape(transpose(x, (0, 1)), (2, 3)), "f32"), lambda x: x,
     "Nothing moves here, and the type stays."),
    (lambda x: transpose(transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 0, 2)), (0, 2, 1)),
     lambda x: transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 2, 0)),
     "Two transposes of three axes make one: first one order, then the other."),
    (lambda x: apply("expand", apply("expand", x, shape=(1, 2, 3)), shape=(4, 2, 3)),
     lambda x: apply("expand", x, shape=(4, 2, 3)), "One expand is enough."),
    (lambda x: concat([apply("pad", x, low=(0, 0), high=(0, 0))], 0), lambda x: x,
     "Nothing is padded, and nothing is put beside x."),
]  # fmt: skip

# What moves something: of a square, so that the type alone says nothing.
_MOVES = [
    (lambda x: transpose(x, (1, 0)), "This transposes the matrix."),
    (lambda x: transpose(reshape(transpose(x, (1, 0)), (3, 3, 1)), (1, 0, 2)),
     "Between the two transposes there is another movement, which may look at the order."),
    (lambda x: apply("slice", x, starts=(2, 0), stops=(-1, 3), steps=(-1, 1)),
     "The order of the rows is reversed."),
    (lambda x: cast(cast(x, "i32"), "f32"), "0.5 is not an i32."),
    (lambda x: cast(cast(x, "f16"), "f32"), "An f16 does not hold every f32."),
    (lambda x: cast(cast(x, "bool"), "f32"), "As bool, 2.0 is true, and that is 1.0."),
    (lambda x: reshape(transpose(x, (1, 0)), (9,)),
     "The reshape reads the numbers in another order."),
]  # fmt: skip
