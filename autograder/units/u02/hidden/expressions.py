"""All small expressions, and random larger ones, for the hidden checks of simplify and strength.

    program(("f32", "i32"), expressions)    # returns some hundred expressions, shuffled

Inputs are named after their element type, x_f32; `given` makes every pair of awkward numbers for
them. Next room: quotients.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import dtype

SEED = 20_641
FLOATS = (0.0, -0.0, 1.0, -1.0, 3.0, -0.1, 0.5, 2.5, 1e-7, np.inf, -np.inf, np.nan)
LARGEST = {"f16": (6e4, 6e-8), "f32": (3e38, -1e-45), "f64": (1.7e308, 5e-324)}
NUMBERS = (0, -0.0, 1, -1, 2)
BINARY = ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "eq", "lt", "and", "or", "xor",
          "bit_and")  # fmt: skip
FEW = ("add", "sub", "mul", "div", "pow")
NESTED = ("add", "sub", "mul", "div", "max", "min")
UNARY = ("neg", "abs", "relu", "not", "sqrt")


@functools.cache
def pairs(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that hold every pair of awkward numbers of this element type."""
    rng = np.random.default_rng(SEED)
    to = dtype(kind).numpy
    if dtype(kind).is_float:
        numbers = np.array([*FLOATS, *LARGEST[kind], *rng.standard_normal(2)])
    elif kind == "bool":
        numbers = np.array([False, True])
    else:
        info = np.iinfo(to)
        rest = (info.max, info.min, info.min // 3, *rng.integers(3, 99, 2))
        numbers = np.array([0, 1, 2, 5, *map(int, rest)], to)
    values = numbers.astype(to)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def expressions(kind: str, x: Node, y: Node, nested: bool = True) -> Iterator[Node]:
    """Operations on x, y and numbers, and two of them in a row; never on numbers alone."""
    count = x.type.dims[0]
    for op in BINARY if nested else FEW:
        shapes = ((), (count,)) if op in FEW and nested else ((),)
        numbers = [filled(n, kind, s) for n in NUMBERS for s in shapes]
        for a, b in ((x, x), (x, y), *((x, n) for n in numbers), *((n, x) for n in numbers)):
            yield from some(applied(op, a, b))
    for op in ("mul", "div", "sub"):
        yield from some(applied(op, x, filled(1, kind, (2, count))))
    for op in UNARY if nested else ("neg", "abs", "not"):
        fx, fy = applied(op, x), applied(op, y)
        for outer in UNARY:
            yield from some(applied(outer, fx))
        for outer, number in itertools.product(FEW, NUMBERS):
            yield from some(applied(outer, fx, filled(number, kind, ())))
        for outer in BINARY if nested else ("add", "sub"):
            for a, b in ((fx, x), (x, fx), (fx, y), (y, fx), (fx, fy), (fx, fx)):
                yield from some(applied(outer, a, b))
    if nested and dtype(kind).is_float:  # integers have neither NaN nor -0.0
        yield from _in_threes(x, y)
    for op in ("add", "sub") if nested else ():  # distributes, at school
        yield from some(applied(op, applied("mul", x, y), applied("mul", x, filled(0.3, kind, ()))))
    if dtype(kind).is_float:
        yield from (apply("log", apply("exp", x)), apply("exp", apply("log", x)))
        yield from (_power("pow", x, p, kind) for p in (0.5, -0.5, 3.0))
    if nested:
        yield from _two_in_a_row(kind, x, y)


def _two_in_a_row(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An operation of two operands, and another one on its result."""
    for op in BINARY:
        inner, of_itself = applied(op, x, y), applied(op, x, x)
        for outer in UNARY:
            yield from some(applied(outer, inner))
            yield from some(applied(outer, of_itself))
        for outer in NESTED:
            for a, b in ((inner, y), (x, inner), (inner, x), (y, inner)):
                yield from some(applied(outer, a, b))
            for first, second in ((3, 2), (2, 0.5), (1, 1), (0.1, 0.7)):
                inner_number = applied(op, x, filled(first, kind, ()))
                yield from some(applied(outer, inner_number, filled(second, kind, ())))
        for outer in ("div", "mul", "sub"):
            yield from some(applied(outer, y, applied(op, filled(1, kind, ()), x)))


def _in_threes(x: Node, y: Node) -> Iterator[Node]:
    """Three operations of one operand in a row, and two after one of two operands."""
    for ops in itertools.product(UNARY, repeat=3):
        yield from some(functools.reduce(lambda node, op: applied(op, node), ops, x))
    for outer, inner in itertools.product(("neg", "abs", "relu"), repeat=2):
        for op in ("add", "sub", "mul", "max"):
            yield from some(applied(outer, applied(op, applied(inner, x), y)))
            yield from some(applied(op, applied(outer, applied(inner, x)), y))


few = functools.partial(expressions, nested=False)


def filled(value: float, kind: str, shape: tuple[int, ...]) -> Node | None:
    type_ = dtype(kind)
    if not type_.is_float and (str(value) == "-0.0" or not type_.holds(value)):
        return None
    return const(np.full(shape, value, type_.numpy))


def selections(c: Node, x: Node, y: Node) -> Iterator[Node]:
    for condition in (c, const(True), const(False), const(np.ones(c.type.dims, bool))):
        for a, b in ((x, x), (x, y), (y, x)):
            yield from some(applied("select", condition, a, b))


def applied(op: str, *operands: Any) -> Node | None:
    if None in operands:
        return None
    try:
        return apply(op, *operands)
    except ValueError:
        return None


def _power(op: str, x: Node, number: float, kind: str) -> Node:
    return apply(op, x, const(np.asarray(number, dtype(kind).numpy)))


def some(node: Node | None) -> list[Node]:
    return [] if node is None else [node]


@functools.cache
def program(kinds: tuple[str, ...], make: Callable[..., Iterator[Node]]) -> Graph:
    """A program that returns all these expressions, shuffled."""
    outputs, inputs = [], []
    for kind in kinds:
        count = len(pairs(kind)[0])
        x, y = (inp(f"{name}_{kind}", f"{kind}[{count}]") for name in "xy")
        condition = inp(f"c_{kind}", f"bool[{count}]")
        outputs += [*make(kind, x, y), *selections(condition, x, y)]
        inputs += [x, y, condition]
    order = np.random.default_rng(SEED).permutation(len(outputs))
    return each_once(Graph.of(inputs, [outputs[k] for k in order], "expressions"))


def each_once(graph: Graph) -> Graph:
    """The program with what it says in the same words said once: a third of the nodes less."""
    known: dict[Any, Node] = {}

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        merged = node.with_inputs(inputs)
        content = node.value.tobytes() if node.op == "constant" else tuple(node.attrs.items())
        return known.setdefault((node.op, inputs, node.type, content), merged)

    after = graph.rebuild(visit)
    return Graph.of(after.inputs, dict.fromkeys(after.outputs), after.name)


def trees(kind: str, rng: np.random.Generator) -> Graph:
    """A program of random expressions of three variables and numbers that are no powers of two."""
    count = len(pairs(kind)[0])
    inputs = [inp(f"{name}_{kind}", f"{kind}[{count}]") for name in "xyz"]
    nodes: list[Node] = [*inputs]
    while len(nodes) < 80:
        recent = [nodes[k] for k in rng.integers(0, min(len(nodes), 12), 2)] + nodes[-2:]
        a, b = (recent[k] for k in rng.integers(0, len(recent), 2))
        number = float(np.round(rng.choice([0.1, 0.3, 3.7, 2.0, 0.5, 1.0, 7.0]), 1))
        candidate = (
            applied(TREE_OPS[rng.integers(len(TREE_OPS))], a, b),
            applied(TREE_UNARY[rng.integers(len(TREE_UNARY))], a),
            applied(TREE_OPS[rng.integers(6)], *_turned(rng, a, filled(number, kind, ()))),
        )[rng.integers(3)]
        nodes += some(candidate)
    return Graph.of(inputs, nodes[-40:], "expressions")


TREE_OPS = ("add", "sub", "mul", "div", "max", "pow", "min", "add", "mul")
TREE_UNARY = ("neg", "abs", "relu", "sqrt", "exp", "log", "tanh", "not", "reciprocal", "sign")


def _turned(rng: np.random.Generator, *operands: Any) -> tuple[Any, ...]:
    return operands[::-1] if rng.random() < 0.5 else operands


@functools.lru_cache(maxsize=64)
def random_trees(seed: int) -> tuple[Graph, ...]:
    rng = np.random.default_rng(seed)
    return trees("f32", rng), trees("i32", rng)


def given(graph: Graph) -> list[np.ndarray]:
    """Every pair of awkward numbers for x, y of one type; c says where they are equal."""
    arrays = []
    for node in graph.inputs:
        name, kind = node.name.split("_")
        x, y = pairs(kind)
        arrays.append({"x": x, "y": y, "z": np.roll(x, 29), "c": x == y}[name])
    return arrays
