"""ONNX rules for ops that move elements, pick them, make them, or talk about shapes.

    Reshape(%x, [0, -1])                     ->   reshape(%x) {shape = [8, 16]}
    Gather(Shape(%x), 0), Unsqueeze, Concat  ->   nothing: shapes are known at compile time

Next: `nn.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.onnx.table import array, element_type, translates
from course_lib.frontend.onnx.values import numbers, optional_axes, shape_value, sizes
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axes, normal_axis
from course_lib.ir.types import Sym, f32, i64, product
from course_lib.limits import check_room

# ── values from nothing, and shapes ──


@translates("Constant")
def constant(*, value: Any = None, value_float: Any = None, value_floats: Any = None,
             value_int: Any = None, value_ints: Any = None) -> Node:  # fmt: skip
    if value is not None:
        return b.const(array(value))
    if value_float is not None or value_floats is not None:
        return b.const(value_floats if value_float is None else value_float, f32)
    if value_int is not None or value_ints is not None:
        return b.const(value_ints if value_int is None else value_int, i64)
    raise ValueError("a sparse or a string constant is not supported")


@translates("Shape")
def shape(x: Node, *, start: int = 0, end: int | None = None) -> Any:
    dims = np.empty(x.type.rank, dtype=object)
    dims[:] = x.type.shape
    return shape_value(dims[start:end])


@translates("Size")
def size(x: Node) -> Any:
    return shape_value(product(x.type.shape))


@translates("ConstantOfShape")
def constant_of_shape(shape: Node, *, value: Any = None) -> Node:
    fill = np.zeros(1, np.float32) if value is None else array(value)
    return b.expand(b.const(fill.reshape(())), sizes(shape, "the shape"))


@translates("Range")
def range_(start: Node, limit: Node, delta: Node) -> Node:
    first, last, step = [numbers(x, "a bound of Range").item() for x in (start, limit, delta)]
    if step == 0 or not all(map(math.isfinite, (first, last, step))):
        raise ValueError(f"a range from {first} to {last} in steps of {step} has no end")
    check_room(8 * max(0, math.ceil((last - first) / step)), f"a range from {first} to {last}")
    return b.const(np.arange(first, last, step), start.type.dtype)


@translates("EyeLike")
def eye_like(x: Node, *, dtype: int | None = None, k: int = 0) -> Node:
    kind = x.type.dtype if dtype is None else element_type(dtype)
    check_room(8 * x.type.numel, f"ones on a diagonal of {x.type}")
    return b.const(np.eye(*x.type.dims, k=k), kind)


# ── shapes of tensors ──


@translates("Reshape")
def reshape(x: Node, shape: Any, *, allowzero: int = 0) -> Node:
    """A size 0 keeps the operand's size at this place, unless `allowzero`."""
    wanted = sizes(shape, "the shape")
    old = x.type.shape
    full = [old[a] if n == 0 and not allowzero else n for a, n in enumerate(wanted)]
    return b.reshape(x, full)


@translates("Flatten")
def flatten(x: Node, *, axis: int = 1) -> Node:
    at = axis + x.type.rank if axis < 0 else axis
    return b.reshape(x, (product(x.type.shape[:at]), product(x.type.shape[at:])))


@translates("Squeeze")
def squeeze(x: Node, axes: Any = None) -> Node:
    chosen = optional_axes(axes, "the axes")
    if chosen is None:
        chosen = [a for a, n in enumerate(x.type.shape) if n == 1]
    gone = normal_axes(chosen, x.type.rank, "Squeeze")
    if any(x.type.shape[a] != 1 for a in gone):
        raise ValueError(f"can only remove axes of size 1, not {list(gone)} of {x.type}")
    return blocks.drop_axes(x, gone)


@translates("Unsqueeze")
def unsqueeze(x: Node, axes: Any) -> Node:
    return blocks.add_axes(x, optional_axes(axes, "the axes") or [])


@translates("Transpose")
def transpose(x: Node, *, perm: Sequence[int] | None = None) -> Node:
    return b.transpose(x, tuple(reversed(range(x.type.rank))) if perm is None else perm)


@translates("Expand")
def expand(x: Node, shape: Any) -> Node:
    """Broadcasting in both directions: a size 1 in the wanted shape keeps the operand's size."""
    wanted = sizes(shape, "the shape")
    rank = max(len(wanted), x.type.rank)
    old = [1] * (rank - x.type.rank) + list(x.type.shape)
    new = [1] * (rank - len(wanted)) + wanted
    return b.expand(x, [o if n == 1 else n for o, n in zip(old, new, strict=True)])


@translates("Tile")
def tile(x: Node, repeats: Any) -> Node:
    return blocks.tile(x, [int(n) for n in numbers(repeats, "the repeats")])


@translates("DepthToSpace")
def depth_to_space(x: Node, *, blocksize: int, mode: str = "DCR") -> Node:
    n, c, h, w = x.type.dims
    s, rest = blocksize, c // blocksize**2
    apart, order = ((n, s, s, rest, h, w), (0, 3, 4, 1, 5, 2))
    if mode == "CRD":
        apart, order = ((n, rest, s, s, h, w), (0, 1, 4, 2, 5, 3))
    return b.reshape(b.transpose(b.reshape(x, apart), order), (n, rest, h * s, w * s))


@translates("SpaceToDepth")
def space_to_depth(x: Node, *, blocksize: int, mode: str = "DCR") -> Node:
    n, c, h, w = x.type.dims
    s = blocksize
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = b.transpose(b.reshape(x, (n, c, h // s, s, w // s, s)), order)
    return b.reshape(apart, (n, c * s * s, h // s, w // s))


# ── parts and joins ──


@translates("Concat")
def concat(*parts: Node, axis: int) -> Node:
    return b.concat(parts, normal_axis(axis, parts[0].type.rank, "Concat"))


@translates("Split")
def split(x: Node, split: Any = None, *, axis: int = 0, num_outputs: int | None = None,
          outputs: int = 1) -> list[Node]:  # fmt: skip
    where = normal_axis(axis, x.type.rank, "Split")
    total, count = x.type.dims[where], num_outputs or outputs
    if split is not None:
        return blocks.split(x, where, [int(n) for n in numbers(split, "the sizes")])
    each = -(-total // count)
    parts = [max(min(each, total - k * each), 0) for k in range(min(count, outputs))]
    return blocks.split(x, where, [*parts, total - sum(parts)])  # the rest is read by nobody


@translates("Slice")
def slice_(x: Node, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Node:
    first = numbers(starts, "the starts").tolist()
    last = numbers(ends, "the ends").tolist()
    where = optional_axes(axes, "the axes") or list(range(len(first)))
    step = [1] * len(first) if steps is None else numbers(steps, "the steps").tolist()
    parts = {}
    for axis, a, e, s in zip(where, first, last, step, strict=True):
        axis = normal_axis(axis, x.type.rank, "Slice")
        size = x.type.shape[axis]
        whole = not isinstance(size, int) and (a, s) == (0, 1) and e >= 2**31 - 1
        parts[axis] = slice(None) if whole else _clamped(a, e, s, size)
    return blocks.cut_axes(x, parts)


def _clamped(start: int, end: int, step: int, size: Any) -> slice:
    """Python's slice, but for an end before the front when walking backwards: that is the front."""
    if isinstance(size, Sym):
        return slice(start, end, step)
    if step < 0 and end < -size:
        return slice(start, None, step)
    return slice(start, end, step)


@translates("Pad")
def pad(x: Node, pads: Any, value: Node | None = None, axes: Any = None, *,
        mode: str = "constant") -> Node:  # fmt: skip
    widths = numbers(pads, "the widths").tolist()
    chosen = optional_axes(axes, "the axes")
    where = range(x.type.rank) if chosen is None else [a % x.type.rank for a in chosen]
    low, high = [0] * x.type.rank, [0] * x.type.rank
    for k, axis in enumerate(where):
        low[axis], high[axis] = widths[k], widths[k + len(where)]
    fill = 0 if value is None else numbers(value, "the fill value").item()
    return blocks.pad(x, low, high, mode, fill)


@translates("Trilu")
def trilu(x: Node, k: Any = None, *, upper: int = 1) -> Node:
    diagonal = 0 if k is None else int(numbers(k, "the diagonal").item())
    return blocks.triangle(x, diagonal, bool(upper))


@translates("ReverseSequence")
def reverse_sequence(x: Node, lengths: Node, *, batch_axis: int = 1, time_axis: int = 0) -> Node:
    """The first `length` steps of each row backwards: step t comes from length - 1 - t."""
    steps = apply("iota", shape=x.type.dims, axis=time_axis, dtype="i64")
    shape = [-1 if a == batch_axis else 1 for a in range(x.type.rank)]
    length = b.reshape(as_type(lengths, i64), shape)
    source = b.select(apply("lt", steps, length), b.sub(b.sub(length, steps), 1), steps)
    return apply("gather_elements", x, source, axis=time_axis)


# ── picking and writing by index ──


@translates("Gather")
def gather(x: Node, indices: Node, *, axis: int = 0) -> Node:
    return apply("gather", x, indices, axis=normal_axis(axis, x.type.rank, "Gather"))


@translates("GatherElements")
def gather_elements(x: Node, indices: Node, *, axis: int = 0) -> Node:
    return apply("gather_elements", x, indices, axis=normal_axis(axis, x.type.rank, "axis"))


@translates("GatherND")
def gather_nd(x: Node, indices: Node, *, batch_dims: int = 0) -> Node:
    """The last axis of the indices holds coordinates; batch axes are further coordinates."""
    depth = indices.type.dims[-1]
    last = indices.type.rank - 1
    picks = []
    for axis in range(batch_dims):
        shape = [n if a == axis else 1 for a, n in enumerate(indices.type.dims[:-1])]
        position = apply("iota", shape=shape, axis=axis, dtype="i64")
        picks.append(b.expand(position, indices.type.dims[:-1]))
    for k in range(depth):
        picks.append(blocks.drop_axes(blocks.cut(indices, last, k, k + 1), [last]))
    return blocks.gather_axes(x, 0, picks)


@translates("ScatterElements")
def scatter_elements(x: Node, indices: Node, updates: Node, *, axis: int = 0,
                     reduction: str = "none") -> Node:  # fmt: skip
    where = normal_axis(axis, x.type.rank, "ScatterElements")
    return apply("scatter_elements", x, indices, updates, axis=where, reduction=reduction)


@translates("ScatterND")
def scatter_nd(x: Node, indices: Node, updates: Node, *, reduction: str = "none") -> Node:
    return apply("scatter_nd", x, indices, updates, reduction=reduction)


@translates("Compress")
def compress(x: Node, condition: Node, *, axis: int | None = None) -> Node:
    where = np.flatnonzero(numbers(condition, "the condition"))
    x, at = (
        (b.reshape(x, (-1,)), 0) if axis is None else (x, normal_axis(axis, x.type.rank, "axis"))
    )
    return apply("gather", x, b.const(where, i64), axis=at)


@translates("NonZero")
def nonzero(x: Node) -> Node:
    return b.const(np.array(np.nonzero(numbers(x, "the operand of NonZero"))), i64)
