"""Rows for composites: ops that are defined by other ops.

    softmax(x) == exp(x - max(x)) / sum(exp(x - max(x)))

They stay whole while that helps (a pass can recognise a batch norm, a reader a softmax), then
`passes/prepare/decompose.py` replaces each by its definition. Their numpy meaning *is* the
definition, run by the interpreter, so that the two cannot drift apart. Next room:
`ir/graph/build.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.ops.pooling import pool_type
from course_lib.ir.ops.window import WINDOW_ATTRS, Window
from course_lib.ir.registry import REQUIRED, Attrs, Op, normal_axis, register
from course_lib.ir.types import TensorType


def _like_first(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    if not types[0].dtype.is_float:
        raise ValueError(f"works on float tensors, got {types[0]}")
    return types[0]


def _composite(name: str, doc: str, decompose, arity: int | tuple[int, int | None] = 1, **fields):
    """A row whose meaning is its decomposition."""

    def definition(types: Sequence[TensorType], attrs: Attrs):
        from course_lib.ir.graph.graph import Graph
        from course_lib.ir.graph.node import inp

        operands = [inp(f"x{k}", t) for k, t in enumerate(types)]
        return Graph.of(operands, [decompose(operands, attrs)], name)

    def infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        _like_first(types, attrs)
        return definition(types, attrs).outputs[0].type

    def evaluate(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        from course_lib.ir.graph.interp import run
        from course_lib.ir.types import type_of

        return run(definition([type_of(a) for a in arrays], attrs), list(arrays))[0]

    def flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
        from course_lib.ir.registry import flops

        return sum(flops(node) for node in definition(ins, attrs).ops)

    fields.setdefault("infer", infer)
    fields.setdefault("evaluate", evaluate)
    fields.setdefault("flops", flops)
    register(Op(name, "composite", arity, doc, decompose=decompose, **fields))


def _build():
    from course_lib.ir.graph import build

    return build


def _count(x, axes: Sequence[int]) -> int:
    """How many elements these axes span; the other sizes may be symbols."""
    return x.type.with_shape(tuple(x.type.shape[a] for a in axes)).numel


# ── means and normalizations ──


def _mean(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    from course_lib.ir.registry import normal_axes

    axes = normal_axes(attrs["axes"], x.type.rank, "mean")
    total = b.apply("reduce_sum", x, axes=axes, keepdims=attrs["keepdims"])
    return b.mul(total, 1 / max(_count(x, axes), 1))


_composite("mean", "the average along axes (None: all)", _mean,
           attrs={"axes": None, "keepdims": False})  # fmt: skip


def _shifted_exp(x, attrs: Attrs):
    """exp(x - max) cannot overflow, and the shift cancels in every use of it."""
    b, along = _build(), {"axes": (attrs["axis"],), "keepdims": True}
    shifted = b.sub(x, b.apply("reduce_max", x, **along))
    e = b.exp(shifted)
    return shifted, e, b.apply("reduce_sum", e, **along)


def _softmax(operands, attrs: Attrs):
    _, e, total = _shifted_exp(operands[0], attrs)
    return _build().div(e, total)


def _log_softmax(operands, attrs: Attrs):
    shifted, _, total = _shifted_exp(operands[0], attrs)
    return _build().sub(shifted, _build().log(total))


_composite("softmax", "exp(x) / sum(exp(x)) along an axis", _softmax, attrs={"axis": -1})
_composite("log_softmax", "log(softmax(x))", _log_softmax, attrs={"axis": -1})


def standardize(x, axes: tuple[int, ...], eps: float):
    """(x - mean) / sqrt(var + eps) along axes."""
    b = _build()
    centred = b.sub(x, b.apply("mean", x, axes=axes, keepdims=True))
    variance = b.apply("mean", b.mul(centred, centred), axes=axes, keepdims=True)
    return b.mul(centred, b.rsqrt(b.add(variance, eps)))


def _layer_norm(operands, attrs: Attrs):
    b, (x, *affine) = _build(), operands
    first = normal_axis(attrs["axis"], x.type.rank, "layer_norm")
    y = standardize(x, tuple(range(first, x.type.rank)), attrs["eps"])
    y = b.mul(y, affine[0]) if affine else y
    return b.add(y, affine[1]) if len(affine) > 1 else y


_composite("layer_norm", "standardize over axis and all after it, then scale and shift",
           _layer_norm, arity=(1, 3), attrs={"axis": -1, "eps": 1e-5})  # fmt: skip


def per_channel(v, rank: int):
    """A vector [c] as [1, c, 1, ...], so that it broadcasts over the channel axis."""
    return _build().reshape(v, (1, v.type.shape[0], *[1] * (rank - 2)))


def _batch_norm(operands, attrs: Attrs):
    b, (x, scale, shift, mean, variance) = _build(), operands
    if x.type.rank < 2 or any(v.type.shape != (x.type.shape[1],) for v in operands[1:]):
        raise ValueError(f"batch_norm: {x.type} needs four vectors of its channel count")
    factor = b.mul(scale, b.rsqrt(b.add(variance, attrs["eps"])))
    offset = b.sub(shift, b.mul(mean, factor))
    rank = x.type.rank
    return b.add(b.mul(x, per_channel(factor, rank)), per_channel(offset, rank))


_composite("batch_norm", "(x - mean) / sqrt(var + eps) * scale + shift per channel (inference)",
           _batch_norm, arity=5, attrs={"eps": 1e-5})  # fmt: skip


def _group_norm(operands, attrs: Attrs):
    b, (x, *affine) = _build(), operands
    groups, shape = attrs["groups"], x.type.shape
    if x.type.rank < 2 or shape[1] % groups:
        raise ValueError(f"group_norm: {x.type} does not divide into {groups} groups")
    y = standardize(b.reshape(x, (shape[0], groups, -1)), (2,), attrs["eps"])
    y = b.reshape(y, shape)
    y = b.mul(y, per_channel(affine[0], x.type.rank)) if affine else y
    return b.add(y, per_channel(affine[1], x.type.rank)) if len(affine) > 1 else y


_composite("group_norm", "standardize within groups of channels, then scale and shift per channel",
           _group_norm, arity=(1, 3), attrs={"groups": REQUIRED, "eps": 1e-5})  # fmt: skip


# ── activations ──


def _gelu(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    if attrs["approximate"] == "tanh":
        cube = b.mul(b.mul(x, x), x)
        inner = b.mul(b.add(x, b.mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        return b.mul(b.mul(x, 0.5), b.add(b.tanh(inner), 1.0))
    return b.mul(b.mul(x, 0.5), b.add(b.erf(b.mul(x, math.sqrt(0.5))), 1.0))


_composite("gelu", "x times the normal distribution function at x", _gelu,
           attrs={"approximate": "none"})  # fmt: skip


def _clamp(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    x = b.maximum(x, attrs["min"]) if attrs["min"] is not None else x
    return b.minimum(x, attrs["max"]) if attrs["max"] is not None else x


_composite("clamp", "x limited to min .. max; None leaves a side open", _clamp,
           attrs={"min": None, "max": None},
           infer=lambda types, attrs: types[0])  # fmt: skip


def _hard_sigmoid(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    return _clamp([b.add(b.mul(x, attrs["alpha"]), attrs["beta"])], {"min": 0.0, "max": 1.0})


_composite("hard_sigmoid", "clamp(alpha * x + beta, 0, 1)", _hard_sigmoid,
           attrs={"alpha": 1 / 6, "beta": 0.5})  # fmt: skip
_composite(
    "silu", "x * sigmoid(x)", lambda ops, attrs: _build().mul(ops[0], _build().sigmoid(ops[0]))
)
_composite("hard_swish", "x * hard_sigmoid(x)", lambda ops, attrs: _build().mul(
    ops[0], _hard_sigmoid(ops, {"alpha": 1 / 6, "beta": 0.5})))  # fmt: skip


def _softplus(operands, attrs: Attrs):
    """log(1 + exp(x)), written so that exp never overflows."""
    b, (x,) = _build(), operands
    return b.add(b.relu(x), b.log(b.add(b.exp(b.neg(b.abs(x))), 1.0)))


_composite("softplus", "log(1 + exp(x))", _softplus)


def _elu(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    below = b.mul(b.sub(b.exp(b.minimum(x, 0.0)), 1.0), attrs["alpha"])
    return b.select(b.apply("gt", x, 0.0), x, below)


_composite("elu", "x above 0, alpha * (exp(x) - 1) below", _elu, attrs={"alpha": 1.0})


def _leaky_relu(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    return b.select(b.apply("ge", x, 0.0), x, b.mul(x, attrs["slope"]))


_composite("leaky_relu", "x above 0, slope * x below", _leaky_relu, attrs={"slope": 0.01})


# ── windows ──


def _avg_pool(operands, attrs: Attrs):
    b, (x,) = _build(), operands
    window = Window.of(attrs["kernel"], attrs, "avg_pool")
    where = {k: attrs[k] for k in ("kernel", *WINDOW_ATTRS)}
    total = b.apply("sum_pool", x, **where)
    if attrs["count_include_pad"] or not window.padded:
        return b.mul(total, 1 / math.prod(window.kernel))
    inside = np.ones((1, 1, *x.type.dims[2:]), x.type.dtype.numpy)
    counts = window.view(inside, 0).sum(axis=tuple(range(-len(window.kernel), 0)))
    return b.div(total, b.const(counts.astype(x.type.dtype.numpy)))


_composite("avg_pool", "the mean of each window", _avg_pool, infer=pool_type,
           attrs={"kernel": REQUIRED, **WINDOW_ATTRS, "count_include_pad": False})  # fmt: skip


def _conv_transpose(operands, attrs: Attrs):
    """Spread the input out by the stride, then convolve with the weights turned around."""
    b, (x, w) = _build(), operands
    rank, groups = x.type.rank - 2, attrs["groups"]
    strides = tuple(attrs["strides"] or [1] * rank)
    pads = tuple(attrs["pads"] or [0] * (2 * rank))
    dilations = tuple(attrs["dilations"] or [1] * rank)
    extra = tuple(attrs["output_padding"] or [0] * rank)
    ic, per_group, *kernel = w.type.dims
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    low = [r - p for r, p in zip(reach, pads[:rank], strict=True)]
    high = [r - p + e for r, p, e in zip(reach, pads[rank:], extra, strict=True)]
    spread = b.apply("pad", x, low=(0, 0, *(max(p, 0) for p in low)),
                     high=(0, 0, *(max(p, 0) for p in high)),
                     interior=(0, 0, *(s - 1 for s in strides)))  # fmt: skip
    if min((*low, *high), default=0) < 0:
        starts = (0, 0, *(max(-p, 0) for p in low))
        cut = (0, 0, *(max(-p, 0) for p in high))
        stops = tuple(n - c for n, c in zip(spread.type.dims, cut, strict=True))
        spread = b.apply("slice", spread, starts=starts, stops=stops)
    # [ic, oc/groups, *k] -> [oc, ic/groups, *k], kernel reversed
    grouped = b.reshape(w, (groups, ic // groups, per_group, *kernel))
    swapped = b.transpose(grouped, (0, 2, 1, *range(3, 3 + rank)))
    weights = b.reshape(swapped, (groups * per_group, ic // groups, *kernel))
    size = weights.type.dims
    turned = b.apply(
        "slice",
        weights,
        starts=(0, 0, *(k - 1 for k in kernel)),
        stops=(*size[:2], *[-1] * rank),
        steps=(1, 1, *[-1] * rank),
    )
    return b.apply("conv", spread, turned, dilations=dilations, groups=groups)


_composite("conv_transpose", "the transpose of conv: w is [ic, oc/groups, ...]", _conv_transpose,
           arity=2, attrs={**WINDOW_ATTRS, "groups": 1, "output_padding": None})  # fmt: skip


# ── position of an extreme ──


def _arg(test: str):
    def decompose(operands, attrs: Attrs):
        """The smallest (or with `last`, largest) index whose element equals the extreme."""
        b, (x,) = _build(), operands
        axis = normal_axis(attrs["axis"], x.type.rank, f"arg{test}")
        size = x.type.dims[axis]
        best = b.apply(f"reduce_{test}", x, axes=(axis,), keepdims=True)
        where = b.apply("iota", shape=x.type.dims, axis=axis, dtype="i64")
        last = attrs["last"]
        found = b.apply("eq", x, best)
        if x.type.dtype.is_float:  # NaN is the extreme of whatever holds it
            found = b.apply("or", found, b.apply("isnan", x))
        hits = b.select(found, where, -1 if last else size)
        return b.apply("reduce_max" if last else "reduce_min", hits, axes=(axis,),
                       keepdims=attrs["keepdims"])  # fmt: skip

    return decompose


def _arg_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    from course_lib.ir.registry import op
    from course_lib.ir.types import i64

    if types[0].shape[normal_axis(attrs["axis"], types[0].rank, "argmax")] == 0:
        raise ValueError(f"no largest or smallest element along axis {attrs['axis']} of {types[0]}")
    kept = {"axes": (attrs["axis"],), "keepdims": attrs["keepdims"]}
    return TensorType(i64, op("reduce_max").infer(types, kept).shape)


_ARG = {"axis": 0, "keepdims": False, "last": False}
_composite("argmax", "where the largest element is", _arg("max"), infer=_arg_type, attrs=_ARG)
_composite("argmin", "where the smallest element is", _arg("min"), infer=_arg_type, attrs=_ARG)
