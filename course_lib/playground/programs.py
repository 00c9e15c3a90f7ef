"""A dozen small programs on which the order of passes matters, and the five passes.

    PROGRAMS["order"]   ->   Program(graph, "Two sums that are equal only once ...")

Each program has something that one of the passes finds, mostly only after another one. Sizes are
small, so that machine code can be read, and multiples of a vector's. Next room: `explore.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.build import (
    concat,
    exp,
    matmul,
    reduce_max,
    reduce_sum,
    relu,
    reshape,
    sigmoid,
    trace,
    transpose,
)
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify
from course_lib.passes.fusion.fuse import fuse
from course_lib.passes.infra.manager import Pass

FIVE: list[Pass] = [fold, simplify, cse, dce, fuse]


@dataclass(frozen=True)
class Program:
    """A graph, and a sentence on what to look for in it."""

    graph: Graph
    about: str


def weights(*shape: int) -> Node:
    """Numbers that look trained and are the same each time."""
    count = int(np.prod(shape))
    return const((np.arange(count) * 37 % 101 / 101 - 0.5).astype(np.float32).reshape(shape))


def repeat(x: Node) -> Node:
    return sigmoid(x) * 2.0 + sigmoid(x) * 2.0


def constants(x: Node) -> Node:
    scale = const(2.0) * const(3.0) - 5.0
    return relu(x * scale + (const(4.0) - 4.0))


def order(x: Node, y: Node) -> Node:
    return (x * (const(1.0) + 1.0) + y) * (x * 2.0 + y)


def identities(x: Node) -> Node:
    there = transpose(x, (1, 0)) * 1.0
    return relu(relu(transpose(there, (1, 0)) + 0.0))


def softmax(x: Node) -> Graph:
    p = exp(x - reduce_max(x, (1,), keepdims=True))
    entropy = reduce_sum(p * p, (1,))
    result = p / reduce_sum(p, (1,), keepdims=True)
    return Graph.of([x], [result], also=[entropy])


def dense(x: Node) -> Node:
    return relu(matmul(x, weights(64, 48)) + weights(48))


def mlp(x: Node) -> Node:
    hidden = relu(matmul(x, weights(64, 64)) + weights(64))
    return matmul(hidden, weights(64, 32)) + weights(32) * 1.0


def scaled(x: Node) -> Node:
    w = weights(64, 32) * 0.5 + 0.0
    return matmul(x, w) + matmul(x, w)


def swish(x: Node) -> Node:
    a, b = weights(64, 48), weights(64, 48) + 0.25
    return matmul(x, a) * (matmul(x, b) * sigmoid(matmul(x, b)))


def norm(x: Node) -> Node:
    def mean(of: Node) -> Node:
        return reduce_sum(of, (1,), keepdims=True) * (1 / 64)

    centred = x - mean(x)
    variance = mean((x - mean(x)) * centred)
    return centred * apply("rsqrt", variance + 1e-5) * weights(64) + weights(64) * 0.0


def convolution(x: Node) -> Node:
    filters, scale = weights(16, 8, 3, 3), weights(16, 1, 1, 1) + 1.0
    return relu(apply("conv", x, filters * scale) + weights(16, 1, 1) * 1.0)


def rotary(x: Node) -> Node:
    angles = matmul(const(np.arange(32, dtype=np.float32).reshape(32, 1)), weights(1, 32))
    halves = [apply("slice", x, starts=(0, at), stops=(32, at + 32)) for at in (0, 32)]
    a, b = halves
    cos, sin = apply("cos", angles), apply("sin", angles)
    turned = concat([a * cos - b * sin, b * apply("cos", angles) + a * sin], 1)
    return reshape(turned, (32, 4, 16))


_MADE: list[tuple[Callable[..., Node | Graph], str, tuple[str, ...]]] = [
    (repeat, "One value is computed twice: `cse` sees it, unless `fuse` was there first.",
     ("f32[16,64]",)),
    (constants, "A factor of 1 and a sum with 0, which only `fold` brings to light for `simplify`.",
     ("f32[16,64]",)),
    (order, "Two sums that are equal once `fold` has made 1 + 1 a 2: `cse` finds them after it.",
     ("f32[16,64]", "f32[16,64]")),
    (identities, "Two transposes that undo each other, with a product by 1 between them.",
     ("f32[16,64]",)),
    (softmax, "Rows of probabilities, and a sum that no output needs: only `dce` removes it.",
     ("f32[16,64]",)),
    (dense, "A product, a bias and a relu: three kernels, or one.", ("f32[32,64]",)),
    (mlp, "Two layers: how many kernels are left, and what is still written to memory?",
     ("f32[32,64]",)),
    (scaled, "The same product twice, of weights that are computed in every run until `fold` has "
     "done it.", ("f32[32,64]",)),
    (swish, "A gated layer: three products, two of which are equal.", ("f32[32,64]",)),
    (norm, "A layer norm that computes its mean twice and adds a product by 0.", ("f32[16,64]",)),
    (convolution, "A 3 × 3 convolution whose scale can move into its weights.",
     ("f32[1,8,18,18]",)),
    (rotary, "Angles of positions: a table of constants, and one cosine too many.",
     ("f32[32,64]",)),
]  # fmt: skip


def _program(make: Callable[..., Node | Graph], about: str, types: tuple[str, ...]) -> Program:
    found: list[Graph] = []

    def body(*parameters: Node) -> list[Node]:
        made = make(*parameters)
        found.append(made if isinstance(made, Graph) else Graph.of(parameters, [made]))
        return list(found[0].outputs)

    trace(body, *types)
    graph = found[0]
    return Program(Graph(make.__name__, graph.inputs, graph.nodes, graph.outputs), about)


PROGRAMS = {make.__name__: _program(make, about, types) for make, about, types in _MADE}
