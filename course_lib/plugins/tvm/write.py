"""Our graph in TVM's language, Relax: a binding for each node.

    %3 = matmul(%1, %w) {sums = "i32"}    R.matmul(x, w, out_dtype="int32")
    %4 = add(%3, %b)                      R.add(lv, b)
    %6 = requantize(%4, %s) {low = 0}     R.quantize(R.nn.relu(R.dequantize(lv1, s, 0)), 1.0, 0)

Relax has quantize and dequantize, but nothing that rescales sums of i32. Dequantized with the
factor of the rescaling and quantized in steps of 1, they are the same numbers: one product in f32,
one rounding. So what a chip refuses still gives the same bits, on TVM's CPU. Next room: `read.py`,
the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.ops.quantize import HIGH, LOW
from course_lib.ir.ops.window import Window
from course_lib.ir.registry import normal_axis
from course_lib.ir.types import DType
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.prepare.decompose import definition
from course_lib.plugins.tvm.package import package

Row = Callable[[Node, Sequence[Any]], Any]  # a node and its operands in Relax -> its value

# Ours and Relax's name of what both have, with operands alone.
SAME = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "mul_rounded": "multiply",  # TVM adds nothing to it: code for plain x86-64 has no such step
    "div": "divide",
    "max": "maximum",
    "min": "minimum",
    "neg": "negative",
    "abs": "abs",
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "erf": "erf",
    "round": "round",
    "gt": "greater",
    "lt": "less",
    "ge": "greater_equal",
    "le": "less_equal",
    "select": "where",
    "relu": "nn.relu",
    "silu": "nn.silu",
}


def write(graph: Graph) -> Any:
    """An IRModule whose `main` computes the graph, and returns a tuple of its outputs.

    Where a node came from goes with it as the span of its call. ValueError names the ops that Relax
    has no row for here; a composite op without a row is spelled out first.
    """
    relax = package().relax
    graph = rewrite(graph, [lambda node: None if has_row(node) else definition(node)])
    _check(graph)
    values: dict[Node, Any] = {
        node: relax.Var(node.name or f"x{k}", relax_type(node))
        for k, node in enumerate(graph.inputs)
    }
    builder = relax.BlockBuilder()
    with builder.function("main", [values[node] for node in graph.inputs]):
        with builder.dataflow():
            for node in graph.nodes:
                if node.op == "constant":
                    values[node] = relax.const(node.value)
                elif node.op != "input":
                    value = _row(node.op)(node, [values[i] for i in node.inputs])
                    values[node] = _emit(value, node, builder)
            results = builder.emit_output(relax.Tuple([values[node] for node in graph.outputs]))
        builder.emit_func_output(results)
    return builder.get()


def _emit(value: Any, node: Node, builder: Any) -> Any:
    """A binding for a call, after those for the calls that are among its operands."""
    ir = package().ir
    if not isinstance(value, ir.Call):
        return value
    operands = [_emit(operand, node, builder) for operand in value.args]
    span = ir.Span(ir.SourceName("\n".join(node.origin)), 0, 0, 0, 0)
    call = ir.Call(value.op, operands, value.attrs, value.ty_args, span)
    return builder.emit(call, name_hint=(*node.origin, node.name, node.op)[0] or node.op)


def has_row(node: Node) -> bool:
    """Can the node be written as it is, and mean the same to TVM?"""
    floats = all(operand.type.dtype.is_float for operand in node.inputs)
    if node.op == "div" and not floats:  # integers: towards zero or down
        return False
    if node.op == "cast" and not _widens(node):  # saturated or not
        return False
    return node.op in SAME or node.op in ROWS or node.op in ("input", "constant")


def _widens(cast: Node) -> bool:
    """Has the new element type room for every number of the old one, rounded at most?"""
    old, new = cast.inputs[0].type.dtype, cast.type.dtype
    return new.is_float or np.can_cast(old.numpy, new.numpy)


def relax_type(node: Node) -> Any:
    """The node's type in Relax."""
    return package().relax.TensorType(node.type.dims, relax_dtype(node.type.dtype))


def relax_dtype(dtype: DType) -> str:
    return np.dtype(dtype.numpy).name


def _check(graph: Graph) -> None:
    strange = [node for node in graph.nodes if not has_row(node)]
    if strange:
        ops = ", ".join(dict.fromkeys(node.op for node in strange))
        raise ValueError(f"not written as Relax here: {ops}; the first one is {strange[0]!r}")
    for node in graph.ops:
        if node.op in ("conv", "max_pool") and node.inputs[0].type.rank != 4:
            raise ValueError(f"Relax is given images of two axes only; {node!r} has others")


def _row(op: str) -> Row:
    if op not in SAME:
        return ROWS[op]
    value = package().relax.op
    for part in SAME[op].split("."):
        value = getattr(value, part)
    return lambda node, operands: value(*operands)


# ── a function for each op that has attributes ──


def _r() -> Any:
    return package().relax.op


def _sums(node: Node) -> str:
    """The element type of the sums of a product."""
    return relax_dtype(node.type.dtype)


def _conv(node: Node, operands: Sequence[Any]) -> Any:
    window = Window.of(node.inputs[1].type.dims[2:], node.attrs, "conv")
    return _r().nn.conv2d(
        *operands,
        strides=window.strides,
        padding=(*window.low, *window.high),
        dilation=window.dilations,
        groups=node.attrs["groups"],
        out_dtype=_sums(node),
    )


def _max_pool(node: Node, operands: Sequence[Any]) -> Any:
    window = Window.of(node.attrs["kernel"], node.attrs, "max_pool")
    padding = (*window.low, *window.high)
    return _r().nn.max_pool2d(*operands, window.kernel, window.strides, padding, window.dilations)


def _clamp(node: Node, operands: Sequence[Any]) -> Any:
    low, high = node.attrs["min"], node.attrs["max"]
    return _limited(operands[0], -np.inf if low is None else low, np.inf if high is None else high)


def _limited(x: Any, low: float, high: float) -> Any:
    """Not below `low`, not above `high`; nothing where neither says anything."""
    if (low, high) == (-np.inf, np.inf):
        return x
    if (low, high) == (0, np.inf):
        return _r().nn.relu(x)
    return _r().clip(x, float(low), float(high))


def _layer_norm(node: Node, operands: Sequence[Any]) -> Any:
    x, *given = operands
    rank = node.type.rank
    axes = list(range(normal_axis(node.attrs["axis"], rank, "layer_norm"), rank))
    shape = [node.type.dims[a] for a in axes]
    plain = [np.ones(shape, np.float32), np.zeros(shape, np.float32)][len(given) :]
    given = [*given, *map(package().relax.const, plain)]
    return _r().nn.layer_norm(x, *given, axes=axes, epsilon=node.attrs["eps"])


def _gelu(node: Node, operands: Sequence[Any]) -> Any:
    gelu = _r().nn.gelu_tanh if node.attrs["approximate"] == "tanh" else _r().nn.gelu
    return gelu(*operands)


def _zero(dtype: str) -> Any:
    return package().relax.const(np.zeros((), dtype))


def quantized(x: Any, scale: Any, axis: int, dtype: str = "int8") -> Any:
    return _r().quantize(x, scale, _zero(dtype), axis=axis, out_dtype=dtype)


def dequantized(x: Any, scale: Any, axis: int, dtype: str) -> Any:
    return _r().dequantize(x, scale, _zero(dtype), axis=axis, out_dtype="float32")


def _quantize(node: Node, operands: Sequence[Any]) -> Any:
    axis = _axis(node.inputs[1], node)
    x, scale = operands
    return quantized(x, scale, axis, relax_dtype(node.type.dtype))


def _dequantize(node: Node, operands: Sequence[Any]) -> Any:
    axis = _axis(node.inputs[1], node)
    x, scale = operands
    return dequantized(x, scale, axis, relax_dtype(node.inputs[0].type.dtype))


def _axis(scale: Node, node: Node) -> int:
    """Along which axis the scales are; if there is one, any will do: the last."""
    if not scale.type.rank:
        return -1
    return normal_axis(node.attrs["axis"], node.type.rank, node.op)


def _requantize(node: Node, operands: Sequence[Any]) -> Any:
    x, scale = operands
    return _rounded(dequantized(x, scale, _axis(node.inputs[1], node), "int32"), node)


def _add_quantized(node: Node, operands: Sequence[Any]) -> Any:
    x, y, x_scale, y_scale = operands
    return _rounded(
        _r().add(dequantized(x, x_scale, -1, "int8"), dequantized(y, y_scale, -1, "int8")), node
    )


def _rounded(x: Any, node: Node) -> Any:
    """Limited as the node says, and in steps of 1."""
    low, high = node.attrs["low"], node.attrs["high"]
    x = _limited(x, -np.inf if low == LOW else low, np.inf if high == HIGH else high)
    return quantized(x, package().relax.const(np.float32(1)), -1)


ROWS: dict[str, Row] = {
    "conv": _conv,
    "matmul": lambda node, operands: _r().matmul(*operands, out_dtype=_sums(node)),
    "max_pool": _max_pool,
    "clamp": _clamp,
    "layer_norm": _layer_norm,
    "gelu": _gelu,
    "softmax": lambda node, operands: _r().nn.softmax(*operands, axis=node.attrs["axis"]),
    "mean": lambda node, operands: _r().mean(*operands, **_axes(node)),
    "reduce_sum": lambda node, operands: _r().sum(*operands, **_axes(node)),
    "reduce_max": lambda node, operands: _r().max(*operands, **_axes(node)),
    "reshape": lambda node, operands: _r().reshape(*operands, node.type.dims),
    "expand": lambda node, operands: _r().broadcast_to(*operands, node.type.dims),
    "transpose": lambda node, operands: _r().permute_dims(*operands, node.attrs["perm"]),
    "concat": lambda node, operands: _r().concat(list(operands), node.attrs["axis"]),
    "cast": lambda node, operands: _r().astype(*operands, relax_dtype(node.type.dtype)),
    "quantize": _quantize,
    "dequantize": _dequantize,
    "requantize": _requantize,
    "add_quantized": _add_quantized,
}


def _axes(node: Node) -> dict[str, Any]:
    axes = node.attrs["axes"]
    return {"axis": None if axes is None else list(axes), "keepdims": node.attrs["keepdims"]}
