"""Windows that hang over the edge, and images of other sizes: what both importers need for vision.

    resize(x, [1, 3, 8, 8], mode="linear")   ->   matmul(%rows, matmul(%x, %columns))

To resize is linear: along each axis, result = M @ input, with a constant matrix M that holds the
interpolation weights. Nearest-neighbour weights are all 0 or 1, and become a gather instead.
Next: `onnx/file.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import i64
from course_lib.limits import check_room

# ── pooling ──


def max_pool(x: Node, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int],
             dilations: Sequence[int], ceil: bool = False) -> Node:  # fmt: skip
    extra = beyond(x, kernel, strides, pads, dilations) if ceil else [0] * len(kernel)
    pads = [*pads[: len(kernel)], *(p + e for p, e in zip(pads[len(kernel) :], extra, strict=True))]
    return apply("max_pool", x, kernel=kernel, strides=strides, pads=pads, dilations=dilations)


def avg_pool(x: Node, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int],
             dilations: Sequence[int], ceil: bool = False,
             count_include_pad: bool = False) -> Node:  # fmt: skip
    """The mean of each window. What `ceil` adds beyond the padding never counts."""
    rank = len(kernel)
    extra = beyond(x, kernel, strides, pads, dilations) if ceil else [0] * rank
    if count_include_pad and any(extra):
        x = apply("pad", x, low=(0, 0, *pads[:rank]), high=(0, 0, *pads[rank:]), value=0)
        pads, count_include_pad = [0] * (2 * rank), False
    pads = [*pads[:rank], *(p + e for p, e in zip(pads[rank:], extra, strict=True))]
    return apply("avg_pool", x, kernel=kernel, strides=strides, pads=pads, dilations=dilations,
                 count_include_pad=count_include_pad)  # fmt: skip


def beyond(x: Node, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int],
           dilations: Sequence[int]) -> list[int]:  # fmt: skip
    """How far the last window hangs over when sizes round up. It may not start beyond the input."""
    extra = []
    for axis, size in enumerate(x.type.dims[2:]):
        low, high = pads[axis], pads[axis + len(kernel)]
        reach = dilations[axis] * (kernel[axis] - 1) + 1
        room = size + low + high - reach
        count = math.ceil(room / strides[axis]) + 1
        if (count - 1) * strides[axis] >= size + low:
            count -= 1
        extra.append(max((count - 1) * strides[axis] - room, 0))
    return extra


def adaptive_average(x: Node, sizes: Sequence[int]) -> Node:
    """The mean of each cell of an even grid, axis by axis.

    A product with a matrix of 0 and 1/n would do for finite numbers only: an infinity times 0 is
    NaN, so that one in a cell would spoil all the others.
    """
    for axis, out in zip(range(x.type.rank - len(sizes), x.type.rank), sizes, strict=True):
        size = x.type.dims[axis]
        if size == 0:
            raise ValueError(f"{x.type} has nothing to average along axis {axis}")
        check_room(300 * out, f"a grid of {out:,} cells")
        x = _cells(x, axis, [(c * size // out, -(-(c + 1) * size // out)) for c in range(out)])
    return x


def _cells(x: Node, axis: int, cells: Sequence[tuple[int, int]]) -> Node:
    """The mean from each start to its end along one axis. Cells overlap where sizes do not divide,
    and a cell that is narrower than others reads its last element again, which does not count."""
    widths = np.array([end - start for start, end in cells], int)
    widest = int(widths.max(initial=0))
    if x.type.dims[axis] != len(cells) * widest:
        where = [min(start + k, end - 1) for start, end in cells for k in range(widest)]
        x = apply("gather", x, b.const(np.array(where, np.int64)), axis=axis)
    before, after = x.type.dims[:axis], x.type.dims[axis + 1 :]
    parts = b.reshape(x, (*before, len(cells), widest, *after))
    ones = [1] * len(after)
    counts = (np.arange(widest) < widths[:, None]).reshape(len(cells), widest, *ones)
    if not counts.all():
        parts = b.select(b.const(counts), parts, b.const(0, x.type.dtype))
    shares = (1 / widths).astype(x.type.dtype.numpy).reshape(len(cells), *ones)
    return b.mul(b.reduce_sum(parts, (axis + 1,)), b.const(shares))


def mix(x: Node, axis: int, weights: np.ndarray) -> Node:
    """weights @ x along one axis."""
    matrix = weights.astype(x.type.dtype.numpy)
    if axis == x.type.rank - 1 and x.type.rank > 1:
        return b.matmul(x, b.const(matrix.T))
    order = [a for a in range(x.type.rank) if a != axis] + [axis]
    moved = b.transpose(x, order) if order != list(range(x.type.rank)) else x
    flat = b.reshape(moved, (-1, x.type.dims[axis]))
    mixed = b.matmul(flat, b.const(matrix.T))
    apart = b.reshape(mixed, [*(x.type.dims[a] for a in order[:-1]), len(weights)])
    return b.transpose(apart, np.argsort(order).tolist())


# ── resize ──


def resize(x: Node, sizes: Sequence[int], scales: Sequence[float], mode: str = "nearest",
           coordinates: str = "asymmetric", nearest: str = "floor", cubic: float = -0.75,
           exclude_outside: bool = False, antialias: bool = False,
           regions: Sequence[tuple[float, float]] | None = None,
           outside: float = 0.0) -> Node:  # fmt: skip
    """An image of other sizes. The options are those of ONNX's Resize, under shorter names."""
    blank = [np.zeros(0, bool)] * x.type.rank
    for axis, (out, scale) in enumerate(zip(sizes, scales, strict=True)):
        size = x.type.dims[axis]
        region = regions[axis] if regions else (0.0, 1.0)
        if out == size and scale == 1 and region == (0.0, 1.0):
            continue
        check_room(8 * out, f"resize: {out} positions along axis {axis} of {x.type}")
        where = source_position(np.arange(out), size, out, scale, coordinates, region)
        if coordinates == "tf_crop_and_resize":
            blank[axis] = (where < 0) | (where > size - 1)
        if mode == "nearest":
            index = np.clip(_rounded(where, nearest), 0, size - 1)
            x = apply("gather", x, b.const(index, i64), axis=axis)
        else:
            reach = min(scale, 1.0) if antialias else 1.0
            x = mix(x, axis, _weights(where, size, mode, cubic, reach, exclude_outside))
    return _blanked(x, blank, outside)


def source_position(i: np.ndarray, size: int, out: int, scale: float, rule: str,
                    region: tuple[float, float]) -> np.ndarray:  # fmt: skip
    """Where result element i lies in the input, in units of input elements."""
    i = i.astype(np.float64)
    start, end = region
    if rule == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if rule == "half_pixel_symmetric":
        middle = size / 2 * (1 - out / (scale * size))
        return middle + (i + 0.5) / scale - 0.5
    if rule == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if out > 1 else np.zeros_like(i)
    if rule == "align_corners":  # the result's length before it was rounded
        return i * (size - 1) / (scale * size - 1) if out > 1 else np.zeros_like(i)
    if rule == "asymmetric":
        return i / scale
    if rule == "tf_crop_and_resize":
        if out == 1:
            return np.full_like(i, 0.5 * (start + end) * (size - 1))
        return start * (size - 1) + i * (end - start) * (size - 1) / (out - 1)
    raise ValueError(f"resize: the coordinate transformation {rule!r} is unknown")


def _rounded(where: np.ndarray, rule: str) -> np.ndarray:
    rules = {
        "floor": np.floor,
        "ceil": np.ceil,
        "round_prefer_floor": lambda w: np.ceil(w - 0.5),
        "round_prefer_ceil": lambda w: np.floor(w + 0.5),
    }
    if rule not in rules:
        raise ValueError(f"resize: the rounding {rule!r} is unknown")
    return rules[rule](where).astype(np.int64)


def _weights(where: np.ndarray, size: int, mode: str, cubic: float, reach: float,
             exclude_outside: bool) -> np.ndarray:  # fmt: skip
    """M[o, i]: how much input i gives to output o. Below a reach of 1 the kernel is stretched."""
    if mode not in ("linear", "cubic"):
        raise ValueError(f"resize: the mode {mode!r} is unknown")
    radius = (1 if mode == "linear" else 2) / reach
    check_room(8 * len(where) * size, f"a matrix of weights, [{len(where)}, {size}],")
    matrix = np.zeros((len(where), size))
    for o, at in enumerate(where):
        near = np.arange(math.floor(at - radius) + 1, math.ceil(at + radius))
        distance = (near - at) * reach
        weights = _tent(distance) if mode == "linear" else _keys(distance, cubic)
        if exclude_outside:
            weights = np.where((near < 0) | (near >= size), 0, weights)
        np.add.at(matrix[o], np.clip(near, 0, size - 1), weights / weights.sum())
    return matrix


def _tent(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(distance), 0)


def _keys(distance: np.ndarray, a: float) -> np.ndarray:
    """The cubic convolution kernel of Keys (1981)."""
    d = np.abs(distance)
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0))


def _blanked(x: Node, blank: Sequence[np.ndarray], value: float) -> Node:
    """`value` where any coordinate lay outside of the input."""
    for axis, mask in enumerate(blank):
        if mask.any():
            shape = [-1] + [1] * (x.type.rank - axis - 1)
            x = b.select(b.const(mask.reshape(shape)), b.const(value, x.type.dtype), x)
    return x
