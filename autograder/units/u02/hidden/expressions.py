"""All small expressions, random larger ones, and movements: what hidden/rules.py asks about.

    program(("f32", "i32"), expressions)    # returns some hundred expressions, shuffled
    program(("f32", "i32"), quotients)      # divisions, powers, remainders, and what is near
    movements(seed)                         # some 100 movements in a row, in three element types

Inputs are named after their element type, x_f32, so `every_pair` makes numbers for them. Next room:
rules.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.units.u02.checks.untouched import applied, awkward, each_of, number
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import dtype

SEED = 20_641
NUMBERS = (0, -0.0, 1, -1, 2)
BINARY = ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "eq", "lt", "and", "or", "xor",
          "bit_and")  # fmt: skip
FEW = ("add", "sub", "mul", "div", "pow")
NESTED = ("add", "sub", "mul", "div", "max", "min")
UNARY = ("neg", "abs", "relu", "not", "sqrt")


def expressions(kind: str, x: Node, y: Node, nested: bool = True) -> Iterator[Node]:
    """Operations on x, y and numbers, and two of them in a row; never on numbers alone."""
    count, numbers = x.type.numel, [number(n, kind) for n in NUMBERS]
    filled = [number(n, kind, (count,)) for n in NUMBERS]
    for op in BINARY if nested else FEW:
        some = [*numbers, *filled] if op in FEW and nested else numbers
        yield from each_of([op], (x, x), (x, y), *((x, n) for n in some), *((n, x) for n in some))
    yield from each_of(("mul", "div", "sub"), (x, number(1, kind, (2, count))))
    for op in UNARY if nested else ("neg", "abs", "not"):
        for fx, fy in zip(applied(op, x), applied(op, y), strict=True):
            yield from each_of(UNARY, (fx,))
            yield from each_of(FEW, *((fx, n) for n in numbers))
            yield from each_of(BINARY if nested else ("add", "sub"),
                               (fx, x), (x, fx), (fx, y), (y, fx), (fx, fy), (fx, fx))  # fmt: skip
    if dtype(kind).is_float:
        yield from (apply("log", apply("exp", x)), apply("exp", apply("log", x)))
        yield from each_of(["pow"], *((x, number(power, kind)) for power in (0.5, -0.5, 3.0)))
    if nested:
        yield from _two_in_a_row(kind, x, y)
        # Distributes, at school.
        products = zip(applied("mul", x, y), applied("mul", x, number(0.3, kind)), strict=False)
        yield from each_of(("add", "sub"), *products)


def _two_in_a_row(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """An operation of two operands, and another one on its result."""
    for op in BINARY:
        for inner in applied(op, x, y):
            yield from each_of(UNARY, (inner,))
            yield from each_of(NESTED, (inner, y), (x, inner), (inner, x), (y, inner))
        for of_itself in applied(op, x, x):
            yield from each_of(UNARY, (of_itself,))
        for first, second in ((3, 2), (2, 0.5), (1, 1), (0.1, 0.7)):
            for inner in applied(op, x, number(first, kind)):
                yield from each_of(NESTED, (inner, number(second, kind)))
        for inner in applied(op, number(1, kind), x):
            yield from each_of(("div", "mul", "sub"), (y, inner))
    if dtype(kind).is_float:  # integers have neither NaN nor -0.0
        yield from _in_threes(x, y)


def _in_threes(x: Node, y: Node) -> Iterator[Node]:
    """Three operations of one operand in a row, and two beside one of two operands."""
    for once in each_of(UNARY, (x,)):
        for twice in each_of(UNARY, (once,)):
            yield from each_of(UNARY, (twice,))
    of_two = ("add", "sub", "mul", "max")
    for outer, inner in itertools.product(("neg", "abs", "relu"), repeat=2):
        fx = apply(inner, x)
        yield from (apply(outer, node) for node in each_of(of_two, (fx, y)))
        yield from each_of(of_two, (apply(outer, fx), y))


few = functools.partial(expressions, nested=False)


def quotients(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Divisions, powers and remainders, of numbers that may be negative and others."""
    if dtype(kind).is_float:
        yield from _by_constants(kind, x)
        yield from _of_expressions(kind, x, y)
        yield from _near_them(kind, x, y)
        return
    numbers = [number(n, kind, shape) for n in (1, 2, 3, 8, 6, 64, -8, -1)
               for shape in ((), x.type.dims)]  # fmt: skip
    yield from each_of(("mod", "fmod", "div", "mul", "pow"), *((x, n) for n in numbers))
    mixed = np.resize(np.array([1, 2, 4, 16]), x.type.dims)
    yield from each_of(["mod"], *((x, const(m.astype(dtype(kind).numpy)))
                                  for m in (mixed, mixed + 1)))  # fmt: skip


def _by_constants(kind: str, x: Node) -> Iterator[Node]:
    tiny = float(np.finfo(dtype(kind).numpy).tiny)
    mixed = np.resize(np.array([0.5, -2.0, 4.0]), x.type.dims)
    numbers = [1.0, -1.0, 2.0, -0.5, 4096.0, 3.0, 10.0, 0.0, np.inf, np.nan]
    numbers += [tiny, 1 / tiny, tiny / 2]
    with np.errstate(all="ignore"):
        constants = [number(n, kind) for n in numbers]
        constants += [number(n, kind, x.type.dims) for n in (mixed, mixed + 1, 2.0, 5.0)]
    yield from each_of(("div", "mul", "mod", "fmod"), *((x, c) for c in constants))


def _of_expressions(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Powers of, and divisions by, values of which one may know the sign."""
    unary = ("abs", "relu", "exp", "sqrt", "sigmoid", "neg", "rsqrt")
    ax, ay = apply("abs", x), apply("abs", y)
    inner = [x, y, *(apply(op, x) for op in unary), x * x, x * y, x + ax, ax + ay, -ax]
    inner += [apply("max", x, number(n, kind)) for n in (2, 0)]
    powers = [number(p, kind) for p in (2.0, 0.5, -0.5, -1.0, 1.0, 3.0, 0.0, -2.0, 1.5)]
    for value in inner:
        yield from each_of(["pow"], *((value, power) for power in powers))
        yield from each_of(["div"], *((top, below) for top in (number(1, kind), x, number(2, kind))
                                      for below in (value, apply("sqrt", value))))  # fmt: skip


def _near_them(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """What looks as if a line of the list could be stretched to it."""
    sqrt, reciprocal = apply("sqrt", x), apply("reciprocal", x)
    yield from (apply("reciprocal", sqrt), apply("reciprocal", reciprocal), y * reciprocal)
    yield from (x * apply("rsqrt", y), sqrt * sqrt, sqrt * apply("sqrt", y))
    yield from ((x / y) / x, x / (y / x), (x / y) * y, x / (x * y), (x * y) / y)
    yield from each_of(["pow"], *((x, number(power, kind)) for power in (4.0, -3.0, 2.5)))
    yield from (x + x, x - x, x * y, x * x * x, apply("neg", apply("neg", x)))


@functools.cache
def program(kinds: tuple[str, ...], make: Callable[..., Iterator[Node]]) -> Graph:
    """A program that returns all these expressions, and what is selected of x and y, shuffled."""
    outputs, inputs = [], []
    for kind in kinds:
        count = len(awkward(kind)) ** 2
        x, y = (inp(f"{name}_{kind}", f"{kind}[{count}]") for name in "xy")
        condition = inp(f"c_{kind}", f"bool[{count}]")
        outputs += make(kind, x, y)
        for c in (condition, const(True), const(False), const(np.ones(count, bool))):
            outputs += each_of(["select"], (c, x, x), (c, x, y), (c, y, x))
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


TREE_OPS = ("add", "sub", "mul", "div", "max", "pow", "min", "add", "mul")
TREE_UNARY = ("neg", "abs", "relu", "sqrt", "exp", "log", "tanh", "not", "reciprocal", "sign")


def _tree(kind: str, rng: np.random.Generator) -> Graph:
    """A program of random expressions of three variables and numbers that are no powers of two."""
    inputs = [inp(f"{name}_{kind}", f"{kind}[{len(awkward(kind)) ** 2}]") for name in "xyz"]
    nodes: list[Node] = [*inputs]
    while len(nodes) < 80:
        recent = [nodes[k] for k in rng.integers(0, min(len(nodes), 12), 2)] + nodes[-2:]
        a, b = (recent[k] for k in rng.integers(0, len(recent), 2))
        with_number = [a, number(float(rng.choice([0.1, 0.3, 3.7, 2.0, 0.5, 1.0, 7.0])), kind)]
        nodes += (
            applied(TREE_OPS[rng.integers(len(TREE_OPS))], a, b),
            applied(TREE_UNARY[rng.integers(len(TREE_UNARY))], a),
            applied(TREE_OPS[rng.integers(6)], *with_number[:: rng.choice([1, -1])]),
        )[rng.integers(3)]
    return Graph.of(inputs, nodes[-40:], "expressions")


@functools.lru_cache(maxsize=64)
def random_trees(seed: int) -> tuple[Graph, ...]:
    rng = np.random.default_rng(seed)
    return _tree("f32", rng), _tree("i32", rng)


# ── movements ──

KINDS = ("f32", "i32", "u8")
CASTS = ("f32", "f16", "f64", "i32", "i8", "i64", "u8", "bool")
MOVES = ("turns", "shapes", "parts", "casts")


@functools.cache
def every_two() -> Graph:
    """Of a cube, a square, a square with an axis of size 1 in its middle, and of no squares."""
    x = inp("x_f32", f"f32[{len(awkward('f32')) ** 2}]")
    part = apply("slice", x, starts=(0,), stops=(64,))
    outputs = []
    for shape, kinds in (((4, 4, 4), MOVES[:1]), ((8, 1, 8), MOVES[:2]), ((8, 8), MOVES[2:]),
                         ((2, 4, 8), MOVES[:2]), ((1, 32, 2), MOVES[:2])):  # fmt: skip
        for kind in kinds:
            for node in _moved(kind, apply("reshape", part, shape=shape)):
                outputs += [after for other in kinds for after in _moved(other, node)]
    order = np.random.default_rng(1).permutation(len(outputs))
    return each_once(Graph.of([x], [outputs[k] for k in order], "movements"))


def _moved(kind: str, x: Node) -> list[Node]:
    """`x` in another order, another shape or another type, in part or twice, or as it was."""
    rank, dims = x.type.rank, x.type.dims
    if kind == "turns":
        return [apply("transpose", x, perm=p) for p in itertools.permutations(range(rank))]
    if kind == "casts":
        return [apply("cast", x, dtype=dtype) for dtype in CASTS]
    if kind == "shapes":
        shapes = [(x.type.numel,), dims[::-1], (1, *dims), dims, (-1, 2, 4), (2, -1)]
        shapes = [s for s in shapes if -1 not in s or x.type.numel % 8 == 0]
        return [*(apply("reshape", x, shape=s) for s in shapes), apply("expand", x, shape=dims),
                apply("expand", x, shape=(2, *dims))]  # fmt: skip
    moved = [apply("concat", x, axis=0), apply("concat", x, x, axis=rank - 1)]
    for turned in ((), (0,), (rank - 1,)):
        rows = [(d - 1, -1, -1) if k in turned else (0, d, 1) for k, d in enumerate(dims)]
        starts, stops, steps = zip(*rows, strict=True)
        moved.append(apply("slice", x, starts=starts, stops=stops, steps=steps))
    for wide in (0, 1):
        low = tuple(wide * (k == 0) for k in range(rank))
        moved.append(apply("pad", x, low=low, high=(0,) * rank))
    return moved


@functools.lru_cache(maxsize=16)
def movements(seed: int) -> Graph:
    """Two to four movements in a row, of which some undo each other."""
    rng = np.random.default_rng(seed)
    inputs, outputs = [], []
    for kind in KINDS:
        size = len(awkward(kind))
        x = inp(f"x_{kind}", f"{kind}[{size**2}]")
        square = apply("reshape", x, shape=(size, size))
        inputs.append(x)
        for _ in range(24):
            node = (x, square, apply("reshape", x, shape=(size, 1, size)))[int(rng.integers(3))]
            for _ in range(int(rng.integers(2, 5))):
                moved = _moved(MOVES[int(rng.integers(4))], node)
                node = moved[int(rng.integers(len(moved)))]
            outputs.append(node)
    return Graph.of(inputs, outputs, "movements")
