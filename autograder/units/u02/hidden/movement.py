"""Movements in a row, for the hidden check of simplify. Next room: rules.py.

movements(seed)     # a program that returns some 100 of them, in three element types
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from autograder.units.u02.checks.untouched import awkward
from autograder.units.u02.hidden.expressions import each_once
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, inp

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
