"""Random graphs at every level: numpy = loops = scheduled loops = machine code.

Hypothesis draws the graphs, and makes a failing one as small as it can before it prints it.
Operations keep values small, so that sums in another order stay close; inputs of integer programs
are whole numbers, whose sums are exact.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.levels import MACHINES, levels_agree
from autograder.check.programs import graphs
from course_lib.ir.graph.build import concat, matmul
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp


def agree(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = []
    for node in graph.inputs:
        shape, dtype = node.type.dims, node.type.dtype
        values = rng.uniform(-2, 2, shape) if dtype.is_float else rng.integers(-9, 10, shape)
        inputs.append(values.astype(dtype.numpy))
    levels_agree(graph, inputs, machines=[MACHINES[seed % len(MACHINES)]])


@given(graph=graphs(size=10), seed=st.integers(0, 99))
def test_programs_of_the_checks(graph: Graph, seed: int) -> None:
    agree(graph, seed)


# ── images: convolutions and pools of every kind, with what comes between them ──

Step = Callable[[DrawFn, Node, int], Node]


def _weights(draw: DrawFn, shape: tuple[int, ...]) -> Node:
    """Small numbers. As a constant they may be packed, as the result of an op they may not."""
    values = np.random.default_rng(draw(st.integers(0, 9))).integers(-2, 3, shape) / 4
    node = const(values.astype(np.float32))
    return node if draw(st.booleans()) else apply("neg", node)


def _window(draw: DrawFn, x: Node) -> dict[str, Any]:
    """Kernel, strides, pads and dilations that fit the image."""
    pads = tuple(draw(st.integers(0, 1)) for _ in range(4))
    sizes = [n + pads[a] + pads[a + 2] for a, n in enumerate(x.type.dims[2:])]
    kernel = tuple(draw(st.integers(1, min(3, n))) for n in sizes)
    dilations = tuple(
        draw(st.integers(1, 2)) if 2 * (k - 1) < n else 1
        for k, n in zip(kernel, sizes, strict=True)
    )
    strides = tuple(draw(st.integers(1, 3)) for _ in range(2))
    return {"kernel": kernel, "strides": strides, "pads": pads, "dilations": dilations}


def _conv(draw: DrawFn, x: Node, size: int) -> Node:
    window = _window(draw, x)
    channels = x.type.dims[1]
    groups = draw(st.sampled_from([g for g in (1, 2, channels) if channels % g == 0]))
    out = groups * draw(st.integers(1, max(1, size // groups)))
    weights = _weights(draw, (out, channels // groups, *window.pop("kernel")))
    return apply("conv", x, weights, groups=groups, **window)


def _conv_transpose(draw: DrawFn, x: Node, size: int) -> Node:
    """Back to at most twice the size."""
    window, channels = _window(draw, x), x.type.dims[1]
    kernel, strides = window["kernel"], tuple(min(s, 2) for s in window["strides"])
    groups = draw(st.sampled_from([g for g in (1, 2) if channels % g == 0]))
    weights = _weights(draw, (channels, draw(st.integers(1, 3)), *kernel))
    if max(x.type.dims[2:]) > 9:
        return x
    return apply("conv_transpose", x, weights, strides=strides, groups=groups,
                 dilations=window["dilations"])  # fmt: skip


def _pool(draw: DrawFn, x: Node, size: int) -> Node:
    return apply(draw(st.sampled_from(["max_pool", "avg_pool", "sum_pool"])), x, **_window(draw, x))


def _bias(draw: DrawFn, x: Node, size: int) -> Node:
    return apply("add", x, _weights(draw, (x.type.dims[1], 1, 1)))


def _activation(draw: DrawFn, x: Node, size: int) -> Node:
    return apply(draw(st.sampled_from(["relu", "gelu", "silu", "tanh", "hard_swish", "abs"])), x)


def _skip(draw: DrawFn, x: Node, size: int) -> Node:
    return apply(draw(st.sampled_from(["add", "max", "mul"])), x, apply("sigmoid", x))


def _channels(draw: DrawFn, x: Node, size: int) -> Node:
    return concat([x, apply("neg", x)], 1) if x.type.dims[1] <= size else x


def _turned(draw: DrawFn, x: Node, size: int) -> Node:
    return apply("transpose", x, perm=(0, 1, 3, 2))


def _cut(draw: DrawFn, x: Node, size: int) -> Node:
    starts = tuple(draw(st.integers(0, (n - 1) // 2)) for n in x.type.dims)
    return apply("slice", x, starts=starts, stops=x.type.dims, steps=(1, 1, 1, 2))


@st.composite
def images(draw: DrawFn, size: int = 6) -> Graph:
    shape = [draw(st.integers(1, n)) for n in (2, 4, 9, 9)]
    x = first = inp("x", f"f32[{','.join(map(str, shape))}]")
    seen = [x]
    steps: list[Step] = [_conv, _conv, _conv_transpose, _pool, _bias, _activation, _skip, _channels,
                         _turned, _cut]  # fmt: skip
    for _ in range(draw(st.integers(1, 5))):
        x = draw(st.sampled_from(steps))(draw, x, size)
        seen.append(x)
    also = draw(st.lists(st.sampled_from(seen), max_size=1))
    return Graph.of([first], dict.fromkeys([x, *also]), "images")


@given(graph=images(), seed=st.integers(0, 99))
def test_images(graph: Graph, seed: int) -> None:
    agree(graph, seed)


# ── integers, conditions, indices ──

KINDS = ("i8", "u8", "i32", "i64", "u16")


def _integer_step(draw: DrawFn, values: list[Node]) -> Node:
    x = draw(st.sampled_from(values))
    same = [v for v in values if v.type == x.type]
    y = draw(st.sampled_from(same))
    ways = ["two", "cast", "select", "gather", "scatter", "reduce", "cumsum", "pad"]
    match draw(st.sampled_from(ways)):
        case "two":
            ops = ["add", "sub", "mul", "div", "mod", "fmod", "max", "min", "bit_xor", "pow"]
            return apply(draw(st.sampled_from(ops)), x, y)
        case "cast":
            way = apply("cast", x, dtype=draw(st.sampled_from([*KINDS, "f32", "f64", "bool"])))
            return apply("cast", way, dtype=draw(st.sampled_from(KINDS)))
        case "select":
            return apply("select", apply(draw(st.sampled_from(["lt", "eq", "ge"])), x, y), y, x)
        case "gather" if x.type.numel and 1 <= x.type.rank <= 2:
            axis = draw(st.integers(0, x.type.rank - 1))
            where = apply("mod", apply("cast", y, dtype="i64"), x.type.dims[axis])
            return apply("gather", x, where, axis=axis)
        case "scatter" if x.type.numel and 1 <= x.type.rank <= 2:
            axis = draw(st.integers(0, x.type.rank - 1))
            where = apply("mod", apply("cast", y, dtype="i64"), x.type.dims[axis])
            how = draw(st.sampled_from(["none", "add", "mul", "max", "min"]))
            return apply("scatter_elements", x, where, y, axis=axis, reduction=how)
        case "reduce" if x.type.rank:
            op = draw(st.sampled_from(["reduce_sum", "reduce_max", "reduce_min", "reduce_prod"]))
            return apply(op, x, axes=(draw(st.integers(0, x.type.rank - 1)),), keepdims=True)
        case "cumsum" if x.type.rank:
            axis, reverse = draw(st.integers(0, x.type.rank - 1)), draw(st.booleans())
            return apply("cumsum", x, axis=axis, reverse=reverse, exclusive=draw(st.booleans()))
    return apply("pad", x, low=(1,) * x.type.rank, high=(0,) * x.type.rank, value=3)


@st.composite
def integers(draw: DrawFn) -> Graph:
    shapes = st.lists(st.integers(0, 5), max_size=2).map(tuple)
    kind, shape = draw(st.sampled_from(KINDS)), draw(shapes)
    values = [inp(name, f"{kind}[{','.join(map(str, shape))}]") for name in "ab"]
    given = list(values)
    for _ in range(draw(st.integers(1, 6))):
        step = _integer_step(draw, values)
        if step.type.numel < 500:
            values.append(step)
    outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))
    return Graph.of(given, outputs, "integers")


@given(graph=integers(), seed=st.integers(0, 99))
def test_integers(graph: Graph, seed: int) -> None:
    agree(graph, seed)


# ── matrix products: batches that broadcast, operands in any order, what follows them ──


@st.composite
def products(draw: DrawFn) -> Graph:
    m, k, n = (draw(st.integers(1, most)) for most in (12, 5, 36))  # n: more than one vector
    kind = draw(st.sampled_from(["f32", "f32", "f64", "i32", "f16"]))
    batch = draw(st.sampled_from([((), ()), ((2,), ()), ((), (3,)), ((2, 1), (3,))]))
    a, b = ((*lead, *rest) for lead, rest in zip(batch, ((m, k), (k, n)), strict=True))
    nodes = [inp(x, f"{kind}[{','.join(map(str, s))}]") for x, s in (("a", a), ("b", b))]
    sides = [
        apply("transpose", apply("transpose", x, perm=p), perm=p) if draw(st.booleans()) else x
        for x in nodes
        for p in [(*range(x.type.rank - 2), x.type.rank - 1, x.type.rank - 2)]
    ]
    y = matmul(*sides)
    match draw(st.sampled_from(["plain", "bias", "square", "reduce", "twice"])):
        case "bias":
            y = apply("relu", y + apply("reduce_max", nodes[1], axes=(-2,), keepdims=True))
        case "square":
            y = y * y
        case "reduce":
            y = apply("reduce_max", y, axes=(draw(st.sampled_from([-1, -2])),))
        case "twice":
            y = matmul(sides[0], nodes[1]) + y
    return Graph.of(nodes, [y], "products")


@given(graph=products(), seed=st.integers(0, 99))
def test_products(graph: Graph, seed: int) -> None:
    agree(graph, seed)
