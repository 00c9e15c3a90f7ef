"""The table from ONNX ops to ours: one small function for each op type.

    @translates("Softmax")
    def softmax(x, *, axis=-1): ...            # inputs by position, attributes by keyword

A rule may also ask for `opset` (the version in use) and `outputs` (how many results the model
takes). Absent inputs are None. What ONNX computes at run time and we need at compile time (the
shape of a Reshape, the axes of a ReduceSum) goes through `numbers` or `sizes`.
Next: `rules/elementwise.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import Node, const
from course_lib.ir.graph.order import topological_order
from course_lib.ir.types import Dim, DType, dtype, i64

RULES: dict[str, Callable[..., Any]] = {}


def translates(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the rule for these op types of ONNX's own domain."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in RULES, f"{name} has two rules"
            RULES[name] = function
        return function

    return register


def call(rule: Callable[..., Any], inputs: list[Any], attrs: dict[str, Any], **extra: Any) -> Any:
    """Apply a rule; of `extra` it gets what it asks for."""
    wanted = inspect.signature(rule).parameters
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in wanted.values())
    unknown = [name for name in attrs if name not in wanted and not open_ended]
    if unknown:
        raise ValueError(f"the attribute {unknown[0]!r} is not supported")
    return rule(*inputs, **attrs, **{k: v for k, v in extra.items() if k in wanted})


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
    return numpy_helper.to_array(tensor)


def type_code(kind: DType) -> int:
    """ONNX's number for our element type."""
    return _CODES[kind.name]


# ── what must be known at compile time ──


class NeedsConstant(ValueError):
    """An op needs a value at compile time that depends on `inputs` of the graph."""

    def __init__(self, what: str, inputs: list[str]) -> None:
        self.inputs = inputs
        named = ", ".join(repr(name) for name in inputs)
        super().__init__(
            f"{what} must be known at compile time, but depends on the input {named}; "
            f"give its value: from_onnx(model, freeze={{{inputs[0]!r}: array}})"
        )


def numbers(x: Any, what: str) -> np.ndarray:
    """The value of a node that depends on constants only. Shape arithmetic is computed here."""
    if isinstance(x, np.ndarray):
        raise ValueError(f"{what} must be numbers, but it is {x.tolist()}: a size is symbolic")
    needed = [n.name for n in topological_order([x]) if n.op == "input"]
    if needed:
        raise NeedsConstant(what, needed)
    return x.value if x.op == "constant" else run(Graph.of([], [x]), [])[0]


def sizes(x: Any, what: str) -> list[Dim]:
    """A shape as a list; symbolic sizes are allowed."""
    return x.tolist() if isinstance(x, np.ndarray) else [int(n) for n in numbers(x, what)]


def optional_axes(axes: Any, what: str) -> list[int] | None:
    """Axes given as an attribute (a list), as an input (a node) or not at all."""
    if axes is None:
        return None
    return [int(a) for a in np.ravel(numbers(axes, what) if isinstance(axes, Node) else axes)]


# ── shapes with symbols ──

# A shape that holds a symbol is an object array of sizes during the import. These few ops are what
# exporters do with shapes; they work on such arrays as on numbers.
SHAPE_RULES: dict[str, Callable[..., Any]] = {
    "Identity": lambda x: x,
    "Cast": lambda x, *, to: x,
    "Gather": lambda x, i, *, axis=0: x[i.astype(int)],
    "Concat": lambda *parts, axis: np.concatenate(parts),
    "Unsqueeze": lambda x, axes=None: x.reshape(-1),
    "Squeeze": lambda x, axes=None: x.reshape(()),
    "Reshape": lambda x, shape, *, allowzero=0: x.reshape([int(n) for n in shape]),
    "Slice": lambda x, start, end, axes=None, steps=None: x[int(start[0]) : int(end[0])],
    "Mul": lambda x, y: x * y,
}


SHAPE_USERS = ("Reshape", "Expand", "ConstantOfShape")  # their rules take such a shape


def is_on_shapes(op_type: str, inputs: list[Any]) -> bool:
    """Does this node compute with a shape that holds symbols (rather than use it for a tensor)?"""
    symbolic = [isinstance(x, np.ndarray) for x in inputs]
    return any(symbolic) and (symbolic[0] or op_type not in SHAPE_USERS)


def on_shapes(op_type: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
    """Shape arithmetic with at least one symbolic size among the inputs."""
    if op_type not in SHAPE_RULES:
        raise ValueError("it computes with a size that is symbolic; give example inputs")
    plain = [x if x is None or isinstance(x, np.ndarray) else numbers(x, op_type) for x in inputs]
    return shape_value(np.asarray(SHAPE_RULES[op_type](*plain, **attrs), dtype=object))


def shape_value(shape: np.ndarray) -> Any:
    """A constant if all sizes are numbers, else the object array itself."""
    if all(isinstance(n, (int, np.integer)) for n in shape.ravel()):
        return const(shape.astype(np.int64), i64)
    return shape


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a NodeProto as Python values; tensors stay TensorProto."""
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}
