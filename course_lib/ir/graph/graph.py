"""Level 1: a program as a graph of nodes in SSA form, and its text.

    graph @mlp(%x: f32[1,4]) -> (f32[1,2]) {
      %w = constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : f32[4,2]
      %0 = matmul(%x, %w) : f32[1,2] loc("layers.0")
      %1 = softmax(%0) {axis = -1} : f32[1,2]
      return %1
    }

Constants of up to 16 elements print as numbers, larger ones as `dense<0x...>` (little-endian
bytes), or with `constants="summary"` as `dense<...>`, for people; a summary does not parse back.
Attributes that have their default value are not printed. Next room: `build.py`, which makes
graphs; `parse.py` reads the text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.graph.node import Node
from course_lib.ir.graph.order import topological_order
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import Sym

SMALL = 16  # elements of a constant that are printed as numbers


@dataclass(frozen=True, eq=False)
class Graph:
    """A program: inputs, nodes in an order in which they can be computed, outputs.

    `nodes` includes the inputs and the constants, and may include dead nodes (removing those is a
    pass, `dce`). The order is part of the program: it is the schedule that the memory planner sees.
    """

    name: str
    inputs: tuple[Node, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Node, ...]

    @staticmethod
    def of(
        inputs: Iterable[Node],
        outputs: Iterable[Node],
        name: str = "main",
        also: Iterable[Node] = (),
    ) -> Graph:
        """The graph of everything that `outputs` (and the nodes in `also`) need."""
        inputs, outputs = tuple(inputs), tuple(outputs)
        for node in (*inputs, *outputs):
            if not isinstance(node, Node):
                raise ValueError(f"a graph @{name} has nodes as inputs and outputs, got {node!r}")
        nodes = topological_order([*inputs, *also, *outputs])
        return Graph(name, inputs, tuple(nodes), outputs)

    @property
    def constants(self) -> tuple[Node, ...]:
        return tuple(n for n in self.nodes if n.op == "constant")

    @property
    def ops(self) -> tuple[Node, ...]:
        """The nodes that compute: everything but inputs and constants."""
        return tuple(n for n in self.nodes if n.op not in ("input", "constant"))

    def users(self) -> dict[Node, list[Node]]:
        """Who reads each value. A node that reads it twice is listed twice."""
        result: dict[Node, list[Node]] = {n: [] for n in self.nodes}
        for node in self.nodes:
            for operand in node.inputs:
                result[operand].append(node)
        return result

    def rebuild(self, fn: Callable[[Node, tuple[Node, ...]], Node | None]) -> Graph:
        """A graph from `fn(node, new_inputs)`, called for each node but the inputs, in order; this
        very graph if nothing differs.

        `fn` returns the node that takes this node's place (it may already be in the new graph, or
        be a tree of new nodes), or None to keep the node with its new inputs. Dead nodes stay: this
        helper neither removes nor merges anything.
        """
        new: dict[Node, Node] = {}
        order: list[Node] = []
        placed: set[Node] = set()
        for node in self.nodes:
            inputs = tuple([new[i] for i in node.inputs])
            rebuilt = node if node.op == "input" else fn(node, inputs)
            new[node] = node.with_inputs(inputs) if rebuilt is None else rebuilt
            if new[node] in placed:
                continue
            is_next = placed.issuperset(new[node].inputs)  # the usual case
            added = [new[node]] if is_next else topological_order([new[node]], placed)
            order.extend(added)
            placed.update(added)
        nodes, outputs = tuple(order), tuple(new[n] for n in self.outputs)
        if (nodes, outputs) == (self.nodes, self.outputs):  # nodes are equal if they are the same
            return self
        return Graph(self.name, self.inputs, nodes, outputs)

    def __repr__(self) -> str:
        return print_graph(self)


@takes
def print_graph(graph: Graph, constants: str = "summary") -> str:
    """The graph as text. `constants` is "summary" (for people) or "exact" (parses back)."""
    if constants not in ("summary", "exact"):
        raise ValueError(f'constants must be "summary" or "exact", got {constants!r}')
    return "\n".join(_lines(graph, constants, "")) + "\n"


def value_names(graph: Graph) -> dict[Node, str]:
    """A distinct printable name for each value: its own if that is more than a number, else one."""
    names: dict[Node, str] = {}
    taken: set[str] = set()
    counter = count()
    suffixes: defaultdict[str, count] = defaultdict(lambda: count(1))
    for node in graph.nodes:
        name = _printable(node.name)
        if not name or name.isdigit():
            name = str(next(counter))
        base = name
        while name in taken:
            name = f"{base}_{next(suffixes[base])}"
        names[node] = name
        taken.add(name)
    return names


def _printable(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_.$" else "_" for c in name)


def _title(graph: Graph) -> str:
    name = _printable(graph.name)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def _lines(graph: Graph, constants: str, indent: str) -> list[str]:
    names = value_names(graph)
    parameters = ", ".join(f"%{names[n]}: {n.type}" for n in graph.inputs)
    results = ", ".join(str(n.type) for n in graph.outputs)
    lines = [f"graph @{_title(graph)}({parameters}) -> ({results}) {{"]
    for node in graph.nodes:
        if node.op != "input":
            lines.append(f"{indent}  {_line(node, names, constants, indent + '  ')}")
    lines.append(f"{indent}  return {', '.join('%' + names[n] for n in graph.outputs)}".rstrip())
    lines.append(f"{indent}}}")
    return lines


def _line(node: Node, names: dict[Node, str], constants: str, indent: str) -> str:
    where = f" loc({', '.join(json.dumps(o) for o in node.origin)})" if node.origin else ""
    if node.op == "constant":
        return f"%{names[node]} = constant {_dense(node.value, constants)} : {node.type}{where}"
    args = ", ".join(f"%{names[i]}" for i in node.inputs)
    attrs = _attrs(node, constants, indent)
    return f"%{names[node]} = {node.op}({args}){attrs} : {node.type}{where}"


def _attrs(node: Node, constants: str, indent: str) -> str:
    row = op_row(node.op).attrs
    shown = [
        f"{name} = {_attr(value, constants, indent)}"
        for name, value in node.attrs.items()
        if not (name in row and _same(row[name].default, value))
    ]
    return f" {{{', '.join(shown)}}}" if shown else ""


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


def _attr(value: Any, constants: str, indent: str) -> str:
    if isinstance(value, Graph):
        return "\n".join(_lines(value, constants, indent)).lstrip()
    if isinstance(value, tuple):
        return f"[{', '.join(_attr(v, constants, indent) for v in value)}]"
    if isinstance(value, (Sym, float)):
        return str(value)
    return json.dumps(value)  # str, int, bool, None


def _dense(array: np.ndarray, constants: str) -> str:
    if array.size <= SMALL:
        return f"dense<{_numbers(array.tolist(), array.dtype)}>"
    if constants == "summary":
        return "dense<...>"
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return f"dense<0x{little.tobytes().hex()}>"


def _numbers(value: Any, dtype: np.dtype) -> str:
    """Nested lists; floats in the shortest form that reads back as the same number."""
    if isinstance(value, list):
        return f"[{', '.join(_numbers(v, dtype) for v in value)}]"
    if dtype.kind == "f":
        return str(dtype.type(value))
    return json.dumps(value)
