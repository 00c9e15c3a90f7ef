"""Programs for the checks of `passes.fuse`: small ones with what random ones seldom have, models'
excerpts, and random images. Next room: fuse.py, the checks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection

import numpy as np
from hypothesis import strategies as st

from autograder.units.u03.checks.kernels import Asked, edges, named, with_dear_edges
from course_lib.ir.graph.build import exp, neg, reduce_sum, relu, sigmoid, tanh, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.passes.fusion.groups import LARGEST
from course_lib.passes.prepare.decompose import decompose
from lessons.u03.programs import PROGRAMS


@functools.cache
def simple() -> list[tuple[Asked, str]]:
    """(what is asked, what to think of): each condition where it holds, and where it does not."""
    x, w, b = inp("x", "f32[4,4]"), inp("w", "f32[4,4]"), inp("b", "f32[4]")
    y, a, m = x @ w, relu(x), inp("m", "f32[1000,4]")
    s = x + w
    cases: list[tuple[list[Node], str]] = [
        ([neg(relu(exp(x)))], "Each operation has one reader."),
        ([relu(y + b)], "Bias and relu finish the product."),
        ([relu(y * sigmoid(y))], "Both users of the product are in one group."),
        ([s * s], "One user reads it twice."),
        ([exp(s) + neg(s) + tanh(s)], "The first add has three users, all in one group."),
        ([y, neg(relu(y))], "The product is returned, and the rest is a chain."),
        ([a, exp(a)], "relu is returned, and it is read."),
        ([exp(a), a @ w], "relu has readers in two kernels."),
        ([a + a @ w], "relu cannot be in the kernel of add, which waits for the product."),
        ([y @ w], "A kernel must hold one contraction at most."),
        ([reduce_sum(y, (0,))], "No kernel can hold a product and a reduction that reads it."),
    ]
    asked = [(Asked(named(Graph.of([x, w, b], ends))), problem) for ends, problem in cases]
    dear = named(Graph.of([b, m], [exp(b) + m]))
    no = "4 values of exp would be computed 1,000 times, and should_fuse has to say no to that."
    return [*asked, (Asked(dear, frozenset(edges(dear))), no)]


@functools.cache
def sharp() -> list[Asked]:
    """Small programs with what random ones seldom have: other types and shapes, odd outputs."""
    chain = [neg, relu, exp]
    programs = [_chain(chain, kind) for kind in ("f64[3]", "f16[2,2]", "f32[]", "f32[0,4]")]
    programs += [_chain([relu] * (LARGEST + 1), "f32[2]")]
    v = np.arange(4, dtype=np.float32)
    square, pair = ("f32[2,4]", "f32[4,4]"), ("f32[4]", "f32[4]")
    programs += [
        trace(lambda x, y: apply("select", apply("lt", x, y), x, y) * 2.0, *pair),
        trace(lambda x: neg(apply("cast", relu(x), dtype="f64")), "f32[4]"),
        trace(lambda x: tanh(x * const(v) + const(v[:1]) - 0.5), "f32[2,4]"),
        trace(lambda x: neg(transpose(exp(transpose(x, (1, 0))), (1, 0))), "f32[2,4]"),
        trace(lambda x: relu(reduce_sum(x, (0,))) * 2.0, "f32[3,4]"),
        trace(lambda x, w: [relu(x @ w) * 2.0, x], *square),
        *(decompose(trace(_softmax, kind)) for kind in ("f32[2,4]", "f64[2,4]")),
        trace(lambda x, w: transpose(relu(x @ w), (1, 0)), *square),
        trace(lambda x: [neg(y := relu(exp(x))), y, x], "f32[4]"),
        trace(lambda x: [y := relu(exp(x)), neg(y)], "f32[4]"),
        trace(lambda x: neg(apply("abs", neg(x))), "i32[4]"),
        trace(lambda x: neg(relu(x)), "f32[n,4]"),
        trace(lambda x: x, "f32[4]"),
        trace(lambda x, v: x * exp(v) + exp(x * x), "f32[3,4]", "f32[4]"),
        _pooled(),
    ]
    x = inp("x", "f32[4]")
    twice = relu(neg(x))
    programs += [Graph.of([x], [twice, twice]), Graph.of([x], [twice], also=[neg(exp(x))])]
    asked = [Asked(named(graph)) for graph in programs]
    diamond = named(trace(lambda x: (a := exp(x)) * sigmoid(a) + neg(a), "f32[4]"))
    again = named(_chain([neg, relu] * 3, "f32[4]"))
    asked += [Asked(diamond, frozenset([edge])) for edge in edges(diamond)]
    asked += [Asked(again, frozenset([edge])) for edge in edges(again)[:2]]
    return [*asked, *(Asked(named(graph), runs=False) for graph in PROGRAMS.values())]


def _softmax(x: Node) -> Node:
    return apply("softmax", x * 2.0)


def _pooled() -> Graph:
    x, w = inp("x", "f32[1,2,4,4]"), const(np.ones((2, 2, 1, 1), np.float32))
    pooled = apply("max_pool", relu(apply("conv", x, w)), kernel=(2, 2), strides=(2, 2))
    return Graph.of([x], [neg(pooled)])


@st.composite
def images(draw: st.DrawFn, size: int = 6) -> Asked:
    """Convolutions, biases, residuals and reductions in a row, and an edge that does not pay."""
    x = inp("x", draw(st.sampled_from(("f32[1,2,3,3]", "f64[2,2,3]"))))
    values: list[Node] = [x]
    for k in range(draw(st.integers(1, size))):
        y = draw(st.sampled_from(values[-3:]))
        op = draw(st.sampled_from(("conv", "conv", "bias", "add", "mul", "relu", "exp", "mean")))
        values.append(_on_an_image(op, y, draw(st.sampled_from(values)), k))
    others = draw(st.lists(st.sampled_from(values[1:]), max_size=1))
    graph = Graph.of([x], list(dict.fromkeys([values[-1], *others])))
    return with_dear_edges(draw, graph, 1)


@st.composite
def fans(draw: st.DrawFn, most: int = 5) -> Asked:
    """A value with several readers, all in the kernel of their sum, or some of them returned."""
    x = inp("x", "f32[4]")
    shared, ops = exp(x), st.sampled_from((neg, relu, tanh, sigmoid))
    readers = [draw(ops)(shared) for _ in range(draw(st.integers(2, most)))]
    returned = draw(st.lists(st.sampled_from(readers), max_size=1))
    graph = Graph.of([x], [functools.reduce(lambda a, b: a + b, readers), *returned])
    return with_dear_edges(draw, graph, 1)


def _on_an_image(op: str, y: Node, other: Node, k: int) -> Node:
    axes = tuple(range(2, y.type.rank))
    numbers = np.random.default_rng(k).integers(-2, 3, (2, 2, *[1] * len(axes))) / 4
    makers: dict[str, Callable[[], Node]] = {
        "conv": lambda: apply("conv", y, const(numbers, y.type.dtype)),
        "bias": lambda: y + const(numbers[:1], y.type.dtype),
        "mean": lambda: tanh(y - reduce_sum(y, axes, keepdims=True)),
        "relu": lambda: relu(y),
        "exp": lambda: sigmoid(y),
    }
    return makers[op]() if op in makers else tanh(apply(op, y, other))


def _chain(ops: Collection[Callable[[Node], Node]], kind: str) -> Graph:
    return trace(lambda x: functools.reduce(lambda y, op: op(y), ops, x), kind)
