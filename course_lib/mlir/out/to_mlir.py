"""A graph as MLIR: linalg on tensors, with arith, math, tensor and func around it.

    graph @main(%x: f32[4]) -> (f32[4]) {      func.func @main(%x: tensor<4xf32>) -> ... {
      %0 = relu(%x) : f32[4]               ==>   %e0 = tensor.empty() : tensor<4xf32>
      return %0                                  %v0 = linalg.generic {...} ins(%x : ...) ...
    }                                            return %v0 : tensor<4xf32>
                                               }

It is plain text, and no package of MLIR is needed to write it. Composites are spelled out first;
each op that is left becomes a named op (`named.py`) or its loop form (`pieces.py`). Origins become
locations. Next room: `upstream/engine.py`, which runs it.
"""

from __future__ import annotations

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph, value_names
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row
from course_lib.mlir.out.named import named as named_op
from course_lib.mlir.out.names import ssa_names, symbol
from course_lib.mlir.out.pieces import by_loops
from course_lib.mlir.out.weights import dense, resources
from course_lib.mlir.out.writer import Value, Writer, tensor
from course_lib.passes.prepare.decompose import decompose

WEIGHTS = ("elided", "resources", "arguments")


@takes
def to_mlir(graph: Graph, weights: str = "elided", named: bool = True) -> str:
    """The graph as the function @main of a module, which has the graph's name.

    weights  what becomes of the large constants: "arguments" of the function, behind its own;
             "resources", with their bytes at the end of the text; "elided", named there without
             their bytes, for people
    named    False: every op that has a loop form is a `linalg.generic`

    ValueError that lists, all at once, every op that MLIR cannot be told, and where it came from.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights are one of {', '.join(WEIGHTS)}, got {weights!r}")
    return _Function(prepared(graph), weights, named).text()


def weights_of(graph: Graph) -> list[np.ndarray]:
    """The arrays that `to_mlir(graph, "arguments")` takes behind the graph's inputs."""
    return [n.value for n in large_constants(prepared(graph))]


def prepared(graph: Graph) -> Graph:
    """The graph whose every op MLIR can be told; ValueError as `to_mlir` says."""
    graph = flat(decompose(graph))
    _check(graph)
    return graph


def flat(graph: Graph) -> Graph:
    """The graph without fused groups: their members stand where the group stood."""

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.op != "fused":
            return None
        values = dict(zip(node.attrs["body"].inputs, inputs, strict=True))
        for member in node.attrs["body"].nodes:
            if member.op != "input":
                values[member] = member.with_inputs([values[i] for i in member.inputs])
        return values[node.attrs["body"].outputs[0]]

    return graph.rebuild(visit)


def _check(graph: Graph) -> None:
    """All that stands in the way, in one error."""
    troubles = []
    for node in graph.nodes:
        where = f"   (from {', '.join(node.origin)})" if node.origin else ""
        if not node.type.is_static:
            troubles.append(f"%{node.name} : {node.type} has a size that is not a number{where}")
        elif node.op not in ("input", "constant", "reshape") and op_row(node.op).loops is None:
            troubles.append(f"{node!r}: {node.op} has no loop form")
    if troubles:
        raise ValueError("this graph cannot be said in MLIR:\n  " + "\n  ".join(troubles))


def large_constants(graph: Graph) -> list[Node]:
    """The constants that `weights="arguments"` makes arguments, in their order."""
    return [n for n in graph.constants if n.type.numel > 16]


class _Function:
    """Writes the function: its head, a line or more for each node, its end."""

    def __init__(self, graph: Graph, weights: str, named: bool) -> None:
        self.graph, self.weights, self.named = graph, weights, named
        self.w = Writer()
        self.large = large_constants(graph)
        names = ssa_names(value_names(graph))
        self.value = {n: Value(names[n], tensor(n.type)) for n in graph.nodes}

    def text(self) -> str:
        w, graph = self.w, self.graph
        w.line(f"module @{symbol(graph.name)} {{")
        with w.indented():
            arguments = [*graph.inputs, *(self.large if self.weights == "arguments" else [])]
            shown = ", ".join(f"{self.value[n].name}: {self.value[n].type}" for n in arguments)
            types = ", ".join(self.value[n].type for n in graph.outputs)
            w.line(f"func.func @main({shown}) -> ({types}) {{")
            with w.indented():
                for node in graph.nodes:
                    self._node(node)
                names = ", ".join(self.value[n].name for n in graph.outputs)
                w.line(f"return {names} : {types}" if names else "return")
            w.line("}")
        w.line("}")
        bytes_ = resources({self.value[n].name[1:]: n.value for n in self.large})
        return "\n".join(w.lines) + "\n" + (bytes_ if self.weights == "resources" else "")

    def _node(self, node: Node) -> None:
        name = self.value[node].name
        if node.op == "input" or (node in self.large and self.weights == "arguments"):
            return
        if node.op == "constant":
            attr = f"dense_resource<{name[1:]}>" if node in self.large else dense(node.value)
            self.w.line(f"{name} = arith.constant {attr} : {self.value[node].type}")
            return
        operands = [self.value[i] for i in node.inputs]
        short = named_op(node) if self.named or op_row(node.op).loops is None else None
        value = (short or by_loops)(self.w, node, operands, name)
        assert value.type == self.value[node].type, f"{value} was made for {node!r}"
        self.value[node] = value
