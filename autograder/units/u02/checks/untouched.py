"""Checks of unit 2 for simplify: every elementwise op, of which most have no identity.

    floor(floor(x))        # may become floor(x): the same bits
    exp(log(x))            # may not become x: it is NaN for -1

Then every op beside every other one: exp(x) > 0 is 0 > 0 for -infinity, and not (x < y) is not
x >= y if one of them is NaN. Whatever rules an answer has, they must keep every bit. Next room:
squares.py.
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
from autograder.units.u02.checks.shared import equal_bits, same_bits
from autograder.units.u02.checks.simplify import EXACT, WHOLE
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
    """Numbers of this element type for which identities of the school break."""
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
    """What the school knows of two functions of one number, and of one of two."""
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
