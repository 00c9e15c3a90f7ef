"""ONNX rules for elementwise ops and reductions.

    ReduceL2(%x, axes=[1])   ->   sqrt(reduce_sum(mul(%x, %x), axes = [1]))

Next: `movement.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from course_lib.frontend import blocks
from course_lib.frontend.onnx.table import element_type, translates
from course_lib.frontend.onnx.values import numbers, optional_axes
from course_lib.ir.graph import build as b
from course_lib.ir.graph.build import as_type
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import bool_, f64, i64

# ── one for one: our row is named, and that is the whole rule ──

UNARY = {
    "Abs": "abs", "Neg": "neg", "Sign": "sign", "Relu": "relu", "Exp": "exp", "Log": "log",
    "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Sigmoid": "sigmoid", "Tanh": "tanh", "Erf": "erf",
    "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan",
    "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh",
    "Floor": "floor", "Ceil": "ceil", "Round": "round", "IsNaN": "isnan", "Not": "not",
    "BitwiseNot": "bit_not", "Softplus": "softplus", "HardSwish": "hard_swish",
    "Softsign": "softsign", "Mish": "mish",
}  # fmt: skip
BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Equal": "eq", "Less": "lt",
    "LessOrEqual": "le", "Greater": "gt", "GreaterOrEqual": "ge", "And": "and", "Or": "or",
    "Xor": "xor", "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor",
}  # fmt: skip
VARIADIC = {"Max": "max", "Min": "min", "Sum": "add"}

for _onnx, _ours in UNARY.items():
    translates(_onnx)(lambda x, ours=_ours: apply(ours, x))
for _onnx, _ours in BINARY.items():
    translates(_onnx)(lambda x, y, ours=_ours: apply(ours, x, y))


def _chain(ours: str) -> Callable[..., Node]:
    return lambda *xs: reduce(lambda x, y: apply(ours, x, y), xs)


for _onnx, _ours in VARIADIC.items():
    translates(_onnx)(_chain(_ours))


@translates("Mean")
def mean(*xs: Node) -> Node:
    return b.mul(reduce(b.add, xs), 1 / len(xs))


@translates("Identity")
def identity(x: Node) -> Node:
    return x


@translates("Dropout")
def dropout(x: Node, ratio: Any = None, training_mode: Any = None, *, seed: int = 0,
            outputs: int = 1) -> Any:  # fmt: skip
    """Nothing happens outside training; the mask of what is kept is all true."""
    training = training_mode is not None and numbers(training_mode, "training_mode") != 0
    if training and (ratio is None or numbers(ratio, "ratio") != 0):
        raise ValueError("dropout in training mode; this compiler runs inference")
    mask = b.expand(b.const(True, bool_), x.type.shape)
    return [x, mask][:outputs]


# ── activations and functions with parameters ──


@translates("Pow")
def power(x: Node, y: Node) -> Node:
    """The result has the base's element type; an integer with a fractional power goes via f64."""
    if y.type.dtype.is_float and not x.type.dtype.is_float:
        return as_type(b.pow(as_type(x, f64), as_type(y, f64)), x.type.dtype)
    return b.pow(x, as_type(y, x.type.dtype))


@translates("Mod")
def mod(x: Node, y: Node, *, fmod: int = 0) -> Node:
    return apply("fmod" if fmod else "mod", x, y)


@translates("BitShift")
def bit_shift(x: Node, y: Node, *, direction: str) -> Node:
    """Shifting by y is multiplying with, or dividing by, 2 to the power y.

    From width - 1 on, all that is left of a right shift is the sign; a negative shift counts as
    far too long (its bits as an unsigned number).
    """
    zero, last = b.const(0, x.type.dtype), x.type.dtype.size * 8 - 1
    far = apply("or", apply("lt", y, 0), apply("ge", y, last))
    factor = b.pow(b.const(2, x.type.dtype), b.select(far, zero, y))
    if direction == "LEFT":
        top = b.mul(x, int(np.array(1 << last, np.uint64).astype(x.type.dtype.numpy)))
        beyond = b.select(apply("eq", y, last), top, zero)
        return b.select(far, beyond, b.mul(x, factor))
    sign = b.select(apply("lt", x, 0), b.sub(zero, 1), zero)
    if x.type.dtype.kind == "uint":  # the last bit is a digit, not a sign
        half = b.const(np.array(1 << last, np.uint64), x.type.dtype)
        sign = b.select(apply("eq", y, last), b.div(x, half), zero)
    return b.select(far, sign, blocks.floor_divide(x, factor))


@translates("Clip")
def clip(x: Node, low: Node | None = None, high: Node | None = None) -> Node:
    """Constant limits become attributes; others stay operands."""
    if all(limit is None or limit.op == "constant" for limit in (low, high)):
        low, high = (None if limit is None else limit.value.item() for limit in (low, high))
        return apply("clamp", x, min=low, max=high)
    x = x if low is None else b.maximum(x, low)
    return x if high is None else b.minimum(x, high)


@translates("Where")
def where(condition: Node, x: Node, y: Node) -> Node:
    return b.select(condition, x, y)


@translates("Cast")
def cast(x: Node, *, to: int, saturate: int = 1, round_mode: str = "up") -> Node:
    return as_type(x, element_type(to))


@translates("CastLike")
def cast_like(x: Node, y: Node, *, saturate: int = 1, round_mode: str = "up") -> Node:
    return as_type(x, y.type.dtype)


@translates("IsInf")
def is_inf(x: Node, *, detect_negative: int = 1, detect_positive: int = 1) -> Node:
    if detect_negative and detect_positive:
        return apply("isinf", x)
    if not detect_negative and not detect_positive:
        return b.expand(b.const(False, bool_), x.type.shape)
    return apply("eq", x, math.inf if detect_positive else -math.inf)


@translates("PRelu")
def prelu(x: Node, slope: Node) -> Node:
    return b.select(apply("lt", x, b.const(0, x.type.dtype)), b.mul(x, slope), x)


@translates("LeakyRelu")
def leaky_relu(x: Node, *, alpha: float = 0.01) -> Node:
    return apply("leaky_relu", x, slope=alpha)


@translates("Elu")
def elu(x: Node, *, alpha: float = 1.0) -> Node:
    return apply("elu", x, alpha=alpha)


@translates("Selu")
def selu(x: Node, *, alpha: float = 1.6732632, gamma: float = 1.0507010) -> Node:
    return b.mul(apply("elu", x, alpha=alpha), gamma)


@translates("HardSigmoid")
def hard_sigmoid(x: Node, *, alpha: float = 0.2, beta: float = 0.5) -> Node:
    return apply("hard_sigmoid", x, alpha=alpha, beta=beta)


@translates("Gelu")
def gelu(x: Node, *, approximate: str = "none") -> Node:
    return apply("gelu", x, approximate=approximate)


@translates("Swish")
def swish(x: Node, *, alpha: float = 1.0) -> Node:
    return apply("silu", x) if alpha == 1 else b.mul(x, b.sigmoid(b.mul(x, alpha)))


@translates("Shrink")
def shrink(x: Node, *, bias: float = 0.0, lambd: float = 0.5) -> Node:
    low = b.select(apply("lt", x, -lambd), b.add(x, bias), b.const(0, x.type.dtype))
    return b.select(apply("gt", x, lambd), b.sub(x, bias), low)


@translates("Softmax")
def softmax(x: Node, *, axis: int = -1) -> Node:
    return apply("softmax", x, axis=axis)


@translates("LogSoftmax")
def log_softmax(x: Node, *, axis: int = -1) -> Node:
    return apply("log_softmax", x, axis=axis)


@translates("Hardmax")
def hardmax(x: Node, *, axis: int = -1) -> Node:
    """1 at the first largest element, 0 elsewhere."""
    if x.type.is_static and x.type.numel == 0:
        return x
    best = apply("argmax", x, axis=axis, keepdims=True)
    where = apply("iota", shape=x.type.dims, axis=axis, dtype="i64")
    return as_type(apply("eq", where, best), x.type.dtype)


# ── reductions ──


def _reduction(compute: Callable[[Node, list[int], bool], Node]) -> Callable[..., Node]:
    """The calling convention that all of ONNX's reductions share."""

    def rule(x: Node, axes: Any = None, *, keepdims: int = 1,
             noop_with_empty_axes: int = 0) -> Node:  # fmt: skip
        chosen = optional_axes(axes, "axes")
        if not chosen:
            chosen = [] if noop_with_empty_axes else list(range(x.type.rank))
        return compute(x, chosen, bool(keepdims))

    return rule


def _reduce_sum(x: Node, axes: list[int], keep: bool) -> Node:
    return apply("reduce_sum", x, axes=axes, keepdims=keep)


def _plain(op: str) -> Callable[[Node, list[int], bool], Node]:
    return lambda x, axes, keep: apply(op, x, axes=axes, keepdims=keep)


def _mean(x: Node, axes: list[int], keep: bool) -> Node:
    """Of nothing it is NaN, in ONNX's reference; in onnxruntime it is 0. No integer is NaN."""
    if x.type.dtype.is_float:
        return apply("mean", x, axes=axes, keepdims=keep)
    count = math.prod(x.type.dims[a] for a in axes)
    if count == 0:
        raise ValueError(f"ONNX does not say what the mean of no integers is, got {x.type}")
    return b.div(_reduce_sum(x, axes, keep), count)


for _onnx, _compute in {
    "ReduceSum": _reduce_sum,
    "ReduceMean": _mean,
    "ReduceMax": _plain("reduce_max"),
    "ReduceMin": _plain("reduce_min"),
    "ReduceProd": _plain("reduce_prod"),
    "ReduceSumSquare": lambda x, axes, keep: _reduce_sum(b.mul(x, x), axes, keep),
    "ReduceL1": lambda x, axes, keep: _reduce_sum(b.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: b.sqrt(_reduce_sum(b.mul(x, x), axes, keep)),
    "ReduceLogSum": lambda x, axes, keep: b.log(_reduce_sum(x, axes, keep)),
    "ReduceLogSumExp": blocks.log_sum_exp,
}.items():
    translates(_onnx)(_reduction(_compute))


def _arg(op: str) -> Callable[..., Node]:
    def rule(x: Node, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Node:
        x = x if x.type.dtype.is_float else as_type(x, f64)
        return apply(op, x, axis=axis, keepdims=bool(keepdims), last=bool(select_last_index))

    return rule


translates("ArgMax")(_arg("argmax"))
translates("ArgMin")(_arg("argmin"))


@translates("CumSum")
def cumsum(x: Node, axis: Node, *, exclusive: int = 0, reverse: int = 0) -> Node:
    where = int(numbers(axis, "the axis").item())
    return apply("cumsum", x, axis=where, exclusive=bool(exclusive), reverse=bool(reverse))


@translates("TopK")
def topk(x: Node, k: Node, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    count = int(numbers(k, "k").item())
    return blocks.topk(x, count, normal_axis(axis, x.type.rank, "TopK"), bool(largest))


@translates("OneHot")
def one_hot(indices: Node, depth: Node, values: Node, *, axis: int = -1) -> Node:
    """values[1] where a position along the new axis is the index, values[0] elsewhere."""
    count = int(numbers(depth, "the depth").item())
    where = normal_axis(axis, indices.type.rank + 1, "OneHot")
    wanted = blocks.from_start(as_type(indices, i64), count)
    wanted = blocks.add_axes(wanted, [where])
    shape = [count if a == where else 1 for a in range(indices.type.rank + 1)]
    position = apply("iota", shape=shape, axis=where, dtype="i64")
    off, on = blocks.split(values, 0, [1, 1])
    return b.select(apply("eq", wanted, position), b.reshape(on, ()), b.reshape(off, ()))
