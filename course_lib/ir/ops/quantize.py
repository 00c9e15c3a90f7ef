"""Rows for quantization: real numbers as 8-bit integers times a scale, and integers rescaled.

    %0 = quantize(%x, %s) : i8[4]          // x: f32[4], s: f32[] = 0.5;  [0.6, -3.0, 99.0, 0.25]
    ==>  saturate_i8(round_half_even(x / s))                     gives    [  1,   -6,  127,    0]
    %1 = dequantize(%0, %s) : f32[4]                                      [0.5, -3.0, 63.5,  0.0]

It is symmetric: 0 stays 0, there are no zero points. NaN becomes the least number, here as in
onnxruntime on x86-64. A scale is one number, or a vector f32[c] with one for each position of
`axis`. What an accelerator computes is a sum of products of i8 in i32 (`sums` of `contraction.py`),
then

    %2 = requantize(%sum, %s) {low = 0} : i8[4]     // low = 0: a ReLU; high: where ReLU6 ends

All are defined by other ops, f32 arithmetic one rounding at a time, so that every target gives the
same bits. After Jacob et al. 2018 (without zero points); Gemmini scales its accumulators by a float
in the same way, and so does ONNX's QLinearConv. Next room: `conv_transpose.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.graph import build as b
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.composite import composite
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import DType, TensorType, dtype, f32, i8

LOW, HIGH = -128, 127  # the numbers of i8
BOUNDS = {"low": Attr("int", LOW, least=LOW), "high": Attr("int", HIGH, least=LOW)}


def _check_scale(scale: TensorType, x: TensorType, axis: int, what: str) -> None:
    if scale.dtype != f32 or scale.rank > 1:
        raise ValueError(f"{what}: a scale is f32[] or a vector f32[c], got {scale}")
    if scale.rank and scale.shape[0] != x.shape[normal_axis(axis, x.rank, what)]:
        raise ValueError(
            f"{what}: {scale} must have one scale for each position along axis {axis} of {x}"
        )


def _infer(
    what: str, takes: tuple[str, ...], gives: DType, types: Sequence[TensorType], attrs: Attrs
) -> TensorType:
    """Of an op that takes x and its scale: x in another element type."""
    x, scale = types
    if x.dtype.name not in takes:
        raise ValueError(f"{what} takes a tensor of {' or '.join(takes)}, got {x}")
    _check_scale(scale, x, attrs["axis"], what)
    _check_bounds(attrs, what)
    element = dtype(attrs.get("dtype", gives.name))
    if what == "quantize" and element.kind not in ("int", "uint"):
        raise ValueError(f"quantize makes integers, not {element}")
    return TensorType(element, x.shape)


def _check_bounds(attrs: Attrs, what: str) -> None:
    low, high = attrs.get("low", LOW), attrs.get("high", HIGH)
    if not low <= high <= HIGH:
        raise ValueError(f"{what}: low <= high <= {HIGH} expected, got {low} and {high}")


def _along(scale: Node, rank: int, axis: int) -> Node:
    """A vector of scales, so that it broadcasts along `axis`."""
    if not scale.type.rank:
        return scale
    after = rank - 1 - normal_axis(axis, rank, "scale")
    return b.reshape(scale, (scale.type.shape[0], *[1] * after)) if after else scale


WHOLE = ("i8", "u8", "i16", "u16", "i32")


@composite(
    infer=partial(_infer, "quantize", ("f32",), i8), axis=Attr("axis", 1), dtype=Attr("dtype", "i8")
)
def quantize(x: Node, scale: Node, *, axis: int, dtype: str) -> Node:
    """x / scale as whole numbers: halves to even, saturated; no zero point"""
    steps = apply("round", x / _along(scale, x.type.rank, axis))
    return saturated(steps, dtype)


@composite(floats=False, infer=partial(_infer, "dequantize", WHOLE, f32), axis=Attr("axis", 1))
def dequantize(x: Node, scale: Node, *, axis: int) -> Node:
    """the real numbers that quantized ones stand for: x * scale"""
    return apply("mul_rounded", b.cast(x, "f32"), _along(scale, x.type.rank, axis))


@composite(
    floats=False, infer=partial(_infer, "requantize", ("i32",), i8), axis=Attr("axis", 1), **BOUNDS
)
def requantize(x: Node, scale: Node, *, axis: int, low: int, high: int) -> Node:
    """sums of i32 as i8: rounded x * scale, limited to low .. high"""
    product = b.mul(b.cast(x, "f32"), _along(scale, x.type.rank, axis))
    return _limited(product, low, high)


def _sum_of_two(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    a, c, *scales = types
    if a.dtype != i8 or a != c:
        raise ValueError(f"add_quantized adds two i8 tensors of one shape, got {a} and {c}")
    if any(s != TensorType(f32, ()) for s in scales):
        raise ValueError(f"add_quantized takes two scales f32[], got {scales}")
    _check_bounds(attrs, "add_quantized")
    return a


@composite(floats=False, infer=_sum_of_two, **BOUNDS)
def add_quantized(x: Node, y: Node, x_scale: Node, y_scale: Node, *, low: int, high: int) -> Node:
    """two i8 tensors, each times its scale (rounded), added, rounded to i8, limited"""
    products = (
        apply("mul_rounded", b.cast(q, "f32"), scale) for q, scale in ((x, x_scale), (y, y_scale))
    )
    return _limited(b.add(*products), low, high)


def _limited(x: Node, low: int, high: int) -> Node:
    return saturated(b.minimum(apply("round", x), float(high)), "i8", low)


def saturated(x: Node, to: str, low: int | None = None) -> Node:
    """Whole numbers as integers of a type that they may exceed, `low` or more; NaN is the least."""
    least = float(np.iinfo(dtype(to).numpy).min if low is None else low)
    return b.cast(b.select(apply("gt", x, least), x, least), to)  # a maximum would stay NaN
