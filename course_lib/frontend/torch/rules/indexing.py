"""ATen rules for ops that pick elements by index, write them, or make them from nothing.

    aten.embedding(%weight, %tokens)   ->   gather(%weight, %tokens) {axis = 0}

Next: `nn.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.torch.rules.movement import axis_of, unsqueeze
from course_lib.frontend.torch.table import element_type, promote, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import bool_, f32, i64
from course_lib.limits import check_room

# ── picking by index ──


@translates("index_select")
def index_select(x: Node, dim: int, index: Node) -> Node:
    return apply("gather", x, index, axis=axis_of(x, dim))


@translates("embedding")
def embedding(weight: Node, indices: Node, *_: Any, **__: Any) -> Node:
    return apply("gather", weight, indices, axis=0)


@translates("gather")
def gather(x: Node, dim: int, index: Node, sparse_grad: bool = False) -> Node:
    return apply("gather_elements", x, index, axis=axis_of(x, dim))


@translates("index.Tensor")
def index(x: Node, indices: Sequence[Node | None]) -> Node:
    """x[i, :, j]: index tensors broadcast together and pick one element of each indexed axis."""
    axes = [a for a, i in enumerate(indices) if i is not None]
    picks = [i for i in indices if i is not None]
    if any(i.type.dtype == bool_ for i in picks):
        raise ValueError("a boolean mask as an index gives a shape that depends on the data")
    _refuse_gaps(axes)
    return blocks.gather_axes(x, axes[0], picks)


@translates("index_put")
def index_put(
    x: Node, indices: Sequence[Node | None], values: Node, accumulate: bool = False
) -> Node:
    """x with x[i, :, j] = values (or +=): the indexed axes come first, then `scatter_nd` writes."""
    axes = [a for a, i in enumerate(indices) if i is not None]
    picks = [i for i in indices if i is not None]
    if any(i.type.dtype == bool_ for i in picks):
        return _masked_put(x, axes, picks, values, accumulate)
    _refuse_gaps(axes)
    first, count, dims = axes[0], len(axes), x.type.dims
    shape = np.broadcast_shapes(*(i.type.dims for i in picks))
    where = blocks.stack([b.expand(as_type(i, i64), shape) for i in picks], -1)
    values = as_type(values, x.type.dtype)
    values = b.expand(values, (*dims[:first], *shape, *dims[first + count :]))
    y = apply(
        "scatter_nd", _to_front(x, first, count), where, _to_front(values, first, len(shape)),
        reduction="add" if accumulate else "none",
    )  # fmt: skip
    return b.transpose(y, np.argsort(_front(x, first, count)).tolist())


def _refuse_gaps(axes: Sequence[int]) -> None:
    if list(axes) != list(range(axes[0], axes[0] + len(axes))):
        raise ValueError("index tensors with a whole axis between them are not supported")


def _front(x: Node, first: int, count: int) -> list[int]:
    """The axes of x in an order that begins with `count` axes from `first` on."""
    chosen = range(first, first + count)
    return [*chosen, *(a for a in range(x.type.rank) if a not in chosen)]


def _to_front(x: Node, first: int, count: int) -> Node:
    return b.transpose(x, _front(x, first, count))


def _masked_put(
    x: Node, axes: Sequence[int], masks: Sequence[Node], values: Node, accumulate: bool
) -> Node:
    """x[mask] = number: a choice for each element."""
    (mask, *more), last = masks, axes[0] + masks[0].type.rank
    if more or values.type.numel != 1:
        raise ValueError("x[mask] = values: one mask and a single number are supported")
    mask = b.reshape(mask, (*mask.type.dims, *[1] * (x.type.rank - last)))
    number = b.reshape(as_type(values, x.type.dtype), ())
    return b.select(mask, b.add(x, number) if accumulate else number, x)


@translates("scatter.src", "scatter.value")
def scatter(x: Node, dim: int, index: Node, src: Any) -> Node:
    if not isinstance(src, Node):
        src = b.expand(as_type(src, x.type.dtype), index.type.shape)
    src = blocks.cut_to(src, index.type.dims)
    return apply("scatter_elements", x, index, src, axis=axis_of(x, dim))


@translates("scatter_add")
def scatter_add(x: Node, dim: int, index: Node, src: Node) -> Node:
    src = blocks.cut_to(src, index.type.dims)
    return apply("scatter_elements", x, index, src, axis=axis_of(x, dim), reduction="add")


@translates("topk")
def topk(x: Node, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> list[Node]:
    return list(blocks.topk(x, k, axis_of(x, dim), largest))


@translates("sort.default", "sort.stable")
def sort(x: Node, dim: int = -1, descending: bool = False, stable: bool = True) -> list[Node]:
    axis = axis_of(x, dim)
    return list(blocks.topk(x, x.type.dims[axis], axis, descending))


@translates("one_hot")
def one_hot(x: Node, num_classes: int) -> Node:
    classes = apply("iota", shape=(num_classes,), axis=0, dtype="i64")
    return as_type(apply("eq", unsqueeze(x, -1), classes), i64)


@translates("tril")
def tril(x: Node, diagonal: int = 0) -> Node:
    return blocks.triangle(x, diagonal, upper=False)


@translates("triu")
def triu(x: Node, diagonal: int = 0) -> Node:
    return blocks.triangle(x, diagonal, upper=True)


# ── from nothing ──


@translates("arange.default")
def arange(end: Any, dtype: Any = None, **_: Any) -> Node:
    return arange_start(0, end, 1, dtype)


@translates("arange.start", "arange.start_step")
def arange_start(start: Any, end: Any, step: Any = 1, dtype: Any = None, **_: Any) -> Node:
    check_room(8 * max(0, math.ceil((end - start) / step)), f"a range from {start} to {end}")
    numbers = np.arange(start, end, step)
    kind = element_type(dtype) if dtype else f32 if numbers.dtype.kind == "f" else i64
    if (start, step) == (0, 1):
        return apply("iota", shape=(len(numbers),), axis=0, dtype=kind.name)
    return b.const(numbers, kind)


@translates("full")
def full(size: Sequence[int], fill_value: Any, dtype: Any = None, **_: Any) -> Node:
    kind = element_type(dtype) if dtype else promote(fill_value)
    return b.expand(as_type(fill_value, kind), size)


@translates("full_like")
def full_like(x: Node, fill_value: Any, dtype: Any = None, **_: Any) -> Node:
    kind = element_type(dtype) if dtype else x.type.dtype
    return b.expand(as_type(fill_value, kind), x.type.shape)


@translates("new_full")
def new_full(x: Node, size: Sequence[int], fill_value: Any, dtype: Any = None, **_: Any) -> Node:
    kind = element_type(dtype) if dtype else x.type.dtype
    return b.expand(as_type(fill_value, kind), size)


def _register_fills() -> None:
    for name, value in (("zeros", 0), ("ones", 1)):
        translates(name)(
            lambda size, dtype=None, v=value, **_: b.expand(
                as_type(v, element_type(dtype) if dtype else f32), size
            )
        )
        translates(f"{name}_like")(lambda x, v=value, **kw: full_like(x, v, kw.get("dtype")))
        translates(f"new_{name}")(
            lambda x, size, v=value, **kw: new_full(x, size, v, kw.get("dtype"))
        )


_register_fills()


@translates("copy")
def copy(x: Node, src: Node, non_blocking: bool = False) -> Node:
    """x with every element overwritten by src."""
    return b.expand(as_type(src, x.type.dtype), x.type.shape)


@translates("fill")
def fill(x: Node, value: Any) -> Node:
    return full_like(x, value)


@translates("scalar_tensor")
def scalar_tensor(value: Any, dtype: Any = None, **_: Any) -> Node:
    return full((), value, dtype)
