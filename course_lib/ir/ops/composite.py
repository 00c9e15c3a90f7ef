"""Rows for composites: ops that are defined by other ops.

    softmax(x) == exp(x - max(x)) / sum(exp(x - max(x)))

They stay whole while that helps (a pass can recognise a batch norm, a reader a softmax), then
`passes/prepare/decompose.py` replaces each by its definition. Their numpy meaning *is* the
definition, run by the interpreter, so that the two cannot drift apart. Next room:
`quantize.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.graph import build as b
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.ops.window import WINDOW_ATTRS, Window
from course_lib.ir.registry import Op, flops, normal_axes, normal_axis, op, register
from course_lib.ir.types import TensorType, divide, i64, product, type_of

Infer = Callable[[Sequence[TensorType], Attrs], TensorType]


def composite(floats: bool = True, infer: Infer | None = None, **attrs: Attr):
    """Make a row of a definition: its name, operands and text are those of the function.

    `attrs` are what each attribute may be; `floats` says that the first operand
    must be a float tensor. The type is that of the definition unless `infer` gives it.
    """

    def make(define: Callable[..., Node]) -> Callable[..., Node]:
        name = define.__name__

        def definition(types: Sequence[TensorType], given: Attrs) -> Graph:
            return b.trace(lambda *operands: define(*operands, **given), *types, name=name)

        def type_rule(types: Sequence[TensorType], given: Attrs) -> TensorType:
            if floats and not types[0].dtype.is_float:
                raise ValueError(f"{name} works on float tensors, got {types[0]}")
            return infer(types, given) if infer else definition(types, given).outputs[0].type

        def evaluate(arrays: Sequence[np.ndarray], given: Attrs) -> np.ndarray:
            return run(definition([type_of(a) for a in arrays], given), list(arrays))[0]

        register(
            Op(
                name=name,
                kind="composite",
                arity=_arity(define),
                doc=define.__doc__ or "",
                infer=type_rule,
                evaluate=evaluate,
                attrs=attrs,
                decompose=lambda operands, given: define(*operands, **given),
                flops=lambda out, ins, given: sum(map(flops, definition(ins, given).ops)),
            )
        )
        return define

    return make


def _arity(define: Callable[..., Node]) -> int | tuple[int, int]:
    """How many operands a definition takes, or needs at least and takes at most."""
    parameters = inspect.signature(define).parameters.values()
    operands = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    least, most = sum(p.default is p.empty for p in operands), len(operands)
    return most if least == most else (least, most)


# ── means and normalizations ──

EPS = Attr("float", 1e-5)


@composite(axes=Attr("axes", None), keepdims=Attr("bool", False))
def mean(x: Node, *, axes: Sequence[int] | None, keepdims: bool) -> Node:
    """the average along axes (None: all); NaN where there is nothing to average"""
    normal = normal_axes(axes, x.type.rank, "mean")
    count = x.type.with_shape(tuple(x.type.shape[a] for a in normal)).numel
    return b.reduce_sum(x, normal, keepdims) * (1 / count if count else math.nan)


def _shifted_exp(x: Node, axis: int) -> tuple[Node, Node, Node]:
    """exp(x - max) cannot overflow, and the shift cancels in every use of it."""
    shifted = x - b.reduce_max(x, (axis,), keepdims=True)
    e = b.exp(shifted)
    return shifted, e, b.reduce_sum(e, (axis,), keepdims=True)


@composite(axis=Attr("axis", -1))
def softmax(x: Node, *, axis: int) -> Node:
    """exp(x) / sum(exp(x)) along an axis"""
    _, e, total = _shifted_exp(x, axis)
    return e / total


@composite(axis=Attr("axis", -1))
def log_softmax(x: Node, *, axis: int) -> Node:
    """log(softmax(x))"""
    shifted, _, total = _shifted_exp(x, axis)
    return shifted - b.log(total)


def _standardize(x: Node, axes: tuple[int, ...], eps: float) -> Node:
    """(x - mean) / sqrt(var + eps) along axes."""
    centred = x - b.mean(x, axes, keepdims=True)
    variance = b.mean(centred * centred, axes, keepdims=True)
    return centred * b.rsqrt(variance + eps)


def _affine(y: Node, scale: Node | None, shift: Node | None) -> Node:
    """y * scale + shift, as far as they are given."""
    y = y if scale is None else y * scale
    return y if shift is None else y + shift


def _per_channel(v: Node | None, rank: int) -> Node | None:
    """A vector [c] as [1, c, 1, ...], so that it broadcasts over the channel axis."""
    return None if v is None else b.reshape(v, (1, v.type.shape[0], *[1] * (rank - 2)))


@composite(axis=Attr("axis", -1), eps=EPS)
def layer_norm(
    x: Node, scale: Node | None = None, shift: Node | None = None, *, axis: int, eps: float
) -> Node:
    """standardize over axis and all after it, then scale and shift"""
    first = normal_axis(axis, x.type.rank, "layer_norm")
    return _affine(_standardize(x, tuple(range(first, x.type.rank)), eps), scale, shift)


@composite(eps=EPS)
def batch_norm(x: Node, scale: Node, shift: Node, mean: Node, variance: Node, *, eps) -> Node:
    """(x - mean) / sqrt(var + eps) * scale + shift per channel (inference)"""
    rank, vectors = x.type.rank, (scale, shift, mean, variance)
    if rank < 2 or any(v.type.shape != (x.type.shape[1],) for v in vectors):
        raise ValueError(f"batch_norm: {x.type} needs four vectors of its channel count")
    factor = scale * b.rsqrt(variance + eps)
    offset = shift - mean * factor
    return _affine(x, _per_channel(factor, rank), _per_channel(offset, rank))


@composite(groups=Attr("int", least=1), eps=EPS)
def group_norm(
    x: Node, scale: Node | None = None, shift: Node | None = None, *, groups: int, eps: float
) -> Node:
    """standardize within groups of channels, then scale and shift per channel"""
    rank, shape = x.type.rank, x.type.shape
    if rank < 2 or divide(shape[1], groups) is None:
        raise ValueError(f"group_norm: {x.type} does not divide into {groups} groups")
    size = divide(product(shape[1:]), groups)  # a -1 would have no answer for an empty batch
    assert size is not None
    y = _standardize(b.reshape(x, (shape[0], groups, size)), (2,), eps)
    return _affine(b.reshape(y, shape), _per_channel(scale, rank), _per_channel(shift, rank))


# ── activations ──


@composite(approximate=Attr("string", "none", among=("none", "tanh")))
def gelu(x: Node, *, approximate: str) -> Node:
    """x times the normal distribution function at x"""
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return (x * 0.5) * (b.tanh(inner) + 1.0)
    return (x * 0.5) * (b.erf(x * math.sqrt(0.5)) + 1.0)


@composite(floats=False, min=Attr("number", None), max=Attr("number", None))
def clamp(x: Node, *, min: float | None, max: float | None) -> Node:
    """x limited to min .. max; None leaves a side open"""
    x = x if min is None else b.maximum(x, min)
    return x if max is None else b.minimum(x, max)


@composite(alpha=Attr("float", 1 / 6), beta=Attr("float", 0.5))
def hard_sigmoid(x: Node, *, alpha: float, beta: float) -> Node:
    """clamp(alpha * x + beta, 0, 1)"""
    return clamp(x * alpha + beta, min=0.0, max=1.0)


@composite()
def silu(x: Node) -> Node:
    """x * sigmoid(x)"""
    return x * b.sigmoid(x)


@composite()
def hard_swish(x: Node) -> Node:
    """x * hard_sigmoid(x)"""
    return x * hard_sigmoid(x, alpha=1 / 6, beta=0.5)


@composite()
def softplus(x: Node) -> Node:
    """log(1 + exp(x))"""
    return b.relu(x) + b.log(b.exp(-b.abs(x)) + 1.0)  # exp never overflows


@composite()
def softsign(x: Node) -> Node:
    """x / (1 + |x|)"""
    return x / (b.abs(x) + 1.0)


@composite()
def mish(x: Node) -> Node:
    """x * tanh(softplus(x))"""
    return x * b.tanh(softplus(x))


@composite(alpha=Attr("float", 1.0))
def elu(x: Node, *, alpha: float) -> Node:
    """x above 0, alpha * (exp(x) - 1) below"""
    below = (b.exp(b.minimum(x, 0.0)) - 1.0) * alpha
    return b.select(apply("gt", x, 0.0), x, below)


@composite(slope=Attr("float", 0.01))
def leaky_relu(x: Node, *, slope: float) -> Node:
    """x above 0, slope * x below"""
    return b.select(apply("ge", x, 0.0), x, x * slope)


# ── windows ──


@composite(kernel=Attr("ints", least=1), **WINDOW_ATTRS, count_include_pad=Attr("bool", False))
def avg_pool(x: Node, *, kernel: tuple[int, ...], count_include_pad: bool, **where: Any) -> Node:
    """the mean of each window"""
    total = apply("sum_pool", x, kernel=kernel, **where)
    window = Window.of(kernel, where, "avg_pool")
    if count_include_pad or not window.padded:
        return total * (1 / math.prod(kernel))
    image = x.type.with_shape((1, 1, *x.type.shape[2:]))
    inside = window.view(np.ones(image.dims, image.dtype.numpy), 0)
    counts = inside.sum(axis=tuple(range(-len(kernel), 0)))
    return total / const(counts.astype(image.dtype.numpy))


# ── position of an extreme ──


def _arg_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    if types[0].shape[normal_axis(attrs["axis"], types[0].rank, "argmax")] == 0:
        raise ValueError(f"no largest or smallest element along axis {attrs['axis']} of {types[0]}")
    kept = {"axes": (attrs["axis"],), "keepdims": attrs["keepdims"]}
    return TensorType(i64, op("reduce_max").infer(types, kept).shape)


_ARG = {"axis": Attr("axis", 0), "keepdims": Attr("bool", False), "last": Attr("bool", False)}


@composite(floats=False, infer=_arg_type, **_ARG)
def argmax(x: Node, **where: Any) -> Node:
    """where the largest element is"""
    return _position(x, "reduce_max", **where)


@composite(floats=False, infer=_arg_type, **_ARG)
def argmin(x: Node, **where: Any) -> Node:
    """where the smallest element is"""
    return _position(x, "reduce_min", **where)


def _position(x: Node, extreme: str, *, axis: int, keepdims: bool, last: bool) -> Node:
    """The smallest (or with `last`, largest) index whose element equals the extreme."""
    axis = normal_axis(axis, x.type.rank, extreme)
    best = apply(extreme, x, axes=(axis,), keepdims=True)
    equal = apply("eq", x, best)
    if x.type.dtype.is_float:  # NaN is the extreme of whatever holds it
        equal = apply("or", equal, apply("isnan", x))
    where = apply("iota", shape=x.type.dims, axis=axis, dtype="i64")
    hits = b.select(equal, where, -1 if last else x.type.dims[axis])
    return apply("reduce_max" if last else "reduce_min", hits, axes=(axis,), keepdims=keepdims)
