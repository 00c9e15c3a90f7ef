"""The rules of the ONNX export: our ops in ONNX's words.

    mod(%x, %y) : f32   ->   Mod(fmod = 1), then mended where the signs differ

A rule returns the name of its result; None means "write my definition instead", for example because
the opset is too old. Next: `write_movement.py`, ops that only move elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from course_lib.frontend.onnx.rules.elementwise import BINARY, UNARY
from course_lib.frontend.onnx.table import type_code
from course_lib.frontend.onnx.writer import Rule, Writer
from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import Node
from course_lib.ir.types import bool_, dtype

RULES: dict[str, Rule] = {}


def exports(*names: str) -> Callable[[Rule], Rule]:
    """Register a function as the rule for these ops of ours."""

    def register(rule: Rule) -> Rule:
        for name in names:
            assert name not in RULES, f"{name} has two rules"
            RULES[name] = rule
        return rule

    return register


# Elementwise ops are the importer's table read backwards.
for _onnx, _ours in {**UNARY, **BINARY, "Max": "max", "Min": "min", "IsInf": "isinf"}.items():
    if _ours not in ("relu", "hard_swish"):  # these two have conditions, below
        exports(_ours)(lambda w, node, *xs, name=_onnx: w.emit(name, *xs))


@exports("relu")
def _relu(w: Writer, node: Node, x: str) -> str:
    if node.type.dtype.is_float:
        return w.emit("Relu", x)
    return w.emit("Max", x, w.constant(np.zeros((), node.type.dtype.numpy)))


@exports("rsqrt")
def _rsqrt(w: Writer, node: Node, x: str) -> str:
    return w.emit("Reciprocal", w.emit("Sqrt", x))


@exports("ne")
def _ne(w: Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Not", w.emit("Equal", x, y))


@exports("pow")
def _pow(w: Writer, node: Node, x: str, y: str) -> str:
    """ONNX has powers of i32 and i64, but of no narrower integers."""
    kind = node.type.dtype
    if kind.is_float or kind.size >= 4:
        return w.emit("Pow", x, y)
    wide = (w.emit("Cast", name, to=TensorProto.INT64) for name in (x, y))
    return w.emit("Cast", w.emit("Pow", *wide), to=type_code(kind))


@exports("mod")
def _mod(w: Writer, node: Node, x: str, y: str) -> str:
    """ONNX has Python's remainder for integers only: mend C's where the signs differ."""
    if not node.type.dtype.is_float:
        return w.emit("Mod", x, y)
    zero = w.constant(np.zeros((), node.type.dtype.numpy))
    rest = w.emit("Mod", x, y, fmod=1)
    differ = w.emit("Xor", w.emit("Less", rest, zero), w.emit("Less", y, zero))
    wrong = w.emit("And", differ, w.emit("Not", w.emit("Equal", rest, zero)))
    return w.emit("Where", wrong, w.emit("Add", rest, y), rest)


@exports("fmod")
def _fmod(w: Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Mod", x, y, fmod=1)


@exports("select")
def _select(w: Writer, node: Node, condition: str, x: str, y: str) -> str:
    return w.emit("Where", condition, x, y)


@exports("cast")
def _cast(w: Writer, node: Node, x: str) -> str:
    """ONNX leaves open what floats outside the range of an integer become; here they saturate.

    A Clip says so where the limits are floats themselves (those of i8 are, those of i64 are not).
    """
    have, kind = node.inputs[0].type.dtype, dtype(node.attrs["dtype"])
    from_float = have.is_float and kind.kind in ("int", "uint")
    if from_float and 8 * kind.size <= np.finfo(have.numpy).nmant + 1:
        limits = np.iinfo(kind.numpy)
        least, most = (w.constant(np.array(v, have.numpy)) for v in (limits.min, limits.max))
        x = w.emit("Clip", x, least, most)
    return w.emit("Cast", x, to=type_code(kind))


@exports("clamp")
def _clamp(w: Writer, node: Node, x: str) -> str:
    kind = node.type.dtype.numpy
    low, high = node.attrs["min"], node.attrs["max"]
    limits = ["" if v is None else w.constant(np.array(v, kind)) for v in (low, high)]
    return w.emit("Clip", x, *limits)


@exports("elu", "leaky_relu", "hard_sigmoid", "softmax", "log_softmax")
def _same_attributes(w: Writer, node: Node, x: str) -> str:
    name = {"leaky_relu": "LeakyRelu", "hard_sigmoid": "HardSigmoid", "log_softmax": "LogSoftmax"}
    attrs = {"alpha" if k == "slope" else k: v for k, v in node.attrs.items()}
    return w.emit(name.get(node.op, node.op.capitalize()), x, **attrs)


@exports("hard_swish")
def _hard_swish(w: Writer, node: Node, x: str) -> str | None:
    return w.emit("HardSwish", x) if w.opset >= 14 else None


@exports("gelu")
def _gelu(w: Writer, node: Node, x: str) -> str | None:
    if w.opset < 20:
        return None
    return w.emit("Gelu", x, approximate=node.attrs["approximate"])


# ── reductions ──

REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin", "mean": "ReduceMean",
}  # fmt: skip


@exports(*REDUCTIONS)
def _reduce(w: Writer, node: Node, x: str) -> str:
    if node.type.dtype == bool_ and node.op in ("reduce_max", "reduce_min"):
        return _any_or_all(w, node, x)
    return _reduced(w, node, x, REDUCTIONS[node.op])


def _any_or_all(w: Writer, node: Node, x: str) -> str:
    """Is a number of truths 0? ONNX has extremes of bool since opset 20 only, and onnxruntime none
    of nothing. All are true if not any is false."""
    every = node.op == "reduce_min"
    counted = w.emit("Cast", w.emit("Not", x) if every else x, to=TensorProto.INT64)
    some = w.emit("Cast", _reduced(w, node, counted, "ReduceSum"), to=TensorProto.BOOL)
    return w.emit("Not", some) if every else some


def _reduced(w: Writer, node: Node, x: str, name: str) -> str:
    """The axes are an input since opset 18 (of ReduceSum since 13), before that an attribute."""
    axes, keep = node.attrs["axes"], int(node.attrs["keepdims"])
    if axes is None:
        return w.emit(name, x, keepdims=keep)
    if not axes:
        return w.emit("Identity", x)
    if w.opset >= 18 or name == "ReduceSum":
        return w.emit(name, x, w.constant(np.array(axes, np.int64)), keepdims=keep)
    return w.emit(name, x, axes=axes, keepdims=keep)


@exports("argmax", "argmin")
def _arg(w: Writer, node: Node, x: str) -> str:
    name = {"argmax": "ArgMax", "argmin": "ArgMin"}[node.op]
    return w.emit(name, x, axis=node.attrs["axis"], keepdims=int(node.attrs["keepdims"]),
                  select_last_index=int(node.attrs["last"]))  # fmt: skip


@exports("cumsum")
def _cumsum(w: Writer, node: Node, x: str) -> str:
    axis = w.constant(np.array(node.attrs["axis"], np.int64))
    return w.emit("CumSum", x, axis, exclusive=int(node.attrs["exclusive"]),
                  reverse=int(node.attrs["reverse"]))  # fmt: skip


@exports("argsort")
def _argsort(w: Writer, node: Node, x: str) -> str:
    """TopK. (That equal elements keep their order holds in onnxruntime.)"""
    axis = node.attrs["axis"]
    count = w.constant(np.array([node.type.dims[axis]], np.int64))
    return w.emit("TopK", x, count, count=2, at=1, axis=axis,
                  largest=int(node.attrs["descending"]))  # fmt: skip


# ── layers ──


def window(attrs: Any) -> dict[str, Any]:
    return {k: attrs[k] for k in ("strides", "pads", "dilations") if attrs[k] is not None}


@exports("conv_transpose")
def _conv_transpose(w: Writer, node: Node, x: str, weights: str) -> str:
    extra = node.attrs["output_padding"]
    more = {"output_padding": extra} if extra else {}
    return w.emit("ConvTranspose", x, weights, group=node.attrs["groups"], **more,
                  **window(node.attrs))  # fmt: skip


@exports("max_pool")
def _max_pool(w: Writer, node: Node, x: str) -> str:
    return w.emit("MaxPool", x, kernel_shape=node.attrs["kernel"], **window(node.attrs))


@exports("avg_pool")
def _avg_pool(w: Writer, node: Node, x: str) -> str | None:
    """AveragePool knows dilations since opset 19."""
    slides = window(node.attrs)
    if max(slides.get("dilations", (1,))) == 1:
        slides.pop("dilations", None)
    elif w.opset < 19:
        return None
    return w.emit("AveragePool", x, kernel_shape=node.attrs["kernel"],
                  count_include_pad=int(node.attrs["count_include_pad"]), **slides)  # fmt: skip


@exports("sum_pool")
def _sum_pool(w: Writer, node: Node, x: str) -> str:
    """ONNX has no such op: a convolution of each channel with ones."""
    channels, kernel = node.type.dims[1], node.attrs["kernel"]
    ones = w.constant(np.ones((channels, 1, *kernel), node.type.dtype.numpy))
    return w.emit("Conv", x, ones, group=channels, **window(node.attrs))


@exports("batch_norm")
def _batch_norm(w: Writer, node: Node, *operands: str) -> str:
    return w.emit("BatchNormalization", *operands, epsilon=node.attrs["eps"])


@exports("layer_norm")
def _layer_norm(w: Writer, node: Node, x: str, *affine: str) -> str | None:
    if w.opset < 17 or not affine:
        return None
    return w.emit("LayerNormalization", x, *affine, axis=node.attrs["axis"],
                  epsilon=node.attrs["eps"])  # fmt: skip


# ── the rest ──


@exports("iota")
def _iota(w: Writer, node: Node) -> str:
    return w.emit("Identity", w.constant(evaluate(node, [])))


@exports("scan")
def _scan(w: Writer, node: Node, initial: str, *operands: str) -> str:
    """A Scan gives its last state first; of each step's state it collects a copy."""
    body, count, back = node.attrs["body"], node.attrs["sequences"], int(node.attrs["reverse"])
    outside = dict(zip(body.inputs[1 + count :], operands[count:], strict=True))
    return w.emit("Scan", initial, *operands[:count], count=2, at=1, num_scan_inputs=count,
                  body=w.subgraph(body, outside, copies=2), scan_input_directions=[back] * count,
                  scan_output_directions=[back])  # fmt: skip
