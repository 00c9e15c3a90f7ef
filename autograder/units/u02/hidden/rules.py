"""Hidden checks of simplify and strength: all small expressions at once.

One program returns some hundred expressions of one or two operations, in every element type, and
runs on every pair of awkward numbers. Each result must keep every bit, and no expression may be
longer than ours: a rule too many changes a bit, a rule too few leaves an operation. For strength,
which replaces one operation by another, the operations must be those of ours. Next room: __init__.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, hidden
from autograder.check.meaning import meaning_of
from autograder.check.properties import valid_graph
from autograder.units.u02.checks.compare import cut, smallest
from autograder.units.u02.checks.shared import equal_bits
from autograder.units.u02.hidden.cleaning import SEEDS
from autograder.units.u02.hidden.programs import told_once
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import dtype

SEED = 20_641
FLOATS = (0.0, -0.0, 1.0, -1.0, 3.0, -0.1, 1e-7, np.inf, -np.inf, np.nan)
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
        numbers = np.array([0, 1, 2, 5, info.max, info.min, info.min // 3, *rng.integers(3, 99, 2)])
    values = numbers.astype(to)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def expressions(kind: str, x: Node, y: Node, nested: bool = True) -> Iterator[Node]:
    """Operations on x, y and numbers, and two of them in a row; never on numbers alone."""
    count = x.type.dims[0]
    for op in BINARY if nested else FEW:
        shapes = ((), (count,)) if op in FEW and nested else ((),)
        numbers = [_number(n, kind, s) for n in NUMBERS for s in shapes]
        for a, b in ((x, x), (x, y), *((x, n) for n in numbers), *((n, x) for n in numbers)):
            yield from _some(_made(op, a, b))
    for op in ("mul", "div", "sub"):
        yield from _some(_made(op, x, _number(1, kind, (2, count))))
    for op in UNARY if nested else ("neg", "abs", "not"):
        fx, fy = _made(op, x), _made(op, y)
        for outer in UNARY:
            yield from _some(_made(outer, fx))
        for outer, number in itertools.product(FEW, NUMBERS):
            yield from _some(_made(outer, fx, _number(number, kind, ())))
        for outer in BINARY if nested else ("add", "sub"):
            for a, b in ((fx, x), (x, fx), (fx, y), (y, fx), (fx, fy), (fx, fx)):
                yield from _some(_made(outer, a, b))
    for op in ("add", "sub") if nested else ():  # distributes, at school
        yield from _some(_made(op, _made("mul", x, y), _made("mul", x, _number(0.3, kind, ()))))
    if dtype(kind).is_float:
        yield from (apply("log", apply("exp", x)), apply("exp", apply("log", x)))
        yield from (_apply_number("pow", x, p, kind) for p in (0.5, -0.5, 3.0))
    for op in BINARY if nested else ():
        inner = _made(op, x, y)
        for outer in UNARY:
            yield from _some(_made(outer, inner))
            yield from _some(_made(outer, _made(op, x, x)))
        for outer in NESTED:
            for a, b in ((inner, y), (x, inner), (inner, x), (y, inner)):
                yield from _some(_made(outer, a, b))
            for first, second in ((3, 2), (2, 0.5), (1, 1), (0.1, 0.7)):
                inner_number = _made(op, x, _number(first, kind, ()))
                yield from _some(_made(outer, inner_number, _number(second, kind, ())))


_few = functools.partial(expressions, nested=False)


def _number(value: float, kind: str, shape: tuple[int, ...]) -> Node | None:
    type_ = dtype(kind)
    if not type_.is_float and (str(value) == "-0.0" or not type_.holds(value)):
        return None
    return const(np.full(shape, value, type_.numpy))


def selections(c: Node, x: Node, y: Node) -> Iterator[Node]:
    for condition in (c, const(True), const(False), const(np.ones(c.type.dims, bool))):
        for a, b in ((x, x), (x, y), (y, x)):
            yield from _some(_made("select", condition, a, b))


def _made(op: str, *operands: Any) -> Node | None:
    if None in operands:
        return None
    try:
        return apply(op, *operands)
    except ValueError:
        return None


def _apply_number(op: str, x: Node, number: float, kind: str) -> Node:
    return apply(op, x, const(np.asarray(number, dtype(kind).numpy)))


def _some(node: Node | None) -> list[Node]:
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
    return Graph.of(inputs, [outputs[k] for k in order], "expressions")


def trees(kind: str, rng: np.random.Generator) -> Graph:
    """A program of random expressions of three variables and numbers that are no powers of two."""
    count = len(pairs(kind)[0])
    inputs = [inp(f"{name}_{kind}", f"{kind}[{count}]") for name in "xyz"]
    nodes: list[Node] = [*inputs]
    while len(nodes) < 80:
        recent = [nodes[k] for k in rng.integers(0, min(len(nodes), 12), 2)] + nodes[-2:]
        a, b = (recent[k] for k in rng.integers(0, len(recent), 2))
        number = float(np.round(rng.choice([0.1, 0.3, 3.7, 2.0, 0.5, 1.0, 7.0]), 1))
        made = (
            _made(TREE_OPS[rng.integers(len(TREE_OPS))], a, b),
            _made(TREE_UNARY[rng.integers(len(TREE_UNARY))], a),
            _made(TREE_OPS[rng.integers(6)], *_turned(rng, a, _number(number, kind, ()))),
        )[rng.integers(3)]
        nodes += _some(made)
    return Graph.of(inputs, nodes[-40:], "expressions")


TREE_OPS = ("add", "sub", "mul", "div", "max", "pow", "min", "add", "mul")
TREE_UNARY = ("neg", "abs", "relu", "sqrt", "exp", "log", "tanh", "not", "reciprocal", "sign")


def _turned(rng: np.random.Generator, *operands: Any) -> tuple[Any, ...]:
    return operands[::-1] if rng.random() < 0.5 else operands


@functools.lru_cache(maxsize=64)
def random_trees(seed: int) -> tuple[Graph, ...]:
    rng = np.random.default_rng(seed)
    return trees("f32", rng), trees("i32", rng)


@hidden("passes.simplify", seed=SEED)
def simplify_knows_every_small_expression(simplify):
    """All expressions of one or two operations, in each element type, on awkward numbers."""
    for kinds, make in ((("f32", "i32", "bool"), expressions), (("f16", "f64", "i8", "u8"), _few)):
        smallest(functools.partial(_as_short, simplify), program(kinds, make))
    return "every expression of one or two operations"


@hidden("passes.simplify", seed=SEED, given=SEEDS, examples=3, what="sets of random expressions")
@told_once
def simplify_changes_no_bit(simplify, seed):
    """Random expressions of three variables keep every bit."""

    def keeps(graph: Graph) -> None:
        _same_bits(graph, valid_graph(simplify(graph), graph))

    for graph in random_trees(seed):
        smallest(keeps, graph)


@hidden("passes.simplify", seed=SEED)
def simplify_knows_numbers_and_unknown_sizes(simplify):
    """Values without axes, sizes that only the run knows, tensors without elements."""
    graph = _other_shapes()
    smallest(lambda part: _not_longer(simplify, part), graph)
    return "other shapes"


@functools.cache
def _other_shapes() -> Graph:
    inputs, outputs = [], []
    for kind in ("f32", "i32"):
        for shape in ("", "n,4", "0"):
            x, y = (inp(f"{name}_{kind}", f"{kind}[{shape}]") for name in "xy")
            for op in BINARY:
                for a, b in ((x, x), *((x, _number(n, kind, ())) for n in NUMBERS)):
                    outputs += _some(_made(op, a, b))
            outputs += [apply("neg", apply("neg", x)), x - -y, apply("select", const(True), x, y)]
            inputs += [x, y]
    return Graph.of(inputs, outputs, "expressions")


def _as_short(simplify: Any, graph: Graph) -> None:
    _same_bits(graph, _not_longer(simplify, graph))


def _not_longer(simplify: Any, graph: Graph) -> Graph:
    after = valid_graph(simplify(graph), graph)
    ours, lengths = _ours("passes.simplify", graph)
    rows = zip(graph.outputs, after.outputs, ours.outputs, lengths, strict=True)
    longer = [row for row in rows if len(_ops(row[1])) > len(row[3])]
    for node, mine, best, _ in sorted(longer, key=_length)[:1]:
        raise Wrong(
            f"An identity still matches here: {_line(node)} can be simpler.",
            program=cut(graph, [node]),
            got=Graph.of(after.inputs, [mine], "part"),
            expected=Graph.of(ours.inputs, [best], "part"),
            spec="Apply these identities wherever they match, until none does",
        )
    return after


def _length(row: Any) -> int:
    return len(topological_order([row[0]]))


@functools.lru_cache(maxsize=4)
def _ours(name: str, graph: Graph) -> tuple[Graph, list[list[str]]]:
    """What our pass makes of the program, and the operations of each of its outputs."""
    ours = slot(name).reference(graph)
    return ours, [_ops(node) for node in ours.outputs]


def _given(graph: Graph) -> list[np.ndarray]:
    """Every pair of awkward numbers for x, y of one type; c says where they are equal."""
    arrays = []
    for node in graph.inputs:
        name, kind = node.name.split("_")
        x, y = pairs(kind)
        arrays.append({"x": x, "y": y, "z": np.roll(x, 29), "c": x == y}[name])
    return arrays


def quotients(kind: str, x: Node, y: Node) -> Iterator[Node]:
    """Divisions, powers and remainders, of numbers that may be negative and others."""
    if not dtype(kind).is_float:
        for op in ("mod", "fmod", "div", "mul", "pow"):
            for number in (1, 2, 3, 8, 6, 64, -8, -1):
                for shape in ((), x.type.dims):
                    c = _number(number, kind, shape)
                    yield from [] if c is None else _some(_made(op, x, c))
        mixed = np.resize(np.array([1, 2, 4, 16]), x.type.dims).astype(dtype(kind).numpy)
        yield from _some(_made("mod", x, const(mixed)))
        yield from _some(_made("mod", x, const(mixed + mixed.dtype.type(1))))
        return
    tiny = float(np.finfo(dtype(kind).numpy).tiny)
    mixed = np.resize(np.array([0.5, -2.0, 4.0]), x.type.dims)
    divisors = [
        1.0,
        -1.0,
        2.0,
        -0.5,
        4096.0,
        3.0,
        10.0,
        0.0,
        np.inf,
        np.nan,
        tiny,
        1 / tiny,
        tiny / 2,
    ]
    with np.errstate(all="ignore"):
        constants = [const(np.asarray(d, dtype(kind).numpy)) for d in (*divisors, mixed, mixed + 1)]
        constants += [const(np.full(x.type.dims, d, dtype(kind).numpy)) for d in (2.0, 5.0)]
    for c in constants:
        yield apply("div", x, c)
        yield from (apply(op, x, c) for op in ("mul", "mod", "fmod"))
    one = _number(1, kind, ())
    inner = [
        x,
        y,
        *(apply(op, x) for op in ("abs", "relu", "exp", "sqrt", "sigmoid", "neg", "rsqrt")),
    ]
    inner += [x * x, x * y, x + abs_(x), abs_(x) + abs_(y), -abs_(x),
              apply("max", x, _number(2, kind, ())),
              apply("max", x, _number(0, kind, ()))]  # fmt: skip
    for value in inner:
        for power in (2.0, 0.5, -0.5, -1.0, 1.0, 3.0, 0.0, -2.0, 1.5):
            yield apply("pow", value, const(np.asarray(power, dtype(kind).numpy)))
        for top in (one, x, _number(2, kind, ())):
            yield apply("div", top, value)
            yield apply("div", top, apply("sqrt", value))
    yield apply("reciprocal", apply("sqrt", x))
    yield apply("reciprocal", apply("reciprocal", x))
    yield from (
        y * apply("reciprocal", x),
        x * apply("rsqrt", y),
        apply("sqrt", x) * apply("sqrt", x),
    )
    yield from (apply("pow", x, const(np.asarray(p, dtype(kind).numpy))) for p in (4.0, -3.0, 2.5))
    yield from (x + x, x - x, x * y, x * x * x, apply("neg", apply("neg", x)))


def abs_(x: Node) -> Node:
    return apply("abs", x)


@hidden("passes.strength", seed=SEED)
def strength_knows_every_small_expression(strength):
    """Divisions, powers and remainders by many numbers, in each element type."""
    graph = program(("f32", "i32", "f16", "f64", "i8", "u8"), quotients)
    smallest(functools.partial(_as_cheap, strength), graph)
    return "divisions, powers and remainders by many numbers"


def _as_cheap(strength: Any, graph: Graph) -> None:
    after = valid_graph(strength(graph), graph)
    ours, wanted_ops = _ours("passes.strength", graph)
    rows = zip(graph.outputs, after.outputs, ours.outputs, wanted_ops, strict=True)
    others = [row for row in rows if _ops(row[1]) != row[3]]
    for node, mine, best, ops in sorted(others, key=_length)[:1]:
        stays = ops == _ops(node)
        raise Wrong(
            f"{_line(node)} {'stays as it is' if stays else 'is not replaced as the list says'}.",
            program=cut(graph, [node]),
            got=Graph.of(after.inputs, [mine], "part"),
            expected=Graph.of(ours.inputs, [best], "part"),
            spec="Replace these operations by cheaper ones, wherever the result is the same",
        )
    meaning = meaning_of(graph, _given)
    got, wanted = meaning.outputs_of(after), meaning.outputs_of(ours)
    for node, mine, theirs, best in zip(graph.outputs, got, wanted, ours.outputs, strict=True):
        rough = "pow" in _ops(node)
        apart = ~(np.isclose(mine, theirs, rtol=1e-3 if mine.dtype.itemsize == 2 else 1e-6, atol=0,
                             equal_nan=True) if rough else equal_bits(mine, theirs))  # fmt: skip
        if apart.any():
            raise Wrong(
                f"{_line(node)} has another value: {mine[apart][0]} instead of {theirs[apart][0]}.",
                program=cut(graph, [node]),
                got=after if len(graph.outputs) == 1 else "",
                expected=Graph.of(ours.inputs, [best], "part"),
                spec="wherever the result is the same",
            )


def _same_bits(before: Graph, after: Graph) -> None:
    meaning = meaning_of(before, _given)
    inputs = meaning.inputs
    rows = zip(before.outputs, meaning.outputs_of(after), meaning.outputs, strict=True)
    apart = [row for row in rows if not equal_bits(row[1], row[2]).all()]
    for node, got, wanted in sorted(apart, key=_length)[:1]:
        where = np.flatnonzero(~equal_bits(got, wanted).reshape(-1))[0]
        needed = topological_order([node])
        given = [
            f"%{i.name} = {v[where % len(v)]!s}"
            for i, v in zip(before.inputs, inputs, strict=True)
            if i in needed
        ]
        raise Wrong(
            f"The result is the same bit for bit. {_line(node)} is {got.reshape(-1)[where]!s} "
            f"instead of {wanted.reshape(-1)[where]!s}, for {', '.join(given)}.",
            program=cut(before, [node]),
            got=after if len(before.outputs) == 1 else "",
            spec="Every rule must be exact: the same bits for every input",
        )


def _ops(node: Node) -> list[str]:
    needed = topological_order([node])
    return sorted(n.op for n in needed if n.op not in ("input", "constant", "expand"))


def _line(node: Node) -> str:
    """An expression in words: add(neg(%x), 1.0)."""
    if node.op == "input":
        return f"%{node.name}"
    if node.op == "constant":
        return f"{node.value.reshape(-1)[0]!s}" if node.value.size else "an empty constant"
    return f"{node.op}({', '.join(map(_line, node.inputs))})"
