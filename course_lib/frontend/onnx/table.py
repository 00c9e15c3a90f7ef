"""The table from ONNX ops to ours: one small function for each op type.

    @translates("Softmax")
    def softmax(x, *, axis=-1): ...            # inputs by position, attributes by keyword

A rule may also ask for `opset` (the version in use) and `outputs` (how many results the model
takes). Absent inputs are None. Next: `rules/elementwise.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from course_lib.ir.types import DType, dtype

RULES: dict[str, Callable[..., Any]] = {}
MICROSOFT = "com.microsoft"  # the domain of onnxruntime's own ops
ASTRAY = ("SimplifiedLayerNormalization",)  # of onnxruntime, yet it puts them into ONNX's domain


def rule_name(op_type: str, domain: str = "") -> str:
    """Relu, com.microsoft::FusedConv: how the table names an op."""
    if op_type in ASTRAY:
        domain = MICROSOFT
    return op_type if domain in ("", "ai.onnx") else f"{domain}::{op_type}"


def translates(*names: str, domain: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the rule for these op types, of ONNX's own domain or another."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in (rule_name(n, domain) for n in names):
            assert name not in RULES, f"{name} has two rules"
            RULES[name] = function
        return function

    return register


def call(rule: Callable[..., Any], inputs: list[Any], attrs: dict[str, Any], **extra: Any) -> Any:
    """Apply a rule; of `extra` it gets what it asks for."""
    wanted = _parameters(rule)
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in wanted.values())
    unknown = [name for name in attrs if name not in wanted and not open_ended]
    if unknown:
        raise ValueError(f"the attribute {unknown[0]!r} is not supported")
    return rule(*inputs, **attrs, **{k: v for k, v in extra.items() if k in wanted})


@cache
def _parameters(rule: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(rule).parameters


# ── element types ──

_TYPES = {
    TensorProto.FLOAT16: "f16", TensorProto.FLOAT: "f32", TensorProto.DOUBLE: "f64",
    TensorProto.INT8: "i8", TensorProto.INT16: "i16", TensorProto.INT32: "i32",
    TensorProto.INT64: "i64", TensorProto.UINT8: "u8", TensorProto.UINT16: "u16",
    TensorProto.UINT32: "u32", TensorProto.UINT64: "u64", TensorProto.BOOL: "bool",
}  # fmt: skip
_CODES = {name: code for code, name in _TYPES.items()}


def element_type(code: Any) -> DType:
    """Our element type for ONNX's number of it."""
    if code not in _TYPES:
        known = code in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(code) if known else f"number {code}"
        raise ValueError(f"the element type {name} is not supported")
    return dtype(_TYPES[code])


def array(tensor: TensorProto) -> np.ndarray:
    """The values of a TensorProto, if we know their type."""
    element_type(tensor.data_type)
    if min(tensor.dims, default=0) < 0:
        raise ValueError(f"a shape cannot have negative sizes: {list(tensor.dims)}")
    return numpy_helper.to_array(tensor)


def type_code(kind: DType) -> int:
    """ONNX's number for our element type."""
    return _CODES[kind.name]


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a NodeProto as Python values; tensors stay TensorProto."""
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}
