"""ONNX rules for neural network layers and images.

    Gemm(%a, %b, %c, transB=1)   ->   add(matmul(%a, transpose(%b)), %c)

Next: `quantized.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks, images
from course_lib.frontend.einsum import einsum
from course_lib.frontend.onnx.table import translates
from course_lib.frontend.onnx.values import numbers
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.types import f32

# ── products ──


@translates("MatMul")
def matmul(x: Node, y: Node) -> Node:
    return blocks.matmul(x, y)


@translates("Gemm")
def gemm(x: Node, y: Node, z: Node | None = None, *, alpha: float = 1.0, beta: float = 1.0,
         transA: int = 0, transB: int = 0) -> Node:  # fmt: skip
    x = b.transpose(x, (1, 0)) if transA else x
    y = b.transpose(y, (1, 0)) if transB else y
    product = b.matmul(x, y)
    product = product if alpha == 1 else b.mul(product, alpha)
    if z is None:
        return product
    return b.add(product, z if beta == 1 else b.mul(z, beta))


@translates("Einsum")
def einsum_(*xs: Node, equation: str) -> Node:
    return einsum(equation, xs)


# ── windows ──


def window_of(x: Node, kernel: Sequence[int], auto_pad: str, strides: Any, pads: Any,
              dilations: Any) -> tuple[list[int], list[int], list[int]]:  # fmt: skip
    """strides, pads, dilations with the defaults filled in and `auto_pad` worked out."""
    rank = len(kernel)
    strides, dilations = list(strides or [1] * rank), list(dilations or [1] * rank)
    if min((*strides, *dilations), default=1) < 1:
        raise ValueError(f"strides and dilations start at 1, got {strides} and {dilations}")
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        return strides, list(pads or [0] * 2 * rank), dilations
    low, high = [], []
    for size, k, s, d in zip(x.type.dims[2:], kernel, strides, dilations, strict=True):
        total = max((-(-size // s) - 1) * s + d * (k - 1) + 1 - size, 0)
        small, large = total // 2, total - total // 2
        low.append(large if auto_pad == "SAME_LOWER" else small)
        high.append(small if auto_pad == "SAME_LOWER" else large)
    return strides, low + high, dilations


@translates("Conv")
def conv(x: Node, w: Node, bias: Node | None = None, *, auto_pad: str = "NOTSET",
         dilations: Any = None, group: int = 1, kernel_shape: Any = None, pads: Any = None,
         strides: Any = None) -> Node:  # fmt: skip
    strides, pads, dilations = window_of(x, w.type.dims[2:], auto_pad, strides, pads, dilations)
    y = b.conv(x, w, strides=strides, pads=pads, dilations=dilations, groups=group)
    return y if bias is None else b.add(y, blocks.channels(bias, x.type.rank - 2))


@translates("ConvTranspose")
def conv_transpose(x: Node, w: Node, bias: Node | None = None, *, auto_pad: str = "NOTSET",
                   dilations: Any = None, group: int = 1, kernel_shape: Any = None,
                   output_padding: Any = None, output_shape: Any = None, pads: Any = None,
                   strides: Any = None) -> Node:  # fmt: skip
    rank = x.type.rank - 2
    strides, dilations = list(strides or [1] * rank), list(dilations or [1] * rank)
    extra, pads = list(output_padding or [0] * rank), list(pads or [0] * 2 * rank)
    wanted = output_shape
    if auto_pad in ("SAME_UPPER", "SAME_LOWER") and wanted is None:
        wanted = [n * s for n, s in zip(x.type.dims[2:], strides, strict=True)]
    if wanted is not None:
        for a, (n, k) in enumerate(zip(x.type.dims[2:], w.type.dims[2:], strict=True)):
            total = strides[a] * (n - 1) + extra[a] + dilations[a] * (k - 1) + 1 - wanted[a]
            if total < 0:
                extra[a], total = extra[a] - total, 0
            small, large = total // 2, total - total // 2
            lower = auto_pad != "SAME_UPPER"  # also where only the size is given
            pads[a], pads[a + rank] = (large, small) if lower else (small, large)
    y = apply("conv_transpose", x, w, strides=strides, pads=pads, dilations=dilations,
              output_padding=extra, groups=group)  # fmt: skip
    return y if bias is None else b.add(y, blocks.channels(bias, rank))


@translates("MaxPool")
def max_pool(x: Node, *, kernel_shape: Sequence[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
             dilations: Any = None, pads: Any = None, storage_order: int = 0,
             strides: Any = None) -> list[Node | None]:  # fmt: skip
    window = window_of(x, kernel_shape, auto_pad, strides, pads, dilations)
    return [images.max_pool(x, kernel_shape, *window, bool(ceil_mode)), None]


@translates("AveragePool")
def average_pool(x: Node, *, kernel_shape: Sequence[int], auto_pad: str = "NOTSET",
                 ceil_mode: int = 0, count_include_pad: int = 0, dilations: Any = None,
                 pads: Any = None, strides: Any = None) -> Node:  # fmt: skip
    window = window_of(x, kernel_shape, auto_pad, strides, pads, dilations)
    return images.avg_pool(x, kernel_shape, *window, bool(ceil_mode), bool(count_include_pad))


@translates("LpPool")
def lp_pool(x: Node, *, kernel_shape: Sequence[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
            dilations: Any = None, p: int = 2, pads: Any = None,
            strides: Any = None) -> Node:  # fmt: skip
    """(sum of |x|^p)^(1/p) in each window."""
    if p < 1:
        raise ValueError(f"p starts at 1, got {p}")
    strides, pads, dilations = window_of(x, kernel_shape, auto_pad, strides, pads, dilations)
    rank = len(kernel_shape)
    extra = [0] * rank
    if ceil_mode:
        extra = images.beyond(x, kernel_shape, strides, pads, dilations)
    pads = [*pads[:rank], *(q + e for q, e in zip(pads[rank:], extra, strict=True))]
    total = apply("sum_pool", b.pow(b.abs(x), float(p)), kernel=kernel_shape, strides=strides,
                  pads=pads, dilations=dilations)  # fmt: skip
    return b.pow(total, 1 / p)


@translates("GlobalAveragePool")
def global_average_pool(x: Node) -> Node:
    return b.mean(x, tuple(range(2, x.type.rank)), keepdims=True)


@translates("GlobalMaxPool")
def global_max_pool(x: Node) -> Node:
    if math.prod(x.type.dims[2:]) == 0:
        raise ValueError(f"{x.type} has no pixels, so no largest one")
    return b.reduce_max(x, tuple(range(2, x.type.rank)), keepdims=True)


# ── normalization ──


@translates("BatchNormalization")
def batch_norm(x: Node, scale: Node, bias: Node, mean: Node, variance: Node, *,
               epsilon: float = 1e-5, momentum: float = 0.9, training_mode: int = 0,
               outputs: int = 1) -> Node:  # fmt: skip
    """The one of inference. With `training_mode` the statistics are those of the batch, however
    many outputs are read."""
    if training_mode and outputs > 1:
        raise ValueError("a batch norm in training mode; this compiler runs inference")
    if training_mode:
        raise ValueError("training_mode = 1 takes the statistics of the batch; export in eval mode")
    vectors = [as_type(v, x.type.dtype) for v in (scale, bias, mean, variance)]
    return apply("batch_norm", x, *vectors, eps=epsilon)


@translates("InstanceNormalization")
def instance_norm(x: Node, scale: Node, bias: Node, *, epsilon: float = 1e-5) -> Node:
    return apply("group_norm", x, scale, bias, groups=x.type.dims[1], eps=epsilon)


@translates("GroupNormalization")
def group_norm(x: Node, scale: Node, bias: Node, *, num_groups: int, epsilon: float = 1e-5,
               stash_type: int = 1, opset: int = 21) -> Node:  # fmt: skip
    """Before opset 21 there was one scale for each group, not for each channel."""
    if opset < 21:
        each = x.type.dims[1] // num_groups
        scale, bias = (
            b.reshape(b.expand(b.reshape(v, (-1, 1)), (num_groups, each)), (-1,))
            for v in (scale, bias)
        )
    return apply("group_norm", x, scale, bias, groups=num_groups, eps=epsilon)


@translates("LayerNormalization")
def layer_norm(x: Node, scale: Node, bias: Node | None = None, *, axis: int = -1,
               epsilon: float = 1e-5, stash_type: int = 1,
               outputs: int = 1) -> list[Node]:  # fmt: skip
    affine = [scale] if bias is None else [scale, bias]
    y = apply("layer_norm", x, *affine, axis=axis, eps=epsilon)
    axes = tuple(range(axis % x.type.rank, x.type.rank))
    if outputs == 1:
        return [y]
    wide = as_type(x, f32)
    mean = b.mean(wide, axes, keepdims=True)
    deviation = blocks.variance(wide, axes, True, 0)
    return [y, mean, b.rsqrt(b.add(deviation, epsilon))][:outputs]


@translates("RMSNormalization")
def rms_norm(x: Node, scale: Node, *, axis: int = -1, epsilon: float = 1e-5,
             stash_type: int = 1) -> Node:  # fmt: skip
    return blocks.rms_norm(x, tuple(range(axis % x.type.rank, x.type.rank)), scale, epsilon)


@translates("LpNormalization")
def lp_normalization(x: Node, *, axis: int = -1, p: int = 2) -> Node:
    size = b.abs(x) if p == 1 else b.mul(x, x)
    total = b.reduce_sum(size, (axis,), keepdims=True)
    norm = total if p == 1 else b.sqrt(total)
    return b.select(apply("eq", norm, 0.0), b.const(0, x.type.dtype), b.div(x, norm))


@translates("LRN")
def local_response_norm(x: Node, *, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        bias: float = 1.0) -> Node:  # fmt: skip
    """x / (bias + alpha / size * sum of squares of `size` neighbouring channels) ^ beta."""
    n, c, *spatial = x.type.dims
    squares = b.reshape(b.mul(x, x), (n, 1, c, math.prod(spatial)))
    low = (size - 1) // 2
    total = apply("sum_pool", squares, kernel=(size, 1), strides=(1, 1), dilations=(1, 1),
                  pads=(low, 0, size - 1 - low, 0))  # fmt: skip
    total = b.reshape(total, x.type.dims)
    return b.div(x, b.pow(b.add(b.mul(total, alpha / size), bias), beta))


# ── images ──


@translates("Resize")
def resize(x: Node, roi: Node | None = None, scales: Node | None = None, sizes: Node | None = None,
           *, antialias: int = 0, axes: Any = None, cubic_coeff_a: float = -0.75,
           coordinate_transformation_mode: str = "half_pixel", exclude_outside: int = 0,
           extrapolation_value: float = 0.0, keep_aspect_ratio_policy: str = "stretch",
           mode: str = "nearest", nearest_mode: str = "round_prefer_floor") -> Node:  # fmt: skip
    rank = x.type.rank
    where = list(range(rank)) if axes is None else [a % rank for a in axes]
    factor, target, regions = [1.0] * rank, list(x.type.dims), [(0.0, 1.0)] * rank
    given = numbers(scales, "the scales") if scales is not None else np.zeros(0)
    wanted = numbers(sizes, "the sizes") if sizes is not None else np.zeros(0, int)
    if not all(0 < scale < math.inf for scale in given.tolist()):
        raise ValueError(f"the scales are numbers above 0, got {given.tolist()}")
    policy = {"not_larger": min, "not_smaller": max}.get(keep_aspect_ratio_policy)
    for k, axis in enumerate(where):
        old = x.type.dims[axis]
        factor[axis] = float(given[k]) if given.size else wanted[k] / old
        target[axis] = int(wanted[k]) if wanted.size else math.floor(old * float(given[k]))
    if policy and wanted.size:
        common = policy(factor[axis] for axis in where)
        for axis in where:
            factor[axis] = common
            target[axis] = math.floor(common * x.type.dims[axis] + 0.5)
    if coordinate_transformation_mode == "tf_crop_and_resize":
        box = numbers(roi, "the region").tolist()
        for k, axis in enumerate(where):
            regions[axis] = (box[k], box[k + len(where)])
    return images.resize(
        x, target, factor, mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a,
        bool(exclude_outside), bool(antialias), regions, extrapolation_value,
    )  # fmt: skip


@translates("Upsample")
def upsample(x: Node, scales: Node, *, mode: str = "nearest") -> Node:
    return resize(x, None, scales, mode=mode, coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")  # fmt: skip


@translates("GridSample")
def grid_sample(x: Node, grid: Node, *, mode: str = "linear", padding_mode: str = "zeros",
                align_corners: int = 0) -> Node:  # fmt: skip
    """Until opset 19 the modes had the names that they have for images of two axes."""
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return apply("grid_sample", x, grid, mode=mode, padding=padding_mode,
                 aligned=bool(align_corners))  # fmt: skip
