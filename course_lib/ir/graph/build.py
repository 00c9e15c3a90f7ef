"""Making graphs: a function as a graph, and one plain function for each common op.

    trace(lambda x: relu(x) + 1.0, "f32[4]")

    graph @main(%x0: f32[4]) -> (f32[4]) {
      %0 = relu(%x0) : f32[4]
      %1 = constant dense<1.0> : f32[]
      %2 = add(%0, %1) : f32[4]
      return %2
    }

Python numbers become constants of the other operand's element type. Next room:
`recurrence.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import TRACING, Node, apply, const, inp
from course_lib.ir.types import Dim, DType, TensorType


@takes
def trace(fn: Callable[..., Any], *types: TensorType | str, name: str = "main") -> Graph:
    """Run `fn` on symbolic inputs and keep what it computes as a graph.

    ValueError if it returns something else than a node or a list of nodes.
    """
    parameters = [inp(f"x{k}", t) for k, t in enumerate(types)]
    before = TRACING.set(True)
    try:
        result = fn(*parameters)
    finally:
        TRACING.reset(before)
    outputs = result if isinstance(result, (list, tuple)) else [result]
    for output in outputs:
        if not isinstance(output, Node):
            raise ValueError(f"{_name(fn)} must return a node or a list of nodes{_why(output)}")
    return Graph.of(parameters, outputs, name)


def _why(output: Any) -> str:
    if output is None:
        return ", it returned None; is a `return` missing?"
    same = ": `==` asks whether two nodes are one and the same" if isinstance(output, bool) else ""
    return f", it returned {output!r:.60}{same}"


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def alone(node: Node) -> Graph:
    """A graph of this one node: its operands become inputs, one for each of them."""
    types = [i.type for i in node.inputs]
    return trace(lambda *operands: node.with_inputs(operands), *types, name=node.op)


def as_type(x: Any, type: DType) -> Node:
    """`x` (a node or a number) with this element type; `x` itself if it has it."""
    if not isinstance(x, Node):
        return const(x, type)
    return x if x.type.dtype == type else cast(x, type.name)


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
