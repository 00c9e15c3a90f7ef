"""ATen rules for ops that move elements.

    aten.transpose.int(%x, 1, 2)           ->   transpose(%x) {perm = [0, 2, 1, 3]}
    aten.slice.Tensor(%x, 1, 0, 9223...)   ->   slice(%x) {starts = [0, 0], stops = [8, 4]}

PyTorch returns *views* that share memory with their operand; a pure graph has values only, so views
and copies are the same here. Next: `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.torch.table import together, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import i64


@translates("contiguous", "clone", "detach", "alias", "lift_fresh_copy", "positive",
            "_assert_tensor_metadata")  # fmt: skip
def identity(x: Node, *_: Any, **__: Any) -> Node:
    """Copies."""
    return x


@translates("dropout", "feature_dropout", "alpha_dropout")
def dropout(x: Node, p: float, train: bool) -> Node:
    """Nothing happens outside training."""
    if train and p:
        raise ValueError(
            "this dropout drops also in eval mode, and this compiler runs inference: "
            "write F.dropout(x, p, training=self.training)"
        )
    return x


# ── shapes ──


@translates("view.default", "reshape", "_unsafe_view")
def reshape(x: Node, shape: Sequence[int]) -> Node:
    return b.reshape(x, shape)


@translates("flatten")
def flatten(x: Node, start_dim: int = 0, end_dim: int = -1) -> Node:
    first, last = axis_of(x, start_dim), axis_of(x, end_dim)
    shape = x.type.shape
    return b.reshape(x, (*shape[:first], -1, *shape[last + 1 :]))


@translates("unflatten")
def unflatten(x: Node, dim: int, sizes: Sequence[int]) -> Node:
    axis, shape = axis_of(x, dim), x.type.shape
    return b.reshape(x, (*shape[:axis], *sizes, *shape[axis + 1 :]))


@translates("unsqueeze")
def unsqueeze(x: Node, dim: int) -> Node:
    axis = normal_axis(dim, x.type.rank + 1, "unsqueeze")
    return b.reshape(x, (*x.type.shape[:axis], 1, *x.type.shape[axis:]))


@translates("squeeze")
def squeeze(x: Node, dim: Any = None) -> Node:
    dims = range(x.type.rank) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {axis_of(x, d) for d in dims}
    kept = [n for a, n in enumerate(x.type.shape) if not (a in gone and n == 1)]
    return b.reshape(x, kept)


@translates("permute")
def permute(x: Node, dims: Sequence[int]) -> Node:
    return b.transpose(x, [axis_of(x, d) for d in dims])


@translates("transpose.int", "swapaxes", "swapdims")
def transpose(x: Node, dim0: int, dim1: int) -> Node:
    perm = list(range(x.type.rank))
    if perm:
        first, second = axis_of(x, dim0), axis_of(x, dim1)
        perm[first], perm[second] = second, first
    return b.transpose(x, perm)


@translates("t", "numpy_T", "mT")
def t(x: Node) -> Node:
    return transpose(x, -2, -1) if x.type.rank > 1 else x


@translates("movedim.int")
def movedim(x: Node, source: int, destination: int) -> Node:
    perm = [a for a in range(x.type.rank) if a != axis_of(x, source)]
    perm.insert(axis_of(x, destination), axis_of(x, source))
    return b.transpose(x, perm)


@translates("expand", "broadcast_to")
def expand(x: Node, size: Sequence[int], implicit: bool = False) -> Node:
    old = [1] * (len(size) - x.type.rank) + list(x.type.shape)
    return b.expand(x, [o if n == -1 else n for o, n in zip(old, size, strict=True)])


@translates("expand_as", "view_as", "reshape_as")
def expand_as(x: Node, other: Node) -> Node:
    if x.type.shape == other.type.shape:
        return x
    same_size = x.type.numel == other.type.numel
    return (b.reshape if same_size else b.expand)(x, other.type.shape)


@translates("repeat", "tile")
def repeat(x: Node, repeats: Sequence[int]) -> Node:
    return blocks.tile(x, repeats)


def axis_of(x: Node, dim: int) -> int:
    return normal_axis(dim, x.type.rank, "dim")


# ── parts and joins ──


@translates("slice.Tensor")
def slice(x: Node, dim: int = 0, start: int | None = None, end: int | None = None,
          step: int = 1) -> Node:  # fmt: skip
    return blocks.cut(x, axis_of(x, dim), start, end, step)


@translates("narrow")
def narrow(x: Node, dim: int, start: int, length: int) -> Node:
    return blocks.cut(x, axis_of(x, dim), start, start + length)


@translates("select.int")
def select(x: Node, dim: int, index: int) -> Node:
    axis = axis_of(x, dim)
    index = index + x.type.dims[axis] if index < 0 else index
    return squeeze(blocks.cut(x, axis, index, index + 1), axis)


@translates("split.Tensor", "split.sizes", "split_with_sizes", "unsafe_split.Tensor")
def split(x: Node, split_size: Any, dim: int = 0) -> list[Node]:
    axis = axis_of(x, dim)
    return blocks.split(x, axis, split_sizes(x.type.dims[axis], split_size))


def split_sizes(total: int, size: Any) -> list[int]:
    if not isinstance(size, int):
        return list(size)
    return [min(size, total - at) for at in range(0, total, size)] or [0]


@translates("chunk")
def chunk(x: Node, chunks: int, dim: int = 0) -> list[Node]:
    return split(x, max(-(-x.type.dims[axis_of(x, dim)] // chunks), 1), dim)


@translates("unbind")
def unbind(x: Node, dim: int = 0) -> list[Node]:
    return [select(x, dim, i) for i in range(x.type.dims[axis_of(x, dim)])]


@translates("cat", "concat")
def cat(tensors: Sequence[Node], dim: int = 0) -> Node:
    full = [x for x in tensors if x.type.shape != (0,)] or list(tensors[:1])
    return b.concat(together(*full), axis_of(full[0], dim))


@translates("stack")
def stack(tensors: Sequence[Node], dim: int = 0) -> Node:
    axis = normal_axis(dim, tensors[0].type.rank + 1, "stack")
    return b.concat([unsqueeze(x, axis) for x in tensors], axis)


@translates("flip")
def flip(x: Node, dims: Sequence[int]) -> Node:
    return blocks.flip(x, [axis_of(x, d) for d in dims])


@translates("roll")
def roll(x: Node, shifts: Any, dims: Any = ()) -> Node:
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        return b.reshape(roll(b.reshape(x, (-1,)), shifts, [0]), x.type.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        axis = axis_of(x, dim)
        size = x.type.dims[axis]
        back = -shift % size if size else 0
        if back:
            x = b.concat([blocks.cut(x, axis, back), blocks.cut(x, axis, 0, back)], axis)
    return x


@translates("constant_pad_nd")
def constant_pad_nd(x: Node, pad: Sequence[int], value: Any = 0) -> Node:
    return blocks.pad(x, *pad_widths(x, pad), value=value)


@translates("pad")
def pad(x: Node, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Node:
    return blocks.pad(x, *pad_widths(x, pad), mode=mode, value=value or 0)


@translates("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(x: Node, padding: Sequence[int]) -> Node:
    return blocks.pad(x, *pad_widths(x, padding), mode="reflect")


@translates("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(x: Node, padding: Sequence[int]) -> Node:
    return blocks.pad(x, *pad_widths(x, padding), mode="edge")


def pad_widths(x: Node, pad: Sequence[int]) -> tuple[list[int], list[int]]:
    """PyTorch lists (low, high) from the last axis backwards."""
    low, high = [0] * x.type.rank, [0] * x.type.rank
    for k in range(len(pad) // 2):
        low[-1 - k], high[-1 - k] = pad[2 * k], pad[2 * k + 1]
    return low, high


@translates("slice_scatter")
def slice_scatter(x: Node, src: Node, dim: int = 0, start: int | None = None,
                  end: int | None = None, step: int = 1) -> Node:  # fmt: skip
    axis = axis_of(x, dim)
    where = range(x.type.dims[axis])[start:end:step]
    if step != 1:
        indices = np.broadcast_to(
            np.array(where).reshape([-1] + [1] * (x.type.rank - axis - 1)), src.type.dims
        )
        return apply("scatter_elements", x, b.const(indices, i64), src, axis=axis)
    parts = [blocks.cut(x, axis, 0, where.start), src, blocks.cut(x, axis, where.stop)]
    return b.concat([p for p in parts if p.type.dims[axis]], axis)


@translates("select_scatter")
def select_scatter(x: Node, src: Node, dim: int, index: int) -> Node:
    axis = axis_of(x, dim)
    index = index + x.type.dims[axis] if index < 0 else index
    return slice_scatter(x, unsqueeze(src, axis), axis, index, index + 1)
