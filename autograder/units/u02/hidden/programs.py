"""Large random programs with everything in them that a pass of unit 2 could get wrong.

    anything(seed)     # some 130 nodes: all element types, sizes of 0, repeats, near repeats, names

One such program replaces a hundred small ones, and is one call of the answer. Values are awkward
(NaN, infinity, -0.0, the largest integers), and so are programs: dead nodes, inputs that nobody
reads, an output that is an input, the same output twice, nodes with the same name. Next room:
cleaning.py.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import dtype

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, np.nan)
TYPES = ("f32", "f32", "f32", "f16", "f64", "i32", "i32", "i8", "u8", "i64", "bool")
SHAPES = ((), (3,), (2, 3), (1, 3), (2, 1), (3, 3), (0, 3))
UNARY = ("neg", "abs", "relu", "not", "tanh", "sqrt", "sign")
BINARY = ("add", "add", "mul", "mul", "sub", "max", "min", "div", "pow", "eq", "ne", "lt",
          "and", "or", "xor", "bit_and", "bit_or", "bit_xor", "matmul")  # fmt: skip


@functools.lru_cache(maxsize=64)
def anything(seed: int, size: int = 130) -> Graph:
    """A program of about `size` nodes made from this seed, and nine inputs."""
    rng = np.random.default_rng(seed)
    inputs = [inp(pick(rng, ["x", "y", "same", "same", ""]), type_) for type_ in (
        "f32[2,3]", "f32[3]", "i32[3]", "bool[2,3]", "f16[2,3]", "f32[3]", "u8[2,3]", "f32[3,3]",
        "f32[]")]  # fmt: skip
    nodes: list[Node] = [*inputs]
    while len(nodes) < size + len(inputs):
        node = _another(rng, nodes)
        if node is not None:
            nodes += [i for i in node.inputs if i not in nodes]
            nodes.append(_labelled(rng, node))
    ends = [nodes[k] for k in rng.integers(0, len(nodes), 12)]
    return Graph("anything", tuple(inputs), tuple(nodes), (*ends, ends[0], nodes[-1], inputs[1]))


def _another(rng: np.random.Generator, nodes: list[Node]) -> Node | None:
    """A constant, an operation seen before, one that nearly was, or a new one; None: ill-typed."""
    choice = rng.random()
    computed = [n for n in nodes if n.op != "input"]
    if choice < 0.12 or not computed:
        return _constant(rng, nodes)
    old = pick(rng, computed)
    if choice < 0.45:  # the same computation, in either order
        operands = old.inputs[::-1] if rng.random() < 0.4 else old.inputs
        return _applied(old.op, operands, dict(old.attrs))
    if choice < 0.6:  # nearly the same: another attribute, or another operand
        return _nearly(rng, old, nodes)
    return _operation(rng, nodes)


def _constant(rng: np.random.Generator, nodes: list[Node]) -> Node:
    old = [n for n in nodes if n.op == "constant"]
    if old and rng.random() < 0.3:
        return const(pick(rng, old).value)
    kind, shape = np.dtype(dtype(pick(rng, TYPES)).numpy), pick(rng, SHAPES)
    whole = rng.integers(0, 3, shape) - (kind.kind == "i")
    values = rng.choice(np.array(NUMBERS), shape) if kind.kind == "f" else whole
    return const(np.asarray(values).astype(kind))


def _nearly(rng: np.random.Generator, old: Node, nodes: list[Node]) -> Node | None:
    attrs: dict[str, Any] = dict(old.attrs)
    for name, value in attrs.items():
        if isinstance(value, bool):
            attrs[name] = not value
        elif isinstance(value, int):
            attrs[name] = value - 1
        elif isinstance(value, tuple) and name in ("axes", "perm"):
            attrs[name] = value[::-1] if len(value) > 1 else tuple(1 - v for v in value)
    operands = list(old.inputs)
    if operands and ((old.op != "constant" and not attrs) or rng.random() < 0.3):
        place = int(rng.integers(len(operands)))
        same = [n for n in nodes if n.type == operands[place].type]
        operands[place] = pick(rng, same)
    return None if old.op == "constant" else _applied(old.op, operands, attrs)


def _operation(rng: np.random.Generator, nodes: list[Node]) -> Node | None:
    x = pick(rng, nodes)
    same = [n for n in nodes if n.type.dtype == x.type.dtype]
    y, rank = pick(rng, same), x.type.rank
    axis = int(rng.integers(rank)) if rank else 0
    kinds: list[tuple[str, list[Node], dict[str, Any]]] = [
        (pick(rng, UNARY), [x], {}),
        *[(pick(rng, BINARY), [x, y], {})] * 5,
        ("reduce_sum", [x], {"axes": (axis,), "keepdims": bool(rng.random() < 0.5)}),
        ("reduce_max", [x], {"axes": (axis,)}),
        ("softmax", [x], {"axis": axis - rank * int(rng.random() < 0.5)}),
        ("transpose", [x], {"perm": tuple(map(int, rng.permutation(rank)))}),
        ("reshape", [x], {"shape": (x.type.numel,)}),
        ("expand", [x], {"shape": (2, *x.type.shape)}),
        ("cast", [x], {"dtype": pick(rng, TYPES)}),
        ("concat", [x, y, x], {"axis": axis}),
        ("select", [pick(rng, [n for n in nodes if n.type.dtype.name == "bool"]), x, y], {}),
        ("gather", [x, const(rng.integers(0, 5, (2,)))], {"axis": axis}),
        ("iota", [], {"shape": (3,), "axis": 0, "dtype": pick(rng, ("f32", "i32"))}),
    ]
    return _applied(*pick(rng, kinds))


def _applied(op: str, operands: Any, attrs: dict[str, Any]) -> Node | None:
    if op == "constant":
        return const(attrs["value"])
    try:
        return apply(op, *operands, **attrs)
    except ValueError:
        return None


def _labelled(rng: np.random.Generator, node: Node) -> Node:
    name = pick(rng, ["", "", "same", "scores", "layer.0"])
    origin = pick(rng, [(), (), ("layer1",), ("layer2", "layer1"), ("head",)])
    return replace(node, name=name, origin=origin)


def pick(rng: np.random.Generator, things: Any) -> Any:
    """One of them."""
    return things[int(rng.integers(len(things)))]


def told_once(check: Any) -> Any:
    """A check whose example is a seed: after the first failure nothing smaller is looked for.

    A smaller seed is no smaller program, and the check has shown the smallest already.
    """
    failed: list[tuple[Any, Any, Exception]] = []  # at most one: the answer, its seed, what it said

    @functools.wraps(check)
    def run(answer: Any, seed: Any) -> None:
        if failed and failed[0][0] is answer:
            if failed[0][1] == seed:
                raise failed[0][2]
            return
        try:
            check(answer, seed)
        except Exception as error:
            failed[:] = [(answer, seed, error)]
            raise

    return run
