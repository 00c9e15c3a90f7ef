"""ATen rules for neural network layers.

    aten.linear(%x, %weight, %bias)   ->   %0 = transpose(%weight) {perm = [1, 0]}
                                           %1 = matmul(%x, %0)
                                           %2 = add(%1, %bias)

The transpose of a constant disappears when constants are folded (`passes/clean/fold.py`).
Next: `recurrent.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.frontend import blocks, images
from course_lib.frontend.torch.rules.movement import reshape, squeeze, transpose, unsqueeze
from course_lib.frontend.torch.table import translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply

# ── products ──


@translates("linear")
def linear(x: Node, weight: Node, bias: Node | None = None) -> Node:
    y = matmul(x, transpose(weight, 0, 1))
    return y if bias is None else b.add(y, bias)


@translates("matmul", "mm", "bmm", "mv", "dot")
def matmul(x: Node, other: Node) -> Node:
    return blocks.matmul(x, other)


@translates("addmm", "baddbmm")
def addmm(bias: Node, x: Node, other: Node, beta: float = 1, alpha: float = 1) -> Node:
    y = b.matmul(x, other)
    y = y if alpha == 1 else b.mul(y, float(alpha))
    if beta == 0:
        return y
    return b.add(y, bias if beta == 1 else b.mul(bias, float(beta)))


@translates("scaled_dot_product_attention")
def attention(query: Node, key: Node, value: Node, attn_mask: Node | None = None,
              dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
              enable_gqa: bool = False) -> Node:  # fmt: skip
    if dropout_p:
        raise ValueError("attention with dropout is for training; this compiler runs inference")
    if enable_gqa:
        key, value = (blocks.repeat_heads(x, query.type.dims[-3]) for x in (key, value))
    return blocks.attention(query, key, value, attn_mask, is_causal, scale)


@translates("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(query: Node, key: Node, value: Node, dropout_p: float = 0.0,
                    is_causal: bool = False, attn_mask: Node | None = None,
                    scale: float | None = None) -> list[Node | None]:  # fmt: skip
    return [attention(query, key, value, attn_mask, dropout_p, is_causal, scale), None]


# ── convolution ──


def per_axis(value: Any, rank: int) -> list[int]:
    """PyTorch writes one number where all axes agree."""
    numbers = [value] if isinstance(value, int) else list(value)
    return numbers * rank if len(numbers) == 1 else numbers


@translates("conv1d", "conv2d", "conv3d")
def conv(x: Node, weight: Node, bias: Node | None = None, stride: Any = 1, padding: Any = 0,
         dilation: Any = 1, groups: int = 1) -> Node:  # fmt: skip
    rank = weight.type.rank - 2
    unbatched = x.type.rank == rank + 1
    x = unsqueeze(x, 0) if unbatched else x
    dilations = per_axis(dilation, rank)
    if isinstance(padding, str):
        low, high = _named_padding(padding, weight.type.dims[2:], dilations)
    else:
        low = high = per_axis(padding, rank)
    y = b.conv(x, weight, strides=per_axis(stride, rank), pads=[*low, *high],
               dilations=dilations, groups=groups)  # fmt: skip
    y = y if bias is None else b.add(y, blocks.channels(bias, rank))
    return squeeze(y, 0) if unbatched else y


def _named_padding(name: str, kernel: Sequence[int], dilations: Sequence[int]) -> Any:
    total = [d * (k - 1) if name == "same" else 0 for k, d in zip(kernel, dilations, strict=True)]
    return [t // 2 for t in total], [t - t // 2 for t in total]


@translates("convolution")
def convolution(x: Node, weight: Node, bias: Node | None, stride: Any, padding: Any, dilation: Any,
                transposed: bool, output_padding: Any, groups: int) -> Node:  # fmt: skip
    if transposed:
        return conv_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(x, weight, bias, stride, padding, dilation, groups)


@translates("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(x: Node, weight: Node, bias: Node | None = None, stride: Any = 1,
                   padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                   dilation: Any = 1) -> Node:  # fmt: skip
    rank = weight.type.rank - 2
    y = apply("conv_transpose", x, weight, strides=per_axis(stride, rank),
              pads=per_axis(padding, rank) * 2, dilations=per_axis(dilation, rank),
              output_padding=per_axis(output_padding, rank), groups=groups)  # fmt: skip
    return y if bias is None else b.add(y, blocks.channels(bias, rank))


# ── normalization ──


def affine(y: Node, weight: Node | None, bias: Node | None) -> Node:
    y = y if weight is None else b.mul(y, weight)
    return y if bias is None else b.add(y, bias)


@translates("batch_norm")
def batch_norm(x: Node, weight: Node | None, bias: Node | None, running_mean: Node | None,
               running_var: Node | None, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool = False) -> Node:  # fmt: skip
    if training or running_mean is None or running_var is None:
        raise ValueError("a batch norm without running statistics depends on the whole batch; "
                         "this compiler runs inference")  # fmt: skip
    c = x.type.dims[1]
    weight = b.expand(b.const(1.0, x.type.dtype), (c,)) if weight is None else weight
    bias = b.expand(b.const(0.0, x.type.dtype), (c,)) if bias is None else bias
    return apply("batch_norm", x, weight, bias, running_mean, running_var, eps=eps)


@translates("_native_batch_norm_legit_no_training")
def native_batch_norm(x: Node, weight: Node | None, bias: Node | None, running_mean: Node,
                      running_var: Node, momentum: float,
                      eps: float) -> list[Node | None]:  # fmt: skip
    y = batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)
    return [y, None, None]


@translates("layer_norm")
def layer_norm(x: Node, normalized_shape: Sequence[int], weight: Node | None = None,
               bias: Node | None = None, eps: float = 1e-5,
               cudnn_enable: bool = False) -> Node:  # fmt: skip
    axis = -len(normalized_shape)
    if weight is not None and bias is not None:
        return apply("layer_norm", x, weight, bias, axis=axis, eps=eps)
    return affine(apply("layer_norm", x, axis=axis, eps=eps), weight, bias)


@translates("native_layer_norm")
def native_layer_norm(x: Node, normalized_shape: Sequence[int], weight: Node | None,
                      bias: Node | None, eps: float) -> list[Node | None]:  # fmt: skip
    return [layer_norm(x, normalized_shape, weight, bias, eps), None, None]


@translates("group_norm")
def group_norm(x: Node, num_groups: int, weight: Node | None = None, bias: Node | None = None,
               eps: float = 1e-5, cudnn_enabled: bool = False) -> Node:  # fmt: skip
    return blocks.group_norm(x, num_groups, weight, bias, eps)


@translates("native_group_norm")
def native_group_norm(x: Node, weight: Node | None, bias: Node | None, n: int, c: int, hw: int,
                      group: int, eps: float) -> list[Node | None]:  # fmt: skip
    return [blocks.group_norm(x, group, weight, bias, eps), None, None]


@translates("instance_norm")
def instance_norm(x: Node, weight: Node | None, bias: Node | None, running_mean: Node | None,
                  running_var: Node | None, use_input_stats: bool, momentum: float, eps: float,
                  cudnn_enabled: bool = False) -> Node:  # fmt: skip
    if not use_input_stats:
        return batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)
    return blocks.group_norm(x, x.type.dims[1], weight, bias, eps)


@translates("rms_norm")
def rms_norm(x: Node, normalized_shape: Sequence[int], weight: Node | None = None,
             eps: float | None = None) -> Node:  # fmt: skip
    eps = float(np.finfo(x.type.dtype.numpy).eps) if eps is None else eps
    return blocks.rms_norm(x, tuple(range(-len(normalized_shape), 0)), weight, eps)


# ── pooling ──


def _pooling(x: Node, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, op: Any):
    """Bring PyTorch's short forms to one list entry per axis; allow a missing batch axis."""
    rank = 1 if isinstance(kernel, int) else len(kernel)
    rank = max(rank, x.type.rank - 2 if x.type.rank > 3 else 1)
    unbatched = x.type.rank == rank + 1
    x = unsqueeze(x, 0) if unbatched else x
    kernel = per_axis(kernel, rank)
    strides = per_axis(stride, rank) if stride not in (None, []) else kernel
    y = op(x, kernel, strides, per_axis(padding, rank) * 2, per_axis(dilation, rank), ceil)
    return squeeze(y, 0) if unbatched else y


@translates("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(x: Node, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Node:  # fmt: skip
    return _pooling(x, kernel_size, stride, padding, dilation, ceil_mode, images.max_pool)


@translates("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool_with_indices(*args: Any, **kwargs: Any) -> list[Node | None]:
    return [max_pool(*args, **kwargs), None]


@translates("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(x: Node, kernel_size: Any, stride: Any = None, padding: Any = 0,
             ceil_mode: bool = False, count_include_pad: bool = True,
             divisor_override: int | None = None) -> Node:  # fmt: skip
    def average(*window: Any) -> Node:
        return images.avg_pool(*window, count_include_pad=count_include_pad)

    if divisor_override:
        raise ValueError("a divisor_override is not supported; leave it out and scale the result")
    return _pooling(x, kernel_size, stride, padding, 1, ceil_mode, average)


@translates("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d",
            "adaptive_avg_pool3d", "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(x: Node, output_size: Sequence[int]) -> Node:
    """The mean of each cell of an even grid; cells overlap where sizes do not divide."""
    old = x.type.dims[-len(output_size) :]
    sizes = [n if o is None else o for n, o in zip(old, output_size, strict=True)]
    if all(size == 1 for size in sizes):
        return b.mean(x, tuple(range(-len(sizes), 0)), keepdims=True)
    return images.adaptive_average(x, sizes)


# ── images ──


@translates("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def upsample_nearest_vec(x: Node, output_size: Any, scale_factors: Any) -> Node:
    return images.resize(x, *_target(x, output_size, scale_factors), mode="nearest")


@translates("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def upsample_nearest(x: Node, output_size: Any, *scales: float | None) -> Node:
    return images.resize(x, *_target(x, output_size, scales), mode="nearest")


@translates("upsample_bilinear2d.vec", "upsample_linear1d.vec", "upsample_trilinear3d.vec")
def upsample_linear_vec(x: Node, output_size: Any, align_corners: bool, scale_factors: Any) -> Node:
    sizes, scales = _target(x, output_size, scale_factors)
    if align_corners:  # the corners decide, not the scale that the user gave
        scales = [m / n for m, n in zip(sizes, x.type.dims, strict=True)]
    where = "align_corners" if align_corners else "half_pixel"
    return images.resize(x, sizes, scales, mode="linear", coordinates=where)


@translates("upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d")
def upsample_linear(x: Node, output_size: Any, align_corners: bool, *scales: float | None) -> Node:
    return upsample_linear_vec(x, output_size, align_corners, scales)


def _target(x: Node, output_size: Any, scales: Any) -> tuple[list[int], list[float]]:
    """Full lists of result sizes and of the scales that PyTorch computes coordinates with."""
    rank = x.type.rank - 2
    old = x.type.dims[2:]
    given = [s for s in scales or [] if s is not None]
    sizes = list(output_size or [int(n * s) for n, s in zip(old, given, strict=True)])
    if len(given) != rank:
        given = [m / n for m, n in zip(sizes, old, strict=True)]
    return [*x.type.dims[:2], *sizes], [1.0, 1.0, *given]


@translates("pixel_shuffle")
def pixel_shuffle(x: Node, upscale_factor: int) -> Node:
    *batch, c, h, w = x.type.dims
    r, rank = upscale_factor, len(x.type.dims) - 3
    y = reshape(x, (*batch, c // (r * r), r, r, h, w))
    order = (*range(rank), rank, rank + 3, rank + 1, rank + 4, rank + 2)
    return reshape(b.transpose(y, order), (*batch, c // (r * r), h * r, w * r))


@translates("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(x: Node, grid: Node, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Node:  # fmt: skip
    return apply("grid_sample", x, grid, mode=("linear", "nearest", "cubic")[interpolation_mode],
                 padding=("zeros", "border", "reflection")[padding_mode],
                 aligned=align_corners)  # fmt: skip
