"""From a graph to an ONNX model.

    %0 = softmax(%x) {axis = 1}    ==>   Softmax(%x), axis = 1
    %1 = rsqrt(%0)                       Sqrt, Reciprocal
    %2 = fused(%1) {body = ...}          the ops of the body, one by one

One short rule for each of our ops, in `EXPORT`. A composite without a rule is written out as its
definition in the op table; groups made by fusion are opened again, since ONNX has no such thing.
Other tools then read what our passes made of a model: onnxruntime is one of our witnesses.
Next room: `course_lib/passes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from course_lib.frontend.onnx_elementwise import BINARY, UNARY
from course_lib.frontend.onnx_import import OLDEST_OPSET
from course_lib.frontend.onnx_ops import type_code
from course_lib.ir.build import inp
from course_lib.ir.graph import Graph, Node
from course_lib.ir.interp import evaluate
from course_lib.ir.ops import op as op_row
from course_lib.ir.text import value_names
from course_lib.ir.types import Sym, TensorType, dtype
from course_lib.ir.verify import verify

NEWEST_OPSET = onnx.defs.onnx_opset_version()


def to_onnx(graph: Graph, opset: int = 20) -> onnx.ModelProto:
    """The graph as a valid ONNX model of this opset. Origins become node names."""
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(f"opset {opset} is not between {OLDEST_OPSET} and {NEWEST_OPSET}")
    writer = _Writer(verify(graph), opset)
    inputs = [_info(writer.names[n], n.type) for n in graph.inputs]
    writer.body(graph)
    outputs = [_info(writer.output(n), n.type) for n in graph.outputs]
    proto = helper.make_graph(writer.nodes, graph.name, inputs, outputs, writer.initializers)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(proto, opset_imports=opsets, producer_name="course_lib")
    model.ir_version = helper.find_min_ir_version_for(opsets)
    if model.ByteSize() < 2**31:  # the checker cannot take more in one piece
        onnx.checker.check_model(model, full_check=True)
    return model


def _info(name: str, type: TensorType) -> onnx.ValueInfoProto:
    shape = [str(d) if isinstance(d, Sym) else d for d in type.shape]
    return helper.make_tensor_value_info(name, type_code(type.dtype), shape)


class _Writer:
    """Collects ONNX nodes. `names` maps our nodes to ONNX value names."""

    def __init__(self, graph: Graph, opset: int) -> None:
        self.opset = opset
        self.names: dict[Node, str] = dict(value_names(graph))
        self.taken = set(self.names.values())
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.outputs: set[str] = set()
        self.named: Counter[str] = Counter()
        self.origin = ""

    def body(self, graph: Graph, origin: str = "") -> None:
        """Emit all nodes; those without an origin come from `origin`."""
        for node in graph.nodes:
            if node.op == "input":
                continue
            if node.op == "constant":
                self.names[node] = self.constant(node.value, self.names.get(node))
                continue
            self.origin = ", ".join(node.origin) or origin
            self.write(node)

    def write(self, node: Node) -> None:
        """Emit one node; its value has the name `names[node]` afterwards."""
        rule, before = EXPORT.get(node.op), len(self.nodes)
        made = rule(self, node, *(self.names[i] for i in node.inputs)) if rule else None
        if made is None:
            made = self.by_definition(node)
        wanted = self.names.setdefault(node, made)
        if wanted == made:
            return
        last = self.nodes[-1] if len(self.nodes) > before else None
        if last is not None and made in last.output:
            last.output[list(last.output).index(made)] = wanted
        else:  # nothing was computed: the value is that of an operand
            self.emit("Identity", made, into=wanted)

    def by_definition(self, node: Node) -> str:
        """A composite as its definition, a fused group as its body."""
        if "body" in node.attrs:
            inner = node.attrs["body"]
        else:
            row = op_row(node.op)
            if row.decompose is None:
                raise ValueError(f"{node!r}: ONNX opset {self.opset} has no op for this")
            operands = [inp(f"x{k}", i.type) for k, i in enumerate(node.inputs)]
            inner = Graph.of(operands, [row.decompose(operands, node.attrs)])
        outer, origin = self.names, self.origin
        self.names = {x: outer[i] for x, i in zip(inner.inputs, node.inputs, strict=True)}
        self.body(inner, origin)
        result = self.names[inner.outputs[0]]
        self.names, self.origin = outer, origin
        return result

    def emit(self, op_type: str, *inputs: str, into: str = "", count: int = 1, at: int = 0,
             **attrs: Any) -> str:  # fmt: skip
        """Add an ONNX node; the name of its result (of result `at` if it has several)."""
        results = [self.fresh(op_type.lower()) for _ in range(count)]
        results[at] = into or results[at]
        made = helper.make_node(op_type, inputs, results, name=self.node_name(op_type))
        made.attribute.extend(helper.make_attribute(k, v) for k, v in attrs.items())
        self.nodes.append(made)
        return results[at]

    def node_name(self, op_type: str) -> str:
        """The origin, made distinct by a number: onnxruntime refuses two nodes of one name."""
        base = self.origin or op_type
        self.named[base] += 1
        return base if self.named[base] == 1 else f"{base}#{self.named[base]}"

    def constant(self, value: Any, name: str | None = None) -> str:
        name = name or self.fresh("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def fresh(self, hint: str) -> str:
        number = len(self.taken)
        while f"{hint}_{number}" in self.taken:
            number += 1
        self.taken.add(f"{hint}_{number}")
        return f"{hint}_{number}"

    def output(self, node: Node) -> str:
        """ONNX wants outputs to be results of nodes, each under a name of its own."""
        name = self.names[node]
        if node.op in ("input", "constant") or name in self.outputs:
            self.origin = ""
            name = self.emit("Identity", name)
        self.outputs.add(name)
        return name


# ── the rules: (writer, node, names of its operands) -> name of the result, or None to decompose ──

Rule = Callable[..., str | None]
EXPORT: dict[str, Rule] = {}


def exports(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        EXPORT.update(dict.fromkeys(names, rule))
        return rule

    return register


# Elementwise ops are the importer's table read backwards.
for _onnx, _ours in {**UNARY, **BINARY, "Max": "max", "Min": "min", "IsInf": "isinf"}.items():
    EXPORT[_ours] = lambda w, node, *xs, name=_onnx: w.emit(name, *xs)


@exports("relu")
def _relu(w: _Writer, node: Node, x: str) -> str:
    if node.type.dtype.is_float:
        return w.emit("Relu", x)
    return w.emit("Max", x, w.constant(np.zeros((), node.type.dtype.numpy)))


@exports("rsqrt")
def _rsqrt(w: _Writer, node: Node, x: str) -> str:
    return w.emit("Reciprocal", w.emit("Sqrt", x))


@exports("ne")
def _ne(w: _Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Not", w.emit("Equal", x, y))


@exports("pow")
def _pow(w: _Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Pow", x, y)


@exports("mod")
def _mod(w: _Writer, node: Node, x: str, y: str) -> str:
    """ONNX has Python's remainder for integers only: mend C's where the signs differ."""
    if not node.type.dtype.is_float:
        return w.emit("Mod", x, y)
    zero = w.constant(np.zeros((), node.type.dtype.numpy))
    rest = w.emit("Mod", x, y, fmod=1)
    differ = w.emit("Xor", w.emit("Less", rest, zero), w.emit("Less", y, zero))
    wrong = w.emit("And", differ, w.emit("Not", w.emit("Equal", rest, zero)))
    return w.emit("Where", wrong, w.emit("Add", rest, y), rest)


@exports("fmod")
def _fmod(w: _Writer, node: Node, x: str, y: str) -> str:
    return w.emit("Mod", x, y, fmod=1)


@exports("select")
def _select(w: _Writer, node: Node, condition: str, x: str, y: str) -> str:
    return w.emit("Where", condition, x, y)


@exports("cast")
def _cast(w: _Writer, node: Node, x: str) -> str:
    return w.emit("Cast", x, to=type_code(dtype(node.attrs["dtype"])))


@exports("clamp")
def _clamp(w: _Writer, node: Node, x: str) -> str:
    kind = node.type.dtype.numpy
    low, high = node.attrs["min"], node.attrs["max"]
    limits = ["" if v is None else w.constant(np.array(v, kind)) for v in (low, high)]
    return w.emit("Clip", x, *limits)


@exports("elu", "leaky_relu", "hard_sigmoid", "softmax", "log_softmax")
def _same_attributes(w: _Writer, node: Node, x: str) -> str:
    name = {"leaky_relu": "LeakyRelu", "hard_sigmoid": "HardSigmoid", "log_softmax": "LogSoftmax"}
    attrs = {"alpha" if k == "slope" else k: v for k, v in node.attrs.items()}
    return w.emit(name.get(node.op, node.op.capitalize()), x, **attrs)


@exports("hard_swish")
def _hard_swish(w: _Writer, node: Node, x: str) -> str | None:
    return w.emit("HardSwish", x) if w.opset >= 14 else None


@exports("gelu")
def _gelu(w: _Writer, node: Node, x: str) -> str | None:
    if w.opset < 20:
        return None
    return w.emit("Gelu", x, approximate=node.attrs["approximate"])


# ── reductions ──

REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_prod": "ReduceProd", "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin", "mean": "ReduceMean",
}  # fmt: skip


@exports(*REDUCTIONS)
def _reduce(w: _Writer, node: Node, x: str) -> str:
    """The axes are an input since opset 18 (of ReduceSum since 13), before that an attribute."""
    axes, keep = node.attrs["axes"], int(node.attrs["keepdims"])
    name = REDUCTIONS[node.op]
    if axes is None:
        return w.emit(name, x, keepdims=keep)
    if not axes:
        return w.emit("Identity", x)
    if w.opset >= 18 or name == "ReduceSum":
        return w.emit(name, x, w.constant(np.array(axes, np.int64)), keepdims=keep)
    return w.emit(name, x, axes=axes, keepdims=keep)


@exports("argmax", "argmin")
def _arg(w: _Writer, node: Node, x: str) -> str:
    name = {"argmax": "ArgMax", "argmin": "ArgMin"}[node.op]
    return w.emit(name, x, axis=node.attrs["axis"], keepdims=int(node.attrs["keepdims"]),
                  select_last_index=int(node.attrs["last"]))  # fmt: skip


@exports("cumsum")
def _cumsum(w: _Writer, node: Node, x: str) -> str:
    axis = w.constant(np.array(node.attrs["axis"], np.int64))
    return w.emit("CumSum", x, axis, exclusive=int(node.attrs["exclusive"]),
                  reverse=int(node.attrs["reverse"]))  # fmt: skip


@exports("argsort")
def _argsort(w: _Writer, node: Node, x: str) -> str:
    """TopK with all elements. (That equal ones keep their order holds in onnxruntime.)"""
    axis = node.attrs["axis"]
    count = w.constant(np.array([node.type.dims[axis]], np.int64))
    return w.emit("TopK", x, count, count=2, at=1, axis=axis,
                  largest=int(node.attrs["descending"]))  # fmt: skip


# ── layers ──


@exports("matmul")
def _matmul(w: _Writer, node: Node, x: str, y: str) -> str:
    return w.emit("MatMul", x, y)


def _window(attrs: Any) -> dict[str, Any]:
    return {k: attrs[k] for k in ("strides", "pads", "dilations") if attrs[k] is not None}


@exports("conv")
def _conv(w: _Writer, node: Node, x: str, weights: str) -> str:
    return w.emit("Conv", x, weights, group=node.attrs["groups"], **_window(node.attrs))


@exports("conv_transpose")
def _conv_transpose(w: _Writer, node: Node, x: str, weights: str) -> str:
    extra = node.attrs["output_padding"]
    more = {"output_padding": extra} if extra else {}
    return w.emit("ConvTranspose", x, weights, group=node.attrs["groups"], **more,
                  **_window(node.attrs))  # fmt: skip


@exports("max_pool")
def _max_pool(w: _Writer, node: Node, x: str) -> str:
    return w.emit("MaxPool", x, kernel_shape=node.attrs["kernel"], **_window(node.attrs))


@exports("avg_pool")
def _avg_pool(w: _Writer, node: Node, x: str) -> str | None:
    """AveragePool knows dilations since opset 19."""
    window = _window(node.attrs)
    if max(window.get("dilations", (1,))) == 1:
        window.pop("dilations", None)
    elif w.opset < 19:
        return None
    return w.emit("AveragePool", x, kernel_shape=node.attrs["kernel"],
                  count_include_pad=int(node.attrs["count_include_pad"]), **window)  # fmt: skip


@exports("sum_pool")
def _sum_pool(w: _Writer, node: Node, x: str) -> str:
    """ONNX has no such op: a convolution of each channel with ones."""
    channels, kernel = node.type.dims[1], node.attrs["kernel"]
    ones = w.constant(np.ones((channels, 1, *kernel), node.type.dtype.numpy))
    return w.emit("Conv", x, ones, group=channels, **_window(node.attrs))


@exports("batch_norm")
def _batch_norm(w: _Writer, node: Node, *operands: str) -> str:
    return w.emit("BatchNormalization", *operands, epsilon=node.attrs["eps"])


@exports("layer_norm")
def _layer_norm(w: _Writer, node: Node, x: str, *affine: str) -> str | None:
    if w.opset < 17 or not affine:
        return None
    return w.emit("LayerNormalization", x, *affine, axis=node.attrs["axis"],
                  epsilon=node.attrs["eps"])  # fmt: skip


# ── movement ──


def _shape(w: _Writer, node: Node) -> str:
    """The result's shape as a constant; one symbolic size may be left to ONNX as -1."""
    symbols = [d for d in node.type.shape if isinstance(d, Sym)]
    if len(symbols) > 1 or (symbols and node.op != "reshape"):
        raise ValueError(f"{node!r}: cannot write a shape with symbols {symbols} into ONNX")
    return w.constant(np.array([-1 if isinstance(d, Sym) else d for d in node.type.shape],
                               np.int64))  # fmt: skip


@exports("reshape")
def _reshape(w: _Writer, node: Node, x: str) -> str:
    shape = _shape(w, node)
    if 0 in node.type.shape and w.opset >= 14:
        return w.emit("Reshape", x, shape, allowzero=1)
    return w.emit("Reshape", x, shape)


@exports("expand")
def _expand(w: _Writer, node: Node, x: str) -> str:
    return w.emit("Expand", x, _shape(w, node))


@exports("transpose")
def _transpose(w: _Writer, node: Node, x: str) -> str:
    perm = node.attrs["perm"]
    return w.emit("Transpose", x, perm=perm) if perm else w.emit("Identity", x)


@exports("concat")
def _concat(w: _Writer, node: Node, *parts: str) -> str:
    return w.emit("Concat", *parts, axis=node.attrs["axis"])


@exports("slice")
def _slice(w: _Writer, node: Node, x: str) -> str:
    """Axes that are kept whole are left out; a stop of -1 (walking backwards) is far outside."""
    old = node.inputs[0].type.shape
    steps = node.attrs["steps"] or (1,) * len(old)
    parts = [
        (a, start, -(2**31) if stop == -1 else stop, step)
        for a, (start, stop, step) in enumerate(
            zip(node.attrs["starts"], node.attrs["stops"], steps, strict=True)
        )
        if (start, stop, step) != (0, old[a], 1)
    ]
    if not parts:
        return w.emit("Identity", x)
    axes, starts, stops, steps = (np.array(v, np.int64) for v in zip(*parts, strict=True))
    return w.emit("Slice", x, *(w.constant(v) for v in (starts, stops, axes, steps)))


@exports("pad")
def _pad(w: _Writer, node: Node, x: str) -> str:
    """Padding between neighbours: give each element an axis of its own, pad that, cut the end."""
    operand, fill = node.inputs[0].type, np.array(node.attrs["value"], node.type.dtype.numpy)
    gaps = node.attrs["interior"] or (0,) * operand.rank
    if any(gaps):
        dims = operand.dims
        apart = [size for n in dims for size in (n, 1)]
        x = w.emit("Reshape", x, w.constant(np.array(apart, np.int64)))
        high = [size for g in gaps for size in (0, g)]
        x = _padded(w, x, [0] * len(high), high, fill)
        wide = [n * (g + 1) for n, g in zip(dims, gaps, strict=True)]
        x = w.emit("Reshape", x, w.constant(np.array(wide, np.int64)))
        ends = [n - g if n else 0 for n, g in zip(wide, gaps, strict=True)]
        zeros, axes = [0] * len(ends), list(range(len(ends)))
        x = w.emit("Slice", x, *(w.constant(np.array(v, np.int64)) for v in (zeros, ends, axes)))
    return _padded(w, x, node.attrs["low"], node.attrs["high"], fill)


def _padded(w: _Writer, x: str, low: Sequence[int], high: Sequence[int], fill: np.ndarray) -> str:
    return w.emit("Pad", x, w.constant(np.array([*low, *high], np.int64)), w.constant(fill))


@exports("gather", "gather_elements")
def _gather(w: _Writer, node: Node, x: str, indices: str) -> str:
    name = {"gather": "Gather", "gather_elements": "GatherElements"}[node.op]
    return w.emit(name, x, _index(w, node.inputs[1], indices), axis=node.attrs["axis"])


@exports("scatter_elements", "scatter_nd")
def _scatter(w: _Writer, node: Node, x: str, indices: str, updates: str) -> str:
    name = {"scatter_elements": "ScatterElements", "scatter_nd": "ScatterND"}[node.op]
    attrs = {} if node.op == "scatter_nd" else {"axis": node.attrs["axis"]}
    if node.attrs["reduction"] != "none":
        attrs["reduction"] = node.attrs["reduction"]
    return w.emit(name, x, _index(w, node.inputs[1], indices), updates, **attrs)


def _index(w: _Writer, node: Node, name: str) -> str:
    """ONNX indexes with i32 and i64 only."""
    if node.type.dtype.name in ("i32", "i64"):
        return name
    return w.emit("Cast", name, to=onnx.TensorProto.INT64)


@exports("iota")
def _iota(w: _Writer, node: Node) -> str:
    return w.emit("Identity", w.constant(evaluate(node, [])))
