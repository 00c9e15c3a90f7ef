"""Checks of unit 2 for simplify: ops that combine or move elements, one after the other.

    cumsum(x)                       # has the type of x, as a softmax has
    reduce_sum(transpose(x))        # of a square: the type does not say which axis is summed
    expand(reduce_max(x))           # has the type of x, too

What an answer takes for the same because the types are must still keep every bit. Next room:
strength.py.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from autograder.check.framework import checks
from autograder.units.u02.checks.simplify import EXACT, MOVES
from autograder.units.u02.checks.untouched import FLOATS, keeps_bits
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

REDUCE = ("reduce_sum", "reduce_max", "mean")
TYPE_KEPT = ("gelu", "silu", "hard_sigmoid", "hard_swish", "softplus", "elu", "leaky_relu",
             "layer_norm", "log_softmax")  # fmt: skip
Step = Callable[[Node], Node]


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
        for once in _one_more(start):
            seen, sums = (start.type, once.type), REDUCE if start is x else ()
            outputs += [once, *(n for n in _one_more(once) if n.type in seen or n.op in sums)]
    outputs += [made for start in (x, row) for made in _windows(start)]
    return Graph.of([x], list(dict.fromkeys(outputs)), "squares")


def _matrices(graph: Graph) -> list[np.ndarray]:
    return [np.array([-2.5, *FLOATS[:12], *FLOATS[-3:]], np.float32)[::-1].reshape(4, 4)]


def _one_more(x: Node) -> Iterator[Node]:
    for step in _steps(x.type.rank):
        try:
            yield step(x)
        except ValueError:
            continue


@functools.cache
def _steps(rank: int) -> list[Step]:
    axes = range(rank)
    makes: list[Step] = [functools.partial(apply, op) for op in ("neg", "abs", "relu")]
    for axis, op in itertools.product(axes, REDUCE):
        makes += [lambda x, a=axis, op=op, k=keep: apply(op, x, axes=(a,), keepdims=k)
                  for keep in (False, True)]  # fmt: skip
    for axis in axes:
        makes += [lambda x, a=axis, op=op: apply(op, x, axis=a) for op in ("cumsum", "softmax")]
        makes += [lambda x, a=axis: _turned_by_numbers(x, a), lambda x, a=axis: _cut(x, a, 0, -1),
                  lambda x, a=axis: _cut(x, a, 1, 0), lambda x, a=axis: _reversed(x, a),
                  lambda x, a=axis: _padded(x, a, 1, 0), lambda x, a=axis: _padded(x, a, 0, 1),
                  lambda x, a=axis: apply("concat", x, x, axis=a)]  # fmt: skip
    makes += [lambda x, p=p: apply("transpose", x, perm=p) for p in itertools.permutations(axes)]
    shapes = ((4, 4), (16,), (2, 8), (1, 4), (4, 1))
    makes += [lambda x, s=s: apply("reshape", x, shape=s) for s in shapes]
    makes += [lambda x, s=s: apply("expand", x, shape=s) for s in ((4, 4), (2, 4, 4))]
    makes += [lambda x, to=to: apply("cast", x, dtype=to) for to in ("f32", "f16", "i32", "bool")]
    return [*makes, lambda x: apply("clamp", x, min=-1.0, max=1.0), _times_identity]


def _turned_by_numbers(x: Node, axis: int) -> Node:
    """The elements along an axis, from the last to the first, by their numbers."""
    return apply("gather", x, const(np.arange(x.type.dims[axis])[::-1]), axis=axis)


def _cut(x: Node, axis: int, first: int, last: int) -> Node:
    """Without so many elements at the beginning of an axis, and at its end."""
    starts, stops = [0] * x.type.rank, list(x.type.dims)
    starts[axis], stops[axis] = first, stops[axis] + last
    return apply("slice", x, starts=tuple(starts), stops=tuple(stops))


def _reversed(x: Node, axis: int) -> Node:
    rows = [(d - 1, -1, -1) if a == axis else (0, d, 1) for a, d in enumerate(x.type.dims)]
    starts, stops, steps = zip(*rows, strict=True)
    return apply("slice", x, starts=starts, stops=stops, steps=steps)


def _padded(x: Node, axis: int, low: int, high: int) -> Node:
    before, after = ([n if a == axis else 0 for a in range(x.type.rank)] for n in (low, high))
    return apply("pad", x, low=tuple(before), high=tuple(after))


def _times_identity(x: Node) -> Node:
    """x times the identity: a sum in which infinity is multiplied by 0."""
    return apply("matmul", x, const(np.eye(x.type.dims[-1], dtype=np.float32)))


def _windows(x: Node) -> Iterator[Node]:
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
