"""A function of TVM's language, Relax, as our graph.

    R.matmul(x, w, out_dtype="int32")                           %3 = matmul(%1, %w) {sums = "i32"}
    R.quantize(R.nn.relu(R.dequantize(lv1, s, 0)), 1.0, 0)      %6 = requantize(%4, %s) {low = 0}

It is needed twice: for a whole model that TVM's own frontends have imported, which is then
quantized, and for each piece that goes to the chip. A node comes from where `write.py` says, or
from the binding of its name. Next room: `read_ops.py`, the ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.types import TensorType
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.read_ops import our_dtype, read_op

# What an expression stands for: a node, several of them, or a function that is called later.
Value = Any


def read(function: Any, name: str = "main") -> Graph:
    """The graph of a Relax function with one block of bindings, or of nested ones.

    The values of what it calls and does not contain (another device's part, say) are inputs of the
    graph, too, and what it gives to those is in it.
    ValueError in words for an op that is not known here, and for sizes that are not numbers.
    """
    reader = _Reader()
    parameters = [reader.parameter(var) for var in function.params]
    results = reader.body(function)
    outputs = results if isinstance(results, (list, tuple)) else [results]
    return Graph.of([*parameters, *reader.called], outputs, name, also=reader.given)


def read_expression(root: Any, bindings: Mapping[Any, Any]) -> Graph:
    """The graph of one expression; `bindings` has the values of variables that belong to it, all
    others are inputs."""
    reader = _Reader(bindings)
    result = reader.value(root)
    return Graph.of(reader.called, [result])


class _Reader:
    """One function; `known` says what its variables stand for."""

    def __init__(self, bindings: Mapping[Any, Any] | None = None) -> None:
        self.tvm = package()
        self.known: dict[Any, Value] = {}
        self.bindings = bindings or {}
        self.called: list[Node] = []  # inputs that are not parameters
        self.given: list[Node] = []  # what other functions are called with

    def parameter(self, var: Any) -> Node:
        self.known[var] = inp(var.name, type_of(var.ty))
        return self.known[var]

    def body(self, function: Any) -> Value:
        """The value of a function whose parameters are known."""
        for block in function.body.blocks:
            for binding in block.bindings:
                self.known[binding.var] = self.value(binding.value, binding.var.name)
        return self.value(function.body.body)

    def value(self, expr: Any, name: str = "") -> Value:
        ir, relax = self.tvm.ir, self.tvm.relax
        match expr:
            case ir.Var():
                return self.variable(expr)
            case ir.GenericConst():
                return const(expr.value.numpy())
            case ir.Tuple():
                return [self.value(field) for field in expr.fields]
            case ir.TupleGetItem():
                return self.value(expr.tuple_value)[expr.index]
            case relax.ShapeExpr():
                return tuple(map(whole, expr.values))
            case ir.prim.IntImm() | ir.prim.FloatImm():
                return expr.value
            case relax.Function():
                return expr
            case ir.Call():
                return self.call(expr, name)
        raise ValueError(f"Relax's {type(expr).__name__} is not read here: {expr}")

    def variable(self, var: Any) -> Value:
        if var not in self.known:
            bound = self.bindings.get(var)
            self.known[var] = (
                self.outside(var.ty, var.name) if bound is None else self.value(bound, var.name)
            )
        return self.known[var]

    def outside(self, type: Any, name: str) -> Value:
        """A value from elsewhere, or several."""
        if isinstance(type, self.tvm.ir.TupleType):
            return [self.outside(field, name) for field in type.fields]
        self.called.append(inp(name, type_of(type)))
        return self.called[-1]

    def call(self, call: Any, name: str) -> Value:
        ir = self.tvm.ir
        if isinstance(call.op, ir.Op):
            return read_op(call, [self.value(a) for a in call.args], name)
        arguments = [self.value(argument) for argument in call.args]
        callee = self.known.get(call.op)
        if callee is None:
            self.given += arguments
            return self.outside(call.ty, name)
        inner = _Reader()
        inner.known.update(zip(callee.params, arguments, strict=True))
        return inner.body(callee)


def type_of(type: Any) -> TensorType:
    """Relax's type of a tensor, as ours."""
    if not isinstance(type, package().relax.TensorType) or type.shape is None:
        raise ValueError(f"a tensor with a known shape is expected, got {type}")
    return TensorType(our_dtype(type.dtype), tuple(map(whole, type.shape)))


def whole(size: Any) -> int:
    """A size as a number; ValueError if it is a symbol."""
    if not isinstance(size, (int, package().ir.prim.IntImm)):
        raise ValueError(f"sizes are numbers here, got the symbol {size}")
    return int(size)
