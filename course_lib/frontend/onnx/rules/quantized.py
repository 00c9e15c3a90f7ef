"""ONNX rules for quantized models: pairs of QuantizeLinear and DequantizeLinear, integer products.

    QuantizeLinear(%x, %scale, 0)          ->   quantize(%x, %scale)
    QLinearMatMul(%a, ..., %b, ..., ...)   ->   requantize(matmul(%a, %b) {sums = "i32"}, %factor)

Our ops are symmetric. A zero point that is 0 vanishes; any other is written out as arithmetic: it
is subtracted before a product and added after rounding. Next: `signal.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.onnx.rules.nn import global_average_pool, window_of
from course_lib.frontend.onnx.table import MICROSOFT, element_type, translates
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph_interp import value_of
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.order import topological_order
from course_lib.ir.ops.quantize import saturated
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import DType, f32, i8, i32, u8

BYTES = (i8, u8)


def _known(x: Node) -> Node:
    """The node as a constant, if it depends on no input."""
    if any(n.op == "input" for n in topological_order([x])):
        return x
    return x if x.op == "constant" else const(value_of(x), name=x.name)


def _zero(point: Node | None) -> Node | None:
    """A zero point, or None if all of it is 0."""
    point = None if point is None else _known(point)
    zero = point is None or (point.op == "constant" and not point.value.any())
    return None if zero else point


def _scale(scale: Node, block_size: int = 0) -> Node:
    """One scale, or a vector of them."""
    if block_size or scale.type.rank > 1:
        raise ValueError("scales for blocks are not supported, only for a tensor or along an axis")
    if scale.type.dtype != f32:
        raise ValueError(f"scales must be f32, got {scale.type}")
    return _known(b.reshape(scale, ()) if scale.type.shape == (1,) else scale)


def _along(v: Node, x: Node, axis: int) -> Node:
    """A vector with a number for each position of `axis`, or one number, beside x."""
    if v.type.rank == 0 or v.type.shape == (1,):
        return b.reshape(v, ())
    after = x.type.rank - 1 - normal_axis(axis, x.type.rank, "axis")
    return b.reshape(v, (v.type.shape[0], *[1] * after)) if after else v


# ── floats to integers and back ──


@translates("QuantizeLinear")
def quantize_linear(x: Node, scale: Node, zero: Node | None = None, *, axis: int = 1,
                    saturate: int = 1, block_size: int = 0, output_dtype: int = 0,
                    precision: int = 0) -> Node:  # fmt: skip
    kind = zero.type.dtype if zero is not None else u8
    kind = element_type(output_dtype) if output_dtype and zero is None else kind
    return _quantized(b.as_type(x, f32), _scale(scale, block_size), zero, kind, axis)


def _quantized(x: Node, scale: Node, zero: Node | None, kind: DType, axis: int) -> Node:
    point = _zero(zero)
    if point is None:
        return apply("quantize", x, scale, axis=axis if scale.type.rank else 1, dtype=kind.name)
    return _shifted(b.div(x, _along(scale, x, axis)), _along(point, x, axis))


def _shifted(x: Node, zero: Node) -> Node:
    """Rounded, then moved to the zero point, as a number of its type: saturated."""
    return saturated(b.add(apply("round", x), b.cast(zero, "f32")), zero.type.dtype.name)


@translates("DequantizeLinear")
def dequantize_linear(x: Node, scale: Node, zero: Node | None = None, *, axis: int = 1,
                      block_size: int = 0, output_dtype: int = 0) -> Node:  # fmt: skip
    scale, point = _scale(scale, block_size), _zero(zero)
    if point is None:
        return apply("dequantize", x, scale, axis=axis if scale.type.rank else 1)
    centred = b.sub(b.cast(x, "f32"), b.cast(_along(point, x, axis), "f32"))
    return apply("mul_rounded", centred, _along(scale, x, axis))


# ── products ──


def _centred(x: Node, point: Node | None, axis: int) -> Node:
    """x - zero point in i32; x itself if the zero point is 0. Weights are computed here."""
    if point is None:
        return x
    wide = b.sub(b.cast(x, "i32"), b.cast(_along(point, x, axis), "i32"))
    return _known(wide)


def _alike(x: Node, y: Node) -> tuple[Node, Node, dict[str, Any]]:
    """Operands of one type, and what to say about their sums."""
    if x.type.dtype == y.type.dtype and x.type.dtype in BYTES:
        return x, y, {"sums": "i32"}
    return _known(b.as_type(x, i32)), _known(b.as_type(y, i32)), {}


@translates("MatMulInteger")
def matmul_integer(
    x: Node, y: Node, x_zero: Node | None = None, y_zero: Node | None = None
) -> Node:
    x = _centred(x, _zero(x_zero), -2 if x.type.rank > 1 else -1)
    x, y, sums = _alike(x, _centred(y, _zero(y_zero), -1))
    if x.type.rank < 2 or y.type.rank < 2:
        return blocks.matmul(b.as_type(x, i32), b.as_type(y, i32))
    return apply("matmul", x, y, **sums)


@translates("ConvInteger")
def conv_integer(x: Node, w: Node, x_zero: Node | None = None, w_zero: Node | None = None, *,
                 auto_pad: str = "NOTSET", dilations: Any = None, group: int = 1,
                 kernel_shape: Any = None, pads: Any = None,
                 strides: Any = None) -> Node:  # fmt: skip
    strides, pads, dilations = window_of(x, w.type.dims[2:], auto_pad, strides, pads, dilations)
    x, w, sums = _alike(_centred(x, _zero(x_zero), 1), _centred(w, _zero(w_zero), 0))
    return apply("conv", x, w, strides=strides, pads=pads, dilations=dilations, groups=group,
                 **sums)  # fmt: skip


@translates("QLinearMatMul")
def qlinear_matmul(x: Node, x_scale: Node, x_zero: Node, y: Node, y_scale: Node, y_zero: Node,
                   scale: Node, zero: Node) -> Node:  # fmt: skip
    rows = x_scale.type.rank == 1 and x_scale.type.shape != (1,)
    if rows:
        raise ValueError("a scale for each row of the first operand is not supported")
    total = matmul_integer(x, y, x_zero, y_zero)
    return _rescaled(total, (x_scale, y_scale, scale), zero, -1)


@translates("QLinearConv")
def qlinear_conv(x: Node, x_scale: Node, x_zero: Node, w: Node, w_scale: Node, w_zero: Node,
                 scale: Node, zero: Node, bias: Node | None = None,
                 **window: Any) -> Node:  # fmt: skip
    total = conv_integer(x, w, x_zero, w_zero, **window)
    if bias is not None:
        total = b.add(total, _known(blocks.channels(bias, total.type.rank - 2)))
    return _rescaled(total, (x_scale, w_scale, scale), zero, 1)


def _rescaled(total: Node, scales: tuple[Node, Node, Node], zero: Node, axis: int) -> Node:
    """Sums as the result's integers: times x_scale * w_scale / y_scale, rounded, moved to zero."""
    x, w, y = map(_scale, scales)
    factor, point = _known(b.div(b.mul(x, w), y)), _zero(zero)
    if point is None and zero.type.dtype == i8:
        where = axis % total.type.rank if factor.type.rank else 1
        return apply("requantize", total, factor, axis=where)
    product = b.mul(b.cast(total, "f32"), _along(factor, total, axis))
    shift = const(np.zeros((), zero.type.dtype.numpy)) if point is None else point
    return _shifted(product, b.reshape(shift, ()))


# ── onnxruntime's own: an op of floats between pairs, which `passes/quantize/integers.py` knows ──


@translates("QLinearAdd", domain=MICROSOFT)
def qlinear_add(x: Node, x_scale: Node, x_zero: Node | None, y: Node, y_scale: Node,
                y_zero: Node | None, scale: Node, zero: Node | None = None) -> Node:  # fmt: skip
    operands = dequantize_linear(x, x_scale, x_zero), dequantize_linear(y, y_scale, y_zero)
    return quantize_linear(b.add(*operands), scale, zero)


@translates("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_mean(x: Node, x_scale: Node, x_zero: Node, scale: Node, zero: Node, *,
                 channels_last: int = 0) -> Node:  # fmt: skip
    if channels_last:
        raise ValueError("images in nhwc are not supported")
    pooled = global_average_pool(dequantize_linear(x, x_scale, x_zero))
    return quantize_linear(pooled, scale, zero)
