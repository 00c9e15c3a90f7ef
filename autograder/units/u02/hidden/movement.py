"""Movements in a row, for the hidden check of simplify. Next room: rules.py.

movements(seed)     # a program that returns some 100 of them, in three element types
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np

from autograder.units.u02.hidden.expressions import each_once, pairs
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp

KINDS = ("f32", "i32", "u8")
CASTS = ("f32", "f16", "f64", "i32", "i8", "i64", "u8", "bool", "f32", "i32")


Movement = Callable[[Node], Node]


@functools.cache
def every_two() -> Graph:
    """Of a cube, a square, a square with an axis of size 1 in its middle, and of no squares."""
    x = inp("x_f32", f"f32[{len(pairs('f32')[0])}]")
    part = apply("slice", x, starts=(0,), stops=(64,))
    outputs = []
    for shape, menu in (((4, 4, 4), _turns()), ((8, 1, 8), _turns() + _shapes()),
                        ((8, 8), _parts() + _casts()), ((2, 4, 8), _turns() + _shapes()),
                        ((1, 32, 2), _turns() + _shapes())):  # fmt: skip
        start = apply("reshape", part, shape=shape)
        for first, second in itertools.product(menu, repeat=2):
            try:
                outputs.append(second(first(start)))
            except ValueError:
                continue
    order = np.random.default_rng(1).permutation(len(outputs))
    return each_once(Graph.of([x], [outputs[k] for k in order], "movements"))


def _turns() -> list[Movement]:
    perms = itertools.permutations(range(3))
    return [lambda x, p=p: apply("transpose", x, perm=p) for p in perms]


def _shapes() -> list[Movement]:
    shapes = ((64,), (8, 8), (1, 8, 8), (4, 4, 4), (2, 32), (8, 4, 2))
    made: list[Movement] = [lambda x, s=s: apply("reshape", x, shape=s) for s in shapes]
    return [*made, lambda x: apply("expand", x, shape=(2, *x.type.dims[-2:]))]


def _parts() -> list[Movement]:
    """Rows turned around, columns turned around; beside nothing, beside itself; padded, or not."""
    return [
        lambda x: apply("slice", x, starts=(7, 0), stops=(-1, 8), steps=(-1, 1)),
        lambda x: apply("slice", x, starts=(0, 7), stops=(8, -1), steps=(1, -1)),
        lambda x: apply("slice", x, starts=(0, 0), stops=(8, 8)),
        lambda x: apply("transpose", x, perm=(1, 0)),
        lambda x: apply("concat", x, axis=0),
        lambda x: apply("concat", x, x, axis=1),
        lambda x: apply("pad", x, low=(1, 0), high=(0, 0)),
        lambda x: apply("pad", x, low=(0, 0), high=(0, 0)),
        lambda x: apply("reshape", x, shape=(8, 8)),
    ]


def _casts() -> list[Movement]:
    return [lambda x, to=to: apply("cast", x, dtype=to) for to in CASTS[:8]]


@functools.lru_cache(maxsize=16)
def movements(seed: int) -> Graph:
    """Two to four movements in a row, of which some undo each other."""
    rng = np.random.default_rng(seed)
    inputs, outputs = [], []
    for kind in KINDS:
        count = len(pairs(kind)[0])
        x = inp(f"x_{kind}", f"{kind}[{count}]")
        size = int(np.sqrt(count))
        square = apply("reshape", x, shape=(size, size))
        inputs.append(x)
        for _ in range(24):
            node = (x, square, apply("reshape", x, shape=(size, 1, size)))[int(rng.integers(3))]
            for _ in range(int(rng.integers(2, 5))):
                node = _moved(rng, node)
            outputs.append(node)
    return Graph.of(inputs, outputs, "movements")


def _moved(rng: np.random.Generator, x: Node) -> Node:
    """`x` in another order, another shape or another type, or as it was."""
    rank, dims = x.type.rank, x.type.dims
    choice = int(rng.integers(8))
    if choice == 0:
        flat, other = (x.type.numel,), dims[::-1]
        return apply("reshape", x, shape=(flat, other, (1, *dims), dims)[int(rng.integers(4))])
    if choice in (1, 2):
        return apply("transpose", x, perm=tuple(int(axis) for axis in rng.permutation(rank)))
    if choice == 3 and x.type.numel < 3000:
        return apply("expand", x, shape=((1, *dims), (2, *dims), dims)[int(rng.integers(3))])
    if choice == 4:
        turned = [bool(rng.random() < 0.3) for _ in dims]
        rows = [(d - 1, -1, -1) if t else (0, d, 1) for d, t in zip(dims, turned, strict=True)]
        starts, stops, steps = zip(*rows, strict=True)
        return apply("slice", x, starts=starts, stops=stops, steps=steps)
    if choice == 5:
        wide = [int(rng.random() < 0.2) for _ in dims]
        return apply("pad", x, low=tuple(wide), high=tuple(0 for _ in dims))
    if choice == 6:
        return apply("concat", *[x] * (1 + int(rng.random() < 0.3)), axis=0)
    return apply("cast", x, dtype=CASTS[int(rng.integers(len(CASTS)))])
