"""What torch.compile gives a backend for inference in other words than ours: said in ours.

    aten._transformer_encoder_layer_fwd   ==>   layer_norm, linear, attention, linear, + ...
    F.interpolate(x, size)                ==>   aten.upsample_bilinear2d.vec, which has a rule

Each function here takes what the one takes that it stands for, and returns NotImplemented where it
does not know. Next: `table.py`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._C import _nn as nn  # pyright: ignore[reportAttributeAccessIssue]
from torch.nn import functional as F


def encoder_layer(x: Tensor, width: int, heads: int,
                  qkv_weight: Tensor, qkv_bias: Tensor, out_weight: Tensor, out_bias: Tensor,
                  use_gelu: bool, norm_first: bool, eps: float,
                  norm_weight_1: Tensor, norm_bias_1: Tensor,
                  norm_weight_2: Tensor, norm_bias_2: Tensor,
                  weight_1: Tensor, bias_1: Tensor, weight_2: Tensor, bias_2: Tensor,
                  mask: Tensor | None = None, mask_type: int | None = None) -> Any:  # fmt: skip
    """The whole of nn.TransformerEncoderLayer: (batch, time, width) -> (batch, time, width).

    NotImplemented with a mask: PyTorch has three kinds of it.
    """
    if mask is not None or x.is_nested:
        return NotImplemented

    def attend(x: Tensor) -> Tensor:
        shape = (*x.shape[:2], heads, width // heads)
        parts = F.linear(x, qkv_weight, qkv_bias).chunk(3, -1)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        return F.linear(y, out_weight, out_bias)

    def feed(x: Tensor) -> Tensor:
        act = F.gelu if use_gelu else F.relu
        return F.linear(act(F.linear(x, weight_1, bias_1)), weight_2, bias_2)

    def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.layer_norm(x, (width,), weight, bias, eps)

    if norm_first:
        x = x + attend(norm(x, norm_weight_1, norm_bias_1))
        return x + feed(norm(x, norm_weight_2, norm_bias_2))
    x = norm(x + attend(x), norm_weight_1, norm_bias_1)
    return norm(x + feed(x), norm_weight_2, norm_bias_2)


def instance_norm(x: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None,
                  use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Any:  # fmt: skip
    if running_mean is not None and use_input_stats:
        return NotImplemented  # it writes to them
    state = (running_mean, running_var, use_input_stats, momentum, eps, False)
    return torch.instance_norm(x, weight, bias, *state)


def adaptive_avg_pool2d(x: Tensor, output_size: Any) -> Any:
    sizes = output_size if isinstance(output_size, (list, tuple)) else [output_size] * 2
    given = zip(sizes, x.shape[-2:], strict=True)
    return nn.adaptive_avg_pool2d(x, [old if size is None else size for size, old in given])


def interpolate(x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Any:  # fmt: skip
    if x.dim() != 4 or mode not in ("nearest", "bilinear") or recompute_scale_factor or antialias:
        return NotImplemented
    size, factor = (v if v is None or isinstance(v, (list, tuple)) else [v] * 2
                    for v in (size, scale_factor))  # fmt: skip
    factor = None if factor is None else [float(f) for f in factor]
    if mode == "nearest":
        return nn.upsample_nearest2d(x, size, factor)
    return nn.upsample_bilinear2d(x, size, bool(align_corners), factor)


SPELLED: dict[Any, Any] = {
    torch._transformer_encoder_layer_fwd: encoder_layer,  # pyright: ignore[reportPrivateImportUsage]
    F.instance_norm: instance_norm,
    F.adaptive_avg_pool2d: adaptive_avg_pool2d,
    F.interpolate: interpolate,
}
