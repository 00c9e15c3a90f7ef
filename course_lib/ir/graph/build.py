"""Making nodes: by op name, or with one plain function for each common op.

    trace(lambda x: relu(x) + 1.0, "f32[4]")

    graph @main(%x0: f32[4]) -> (f32[4]) {
      %0 = relu(%x0) : f32[4]
      %1 = constant dense<1.0> : f32[]
      %2 = add(%0, %1) : f32[4]
      return %2
    }

`apply` infers the type from the op table, so that an ill-typed node cannot be made. Python numbers
become constants of the other operand's element type. Next room: `verify.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph, Node
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import Dim, DType, TensorType, dtype, parse_type, type_of


def inp(name: str, type: TensorType | str) -> Node:
    """An input of a graph."""
    type = parse_type(type) if isinstance(type, str) else type
    return Node("input", (), MappingProxyType({}), type, name)


def const(value: Any, type: DType | str | None = None, name: str = "") -> Node:
    """A constant from an array, a list or a number (Python floats become f32)."""
    type = dtype(type) if isinstance(type, str) else type
    if type is None and not isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        value = value.astype(np.float32) if value.dtype == np.float64 else value
    array = np.array(value, dtype=type.numpy if type else None, order="C")
    array.setflags(write=False)
    return Node("constant", (), MappingProxyType({"value": array}), type_of(array), name)


def apply(
    op: str, *operands: Any, name: str = "", origin: tuple[str, ...] = (), **attrs: Any
) -> Node:
    """A node of the named op. Operands are nodes, arrays or numbers."""
    row = op_row(op)
    row.check_arity(len(operands))
    inputs = _as_nodes(operands, op)
    full = row.complete({key: _frozen(value) for key, value in attrs.items()})
    result = row.infer([i.type for i in inputs], full)
    return Node(op, inputs, MappingProxyType(full), result, name, origin)


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def _as_nodes(operands: Sequence[Any], op: str) -> tuple[Node, ...]:
    given = [o for o in operands if isinstance(o, Node)]
    like = given[-1].type.dtype if given else None  # the last: select's first one is a bool
    nodes = []
    for operand in operands:
        if isinstance(operand, Node):
            nodes.append(operand)
        elif isinstance(operand, (bool, int, float, list, tuple, np.ndarray, np.generic)):
            scalar = isinstance(operand, (bool, int, float))
            if isinstance(operand, float) and like is not None and not like.is_float:
                raise ValueError(f"{op}: the number {operand} does not fit a tensor of {like}")
            nodes.append(const(operand, like if scalar else None))
        else:
            raise ValueError(
                f"{op}: an operand must be a Node, an array or a number, got {operand!r}"
            )
    return tuple(nodes)


def trace(fn: Callable[..., Any], *types: TensorType | str, name: str = "main") -> Graph:
    """Run `fn` on symbolic inputs and keep what it computes as a graph."""
    parameters = [inp(f"x{k}", t) for k, t in enumerate(types)]
    result = fn(*parameters)
    outputs = result if isinstance(result, (list, tuple)) else [result]
    return Graph.of(parameters, outputs, name)


# ── one function for each common op ──


def add(a: Any, b: Any) -> Node:
    return apply("add", a, b)


def sub(a: Any, b: Any) -> Node:
    return apply("sub", a, b)


def mul(a: Any, b: Any) -> Node:
    return apply("mul", a, b)


def div(a: Any, b: Any) -> Node:
    return apply("div", a, b)


def pow(a: Any, b: Any) -> Node:
    return apply("pow", a, b)


def maximum(a: Any, b: Any) -> Node:
    return apply("max", a, b)


def minimum(a: Any, b: Any) -> Node:
    return apply("min", a, b)


def neg(x: Any) -> Node:
    return apply("neg", x)


def abs(x: Any) -> Node:
    return apply("abs", x)


def exp(x: Any) -> Node:
    return apply("exp", x)


def log(x: Any) -> Node:
    return apply("log", x)


def sqrt(x: Any) -> Node:
    return apply("sqrt", x)


def rsqrt(x: Any) -> Node:
    return apply("rsqrt", x)


def tanh(x: Any) -> Node:
    return apply("tanh", x)


def erf(x: Any) -> Node:
    return apply("erf", x)


def sigmoid(x: Any) -> Node:
    return apply("sigmoid", x)


def relu(x: Any) -> Node:
    return apply("relu", x)


def gelu(x: Any) -> Node:
    return apply("gelu", x)


def select(condition: Any, a: Any, b: Any) -> Node:
    # A bare True is a condition. Left to `apply`, it would become a 1.0 beside two floats.
    return apply("select", const(condition) if isinstance(condition, bool) else condition, a, b)


def cast(x: Any, type: str) -> Node:
    return apply("cast", x, dtype=type)


def matmul(a: Any, b: Any) -> Node:
    return apply("matmul", a, b)


def conv(x: Any, w: Any, **window: Any) -> Node:
    return apply("conv", x, w, **window)


def softmax(x: Any, axis: int = -1) -> Node:
    return apply("softmax", x, axis=axis)


def reduce_sum(x: Any, axes: Sequence[int] | None = None, keepdims: bool = False) -> Node:
    return apply("reduce_sum", x, axes=axes, keepdims=keepdims)


def reduce_max(x: Any, axes: Sequence[int] | None = None, keepdims: bool = False) -> Node:
    return apply("reduce_max", x, axes=axes, keepdims=keepdims)


def mean(x: Any, axes: Sequence[int] | None = None, keepdims: bool = False) -> Node:
    return apply("mean", x, axes=axes, keepdims=keepdims)


def reshape(x: Any, shape: Sequence[Dim]) -> Node:
    return apply("reshape", x, shape=tuple(shape))


def transpose(x: Any, perm: Sequence[int]) -> Node:
    return apply("transpose", x, perm=tuple(perm))


def expand(x: Any, shape: Sequence[Dim]) -> Node:
    return apply("expand", x, shape=tuple(shape))


def relayout(x: Any, src: str, dst: str) -> Node:
    return apply("relayout", x, src=src, dst=dst)


def concat(parts: Sequence[Any], axis: int) -> Node:
    return apply("concat", *parts, axis=axis)
