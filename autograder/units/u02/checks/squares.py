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
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.check.framework import checks
from autograder.units.u02.checks.shared import becomes, stays
from autograder.units.u02.checks.simplify import EXACT, MOVES
from autograder.units.u02.checks.untouched import FLOATS, applied, keeps_bits
from course_lib.ir.graph.build import cast, concat, reshape, trace, transpose
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

SUMS = ("reduce_sum", "reduce_max", "mean")
TYPE_KEPT = ("gelu", "silu", "hard_sigmoid", "hard_swish", "softplus", "elu", "leaky_relu",
             "layer_norm", "log_softmax")  # fmt: skip


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
        for once in steps_of(start, 4):
            seen, sums = (start.type, once.type), SUMS if start is x else ()
            outputs += [once, *(n for n in steps_of(once, 4) if n.type in seen or n.op in sums)]
        outputs += windows(start)
    return Graph.of([x], list(dict.fromkeys(outputs)), "squares")


def _matrices(graph: Graph) -> list[np.ndarray]:
    return [np.array([-2.5, *FLOATS[:12], *FLOATS[-3:]], np.float32)[::-1].reshape(4, 4)]


def steps_of(x: Node, side: int) -> list[Node]:
    """What combines or moves elements of this value, where `side` is the size of a matrix."""
    steps = [node for op, attrs in _steps(x, side) for node in applied(op, x, **attrs)]
    for axis, size in enumerate(x.type.dims):
        steps += applied("concat", x, x, axis=axis)
        steps += applied("gather", x, const(np.arange(size)[::-1]), axis=axis)
    identity = np.eye(x.type.dims[-1], dtype=np.float32) if x.type.rank else np.eye(1)
    return [*steps, *applied("matmul", x, const(identity))]  # infinity is multiplied by 0


def _steps(x: Node, side: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Operations of one operand, with their attributes; some do not fit."""
    dims, axes = x.type.dims, range(x.type.rank)
    zeros = [0] * len(dims)
    yield from ((op, {}) for op in ("neg", "abs", "relu"))
    for axis, size in enumerate(dims):
        with_ = functools.partial(_put, axis)
        yield from ((op, {"axes": (axis,), "keepdims": k}) for op in SUMS for k in (False, True))
        yield from ((op, {"axis": axis}) for op in ("cumsum", "softmax"))
        yield "slice", {"starts": zeros, "stops": with_(dims, size - 1)}
        yield "slice", {"starts": with_(zeros, 1), "stops": dims}
        yield "slice", {"starts": with_(zeros, size - 1), "stops": with_(dims, -1),
                        "steps": with_([1] * len(dims), -1)}  # fmt: skip
        yield "pad", {"low": with_(zeros, 1), "high": zeros}
        yield "pad", {"low": zeros, "high": with_(zeros, 1)}
    yield from (("transpose", {"perm": p}) for p in itertools.permutations(axes))
    for shape in ((side, side), (side * side,), (2, side * side // 2), (1, side), (side, 1)):
        yield "reshape", {"shape": shape}
    yield from (("expand", {"shape": s}) for s in ((side, side), (2, side, side)))
    yield from (("cast", {"dtype": to}) for to in ("f32", "f64", "f16", "i32", "bool"))
    yield "clamp", {"min": -1.0, "max": 1.0}


def _put(axis: int, numbers: Sequence[int], number: int) -> tuple[int, ...]:
    return tuple(number if k == axis else n for k, n in enumerate(numbers))


def windows(x: Node) -> Iterator[Node]:
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


@checks("passes.simplify", spec=[MOVES, EXACT])
def simplify_uses_the_movement_rules(simplify):
    """What moves nothing goes, and of two movements in a row one is left, as `MOVEMENT` says."""
    for before, after, why in _MOVED:
        becomes(simplify, trace(before, "f32[2,3]"), trace(after, "f32[2,3]"), why, MOVES)
    for before, why in _MOVES:
        stays(simplify, trace(before, "f32[3,3]"), f"Nothing may go here. {why}", EXACT)
    return f"{len(_MOVED) + len(_MOVES)} programs that only move elements"


_MOVED = [
    (lambda x: transpose(transpose(x, (1, 0)), (1, 0)), lambda x: x, "The transposes cancel."),
    (lambda x: reshape(reshape(x, (6,)), (3, 2)), lambda x: reshape(x, (3, 2)),
     "One reshape is enough."),
    (lambda x: cast(cast(x, "f64"), "f16"), lambda x: cast(x, "f16"),
     "f64 holds every f32, so one cast is enough."),
    (lambda x: cast(reshape(transpose(x, (0, 1)), (2, 3)), "f32"), lambda x: x,
     "Nothing moves here, and the type stays."),
    (lambda x: transpose(transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 0, 2)), (0, 2, 1)),
     lambda x: transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 2, 0)),
     "Two transposes of three axes make one: first one order, then the other."),
    (lambda x: apply("expand", apply("expand", x, shape=(1, 2, 3)), shape=(4, 2, 3)),
     lambda x: apply("expand", x, shape=(4, 2, 3)), "One expand is enough."),
    (lambda x: concat([apply("pad", x, low=(0, 0), high=(0, 0))], 0), lambda x: x,
     "Nothing is padded, and nothing is put beside x."),
]  # fmt: skip

# What moves something: of a square, so that the type alone says nothing.
_MOVES = [
    (lambda x: transpose(x, (1, 0)), "This transposes the matrix."),
    (lambda x: transpose(reshape(transpose(x, (1, 0)), (3, 3, 1)), (1, 0, 2)),
     "Between the two transposes there is another movement, which may look at the order."),
    (lambda x: apply("slice", x, starts=(2, 0), stops=(-1, 3), steps=(-1, 1)),
     "The order of the rows is reversed."),
    (lambda x: cast(cast(x, "i32"), "f32"), "0.5 is not an i32."),
    (lambda x: cast(cast(x, "f16"), "f32"), "An f16 does not hold every f32."),
    (lambda x: cast(cast(x, "bool"), "f32"), "As bool, 2.0 is true, and that is 1.0."),
    (lambda x: reshape(transpose(x, (1, 0)), (9,)),
     "The reshape reads the numbers in another order."),
]  # fmt: skip
