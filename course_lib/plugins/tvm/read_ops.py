"""The ops of Relax in ours: one row for each.

    relax.nn.conv2d(x, w) with its attributes   ->   conv(x, w) {strides, pads, dilations, groups}

A row is a function of the call (for its attributes) and of our nodes for its operands. What TVM
writes with more ops than we do becomes one of ours where that means the same: above all the
rescaling of `write.py`. Next room: `patterns.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.ops.quantize import HIGH, LOW
from course_lib.ir.types import DType, i8, i32, type_of
from course_lib.plugins.tvm.write import SAME

Row = Callable[[Any, list[Any]], Any]


def read_op(call: Any, operands: list[Any], name: str) -> Any:
    """What an op of Relax gives: a node of ours, or a list of them.

    It comes from where its span says, or from `name`, its binding. ValueError if it has no row.
    """
    known = call.op.name.removeprefix("relax.")
    if known not in PLAIN and known not in READ:
        raise ValueError(f"Relax's op {known} is not read here")
    result = apply(PLAIN[known], *operands) if known in PLAIN else READ[known](call, operands)
    if not isinstance(result, Node) or result.origin:
        return result
    return replace(result, origin=_origin(call, name))


def _origin(call: Any, name: str) -> tuple[str, ...]:
    """Where `write.py` says that a node came from, which may be nowhere; else its binding."""
    origins = call.span.source_name.name.split("\n") if call.span else [name]
    return tuple(filter(None, origins))


PLAIN = {theirs: ours for ours, theirs in SAME.items() if ours != "mul_rounded"}


def _numbers(values: Any) -> list[int]:
    return [int(v) for v in values]


def _sums(call: Any) -> str | None:
    return "i32" if our_dtype(call.ty.dtype) == i32 else None


def _layout(call: Any, *expected: str) -> None:
    layouts = [getattr(call.attrs, which) for which in ("data_layout", "kernel_layout", "layout")
             if hasattr(call.attrs, which)]  # fmt: skip
    if layouts != list(expected):
        raise ValueError(f"{call.op.name}: layouts {expected} are expected, got {layouts}")


def _conv(call: Any, operands: list[Any]) -> Node:
    _layout(call, "NCHW", "OIHW")
    attrs = call.attrs
    return apply(
        "conv", *operands, strides=_numbers(attrs.strides), pads=_numbers(attrs.padding),
        dilations=_numbers(attrs.dilation), groups=int(attrs.groups), sums=_sums(call),
    )  # fmt: skip


def _pool(call: Any, operands: list[Any], op: str, **more: Any) -> Node:
    _layout(call, "NCHW")
    attrs = call.attrs
    if attrs.ceil_mode:
        raise ValueError(f"{call.op.name}: windows that are cut off (ceil_mode) are not read here")
    return apply(
        op, *operands, kernel=_numbers(attrs.pool_size), strides=_numbers(attrs.strides),
        pads=_numbers(attrs.padding), dilations=_numbers(attrs.dilation), **more,
    )  # fmt: skip


def _avg_pool(call: Any, operands: list[Any]) -> Node:
    return _pool(call, operands, "avg_pool", count_include_pad=bool(call.attrs.count_include_pad))


def _adaptive(call: Any, operands: list[Any]) -> Node:
    _layout(call, "NCHW")
    if _numbers(call.attrs.output_size) != [1, 1]:
        raise ValueError(f"{call.op.name}: one pixel is expected, got {call.attrs.output_size}")
    return apply("mean", *operands, axes=[2, 3], keepdims=True)


def _matmul(call: Any, operands: list[Any]) -> Node:
    return apply("matmul", *operands, sums=_sums(call))


def _batch_norm(call: Any, operands: list[Any]) -> list[Node | None]:
    """Its first result; the other two are for training."""
    attrs = call.attrs
    if int(attrs.axis) != 1 or not (attrs.center and attrs.scale):
        raise ValueError("nn.batch_norm: channels along axis 1, with scale and shift, are expected")
    return [apply("batch_norm", *operands, eps=float(attrs.epsilon)), None, None]


def _layer_norm(call: Any, operands: list[Any]) -> Node:
    rank, axes = operands[0].type.rank, sorted(a % operands[0].type.rank for a in call.attrs.axes)
    if axes != list(range(axes[0], rank)) or not (call.attrs.center and call.attrs.scale):
        raise ValueError("nn.layer_norm: the last axes, with scale and shift, are expected")
    return apply("layer_norm", *operands, axis=int(axes[0]) - rank, eps=float(call.attrs.epsilon))


def _over(op: str) -> Row:
    def row(call: Any, operands: list[Any]) -> Node:
        axes = call.attrs.axis
        axes = None if axes is None else _numbers(axes)
        return apply(op, *operands, axes=axes, keepdims=bool(call.attrs.keepdims))

    return row


def _reshape(call: Any, operands: list[Any]) -> Node:
    """Also squeeze, flatten, expand_dims: the result's type says what comes out."""
    return apply("reshape", operands[0], shape=_numbers(call.ty.shape))


def _expand(call: Any, operands: list[Any]) -> Node:
    shape = tuple(_numbers(call.ty.shape))
    return (
        operands[0] if operands[0].type.dims == shape else apply("expand", operands[0], shape=shape)
    )


def _transpose(call: Any, operands: list[Any]) -> Node:
    axes = call.attrs.axes
    rank = operands[0].type.rank
    return apply("transpose", operands[0], perm=_numbers(axes or range(rank - 1, -1, -1)))


def _clip(call: Any, operands: list[Any]) -> Node:
    x, low, high = operands
    return apply(
        "clamp", x, min=None if low == -math.inf else low, max=None if high == math.inf else high
    )


# ── quantization ──


def _no_zero_point(call: Any, zero: Node) -> None:
    if zero.op != "constant" or np.any(zero.value):
        raise ValueError(f"{call.op.name}: a zero point of 0 is expected")


def _quantize(call: Any, operands: list[Any]) -> Node:
    x, scale, zero = operands
    _no_zero_point(call, zero)
    rescaled = _rescaled(x) if scale.op == "constant" and _is_one(scale.value) else None
    element = our_dtype(call.attrs.out_dtype)
    if rescaled is not None and element == i8:
        return rescaled
    return apply("quantize", x, scale, axis=_axis(call, x, scale), dtype=element.name)


def _dequantize(call: Any, operands: list[Any]) -> Node:
    x, scale, zero = operands
    _no_zero_point(call, zero)
    return apply("dequantize", x, scale, axis=_axis(call, x, scale))


def _axis(call: Any, x: Node, scale: Node) -> int:
    """Along which axis the scales are; if there is one, our default."""
    return int(call.attrs.axis) % x.type.rank if scale.type.rank else 1


def _is_one(value: np.ndarray) -> bool:
    return value.ndim == 0 and float(value) == 1.0


def _rescaled(x: Node) -> Node | None:
    """The op of integers that ends in steps of 1, if `x` is made of dequantized integers."""
    low, high = LOW, HIGH
    if x.op in ("relu", "clamp"):
        given = (0, None) if x.op == "relu" else (x.attrs["min"], x.attrs["max"])
        low, high = LOW if given[0] is None else given[0], HIGH if given[1] is None else given[1]
        if not (
            float(low).is_integer() and float(high).is_integer() and LOW <= low <= high <= HIGH
        ):
            return None
        x = x.inputs[0]
    limits: dict[str, Any] = {"low": int(low), "high": int(high)}
    if x.op == "dequantize" and x.inputs[0].type.dtype == i32:
        return apply("requantize", *x.inputs, axis=x.attrs["axis"], **limits)
    halves = x.inputs if x.op == "add" else ()
    if len(halves) == 2 and all(_one_scale(half) for half in halves):
        (a, a_scale), (b, b_scale) = (half.inputs for half in halves)
        if a.type == b.type:
            return apply("add_quantized", a, b, a_scale, b_scale, **limits)
    return None


def _one_scale(node: Node) -> bool:
    if node.op != "dequantize":
        return False
    x, scale = node.inputs
    return x.type.dtype == i8 and not scale.type.rank


READ: dict[str, Row] = {
    "nn.conv2d": _conv,
    "matmul": _matmul,
    "nn.max_pool2d": lambda call, operands: _pool(call, operands, "max_pool"),
    "nn.avg_pool2d": _avg_pool,
    "nn.adaptive_avg_pool2d": _adaptive,
    "nn.batch_norm": _batch_norm,
    "nn.layer_norm": _layer_norm,
    "nn.softmax": lambda call, operands: apply("softmax", *operands, axis=int(call.attrs.axis)),
    "nn.gelu": lambda call, operands: apply("gelu", *operands),
    "nn.gelu_tanh": lambda call, operands: apply("gelu", *operands, approximate="tanh"),
    "mean": _over("mean"),
    "sum": _over("reduce_sum"),
    "max": _over("reduce_max"),
    "reshape": _reshape,
    "flatten": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "broadcast_to": _expand,
    "permute_dims": _transpose,
    "clip": _clip,
    "concat": lambda call, operands: apply("concat", *operands[0], axis=int(call.attrs.axis)),
    "astype": lambda call, operands: apply(
        "cast", *operands, dtype=our_dtype(call.attrs.dtype).name
    ),
    "zeros_like": lambda call, operands: const(np.zeros(operands[0].type.dims, np.float32)),
    "quantize": _quantize,
    "dequantize": _dequantize,
}


def our_dtype(name: Any) -> DType:
    """The element type that numpy and TVM call so."""
    return type_of(np.empty((), str(name))).dtype
