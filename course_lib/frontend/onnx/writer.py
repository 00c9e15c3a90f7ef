"""What an export has written so far, and how it applies the rules that write it.

    w.emit("Softmax", "x", axis=1)   adds an ONNX node and returns the name of its result
    w.constant(array)                adds an initializer and returns its name

Next: `write_rules.py`, one rule for each of our ops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from course_lib.frontend.onnx.table import type_code
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import Sym, TensorType


def info(name: str, type: TensorType) -> onnx.ValueInfoProto:
    """How ONNX declares a value."""
    shape = [str(d) if isinstance(d, Sym) else d for d in type.shape]
    return helper.make_tensor_value_info(name, type_code(type.dtype), shape)


# (writer, node, names of its operands) -> name of the result, or None: write its definition instead
Rule = Callable[..., str | None]


class Writer:
    """Collects ONNX nodes. `rules` has a rule for each op, `names` each node's ONNX name."""

    def __init__(self, graph: Graph, opset: int, rules: Mapping[str, Rule]) -> None:
        self.opset, self.rules = opset, rules
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
        rule, before = self.rules.get(node.op), len(self.nodes)
        name = rule(self, node, *(self.names[i] for i in node.inputs)) if rule else None
        if name is None:
            name = self.by_definition(node)
        wanted = self.names.setdefault(node, name)
        if wanted == name:
            return
        last = self.nodes[-1] if len(self.nodes) > before else None
        if last is not None and name in last.output:
            last.output[list(last.output).index(name)] = wanted
        else:  # nothing was computed: the value is that of an operand
            self.emit("Identity", name, into=wanted)

    def by_definition(self, node: Node) -> str:
        """A composite as its definition, a fused group as its body."""
        if "body" in node.attrs:
            inner = node.attrs["body"]
        else:
            decompose = op_row(node.op).decompose
            if decompose is None:
                raise ValueError(f"{node!r}: ONNX opset {self.opset} has no op for this")
            types = [i.type for i in node.inputs]
            inner = trace(lambda *operands: decompose(operands, node.attrs), *types)
        outer, origin = self.names, self.origin
        self.names = {x: outer[i] for x, i in zip(inner.inputs, node.inputs, strict=True)}
        self.body(inner, origin)
        result = self.names[inner.outputs[0]]
        self.names, self.origin = outer, origin
        return result

    def subgraph(self, graph: Graph, outside: Mapping[Node, str], copies: int) -> onnx.GraphProto:
        """A graph inside a node, which gives each of its results `copies` times.

        outside   those of its inputs that it reads from around the node, with their names there
        """
        names, nodes, origin = self.names, self.nodes, self.origin
        self.names = {n: outside.get(n) or self.fresh(n.name or "x") for n in graph.inputs}
        self.nodes = []
        inputs = [info(self.names[n], n.type) for n in graph.inputs if n not in outside]
        self.body(graph, origin)
        results = [o for o in graph.outputs for _ in range(copies)]
        outputs = [info(self.emit("Identity", self.names[o]), o.type) for o in results]
        body = helper.make_graph(self.nodes, graph.name, inputs, outputs)
        self.names, self.nodes, self.origin = names, nodes, origin
        return body

    def emit(self, op_type: str, *inputs: str, into: str = "", count: int = 1, at: int = 0,
             **attrs: Any) -> str:  # fmt: skip
        """Add an ONNX node; the name of its result (of result `at` if it has several)."""
        results = [self.fresh(op_type.lower()) for _ in range(count)]
        results[at] = into or results[at]
        proto = helper.make_node(op_type, inputs, results, name=self.node_name(op_type))
        proto.attribute.extend(helper.make_attribute(k, v) for k, v in attrs.items())
        self.nodes.append(proto)
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
