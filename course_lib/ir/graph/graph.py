"""Level 1: a graph of tensor operations in SSA form. A node *is* its value.

    x = inp("x", "f32[4]")
    y = apply("relu", x)                  # a Node; nothing is computed yet
    g = Graph.of([x], [y], name="f")

A node never changes. A pass that wants a different graph makes new nodes for what differs and
shares the rest. Two nodes are equal only if they are the same object: whether two *computations*
are equal is a question for `passes/clean/cse.py`.

Next room: `ir/registry.py`, the table that says what each op means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.exercises import exercise
from course_lib.ir.types import TensorType

NO_ATTRS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Node:
    """One operation and the one value that it defines.

    op      name of a row in `ops.OPS`
    inputs  the nodes whose values it reads, in order
    attrs   compile-time parameters; every attribute of the op's row is present
    type    of the value
    name    a hint for printing; need not be unique
    origin  where it came from in the user's model: torch module paths or ONNX node names
    """

    op: str
    inputs: tuple[Node, ...]
    attrs: Mapping[str, Any]
    type: TensorType
    name: str = ""
    origin: tuple[str, ...] = ()

    @property
    def value(self) -> np.ndarray:
        """The array of a constant."""
        assert self.op == "constant", f"{self.op} has no compile-time value"
        return self.attrs["value"]

    def with_inputs(self, inputs: Sequence[Node]) -> Node:
        """The same operation on other values; this very node if nothing differs."""
        if all(a is b for a, b in zip(self.inputs, inputs, strict=True)):
            return self
        return replace(self, inputs=tuple(inputs))

    def __repr__(self) -> str:
        args = ", ".join(n.name or n.op for n in self.inputs)
        where = f"  # from {', '.join(self.origin)}" if self.origin else ""
        return f"{self.op}({args}) : {self.type}{where}"

    # Arithmetic on nodes builds nodes, so that rewrites and examples read like formulas.
    def __add__(self, other: Any) -> Node:
        return _apply("add", self, other)

    def __radd__(self, other: Any) -> Node:
        return _apply("add", other, self)

    def __sub__(self, other: Any) -> Node:
        return _apply("sub", self, other)

    def __rsub__(self, other: Any) -> Node:
        return _apply("sub", other, self)

    def __mul__(self, other: Any) -> Node:
        return _apply("mul", self, other)

    def __rmul__(self, other: Any) -> Node:
        return _apply("mul", other, self)

    def __truediv__(self, other: Any) -> Node:
        return _apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Node:
        return _apply("div", other, self)

    def __pow__(self, other: Any) -> Node:
        return _apply("pow", self, other)

    def __neg__(self) -> Node:
        return _apply("neg", self)

    def __matmul__(self, other: Any) -> Node:
        return _apply("matmul", self, other)


def _apply(op: str, *operands: Any) -> Node:
    from course_lib.ir.graph.build import apply  # build.py stands above this file

    return apply(op, *operands)


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
    attrs: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRS)

    @staticmethod
    def of(
        inputs: Iterable[Node],
        outputs: Iterable[Node],
        name: str = "main",
        also: Iterable[Node] = (),
    ) -> Graph:
        """The graph of everything that `outputs` (and the nodes in `also`) need."""
        inputs, outputs = tuple(inputs), tuple(outputs)
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
        """A new graph from `fn(node, new_inputs)`, called for each node in order.

        `fn` returns the node that takes this node's place (it may already be in the new graph, or
        be a tree of new nodes), or None to keep the node with its new inputs. Dead nodes stay: this
        helper neither removes nor merges anything.
        """
        new: dict[Node, Node] = {}
        order: list[Node] = []
        placed: set[Node] = set()
        for node in self.nodes:
            inputs = tuple(new[i] for i in node.inputs)
            made = node if node.op == "input" else fn(node, inputs)
            new[node] = node.with_inputs(inputs) if made is None else made
            made_now = topological_order([new[node]], placed)
            order.extend(made_now)
            placed.update(made_now)
        outputs = tuple(new[n] for n in self.outputs)
        return Graph(self.name, self.inputs, tuple(order), outputs, self.attrs)

    def __repr__(self) -> str:
        from course_lib.ir.graph.text import print_graph

        return print_graph(self)


def from_the_top(roots: Iterable[Node], done: Set[Node] = frozenset()) -> list[Node]:
    """The slow way: walk down to a node whose operands are all there, then start again on top."""
    order: dict[Node, None] = {}
    for root in roots:
        while root not in order and root not in done:
            node = root
            while waits := [i for i in node.inputs if i not in order and i not in done]:
                node = waits[0]
            order[node] = None
    return list(order)


@exercise(
    "ir.graph.topological_order",
    unit=1,
    points=3,
    baseline=from_the_top,
    hints=(
        "When you come to a node, what must have happened to its operands before you may put it "
        "into the list? What do you do if you come to it a second time?",
        "Depth first: a stack of nodes to visit. A node is visited twice: the first time it goes "
        "back on the stack with its operands above it, the second time all of them are placed and "
        "it goes into the list.",
        "stack = [(root, False)]; node, ready = stack.pop(). Placed, or in done: go on. Ready: "
        "append it. Else push (node, True), then (operand, False) for each operand.",
    ),
)
def topological_order(roots: Iterable[Node], done: Set[Node] = frozenset()) -> list[Node]:
    """Every node that `roots` need, each after its operands.

    A root needs itself, its operands, their operands, and so on. The list holds each of these
    nodes once, the same objects, and nothing else. Any order in which every node comes after all
    of its operands is right.

    - Roots may need each other, share nodes, or be given twice.
    - Nodes in `done` are placed already: they are not listed, nor is what only they need. `done`
      itself is not changed.
    - A node may read the same operand twice, as in `x * x`.
    - A model can be thousands of nodes deep, and Python's recursion ends at a thousand calls.
    - A node with many users is not walked through again for each of them: the work grows with the
      number of edges, not of paths.

    >>> from course_lib.ir.graph.build import inp, relu
    >>> x = inp("x", "f32[4]")
    >>> y = relu(x)
    >>> [node.op for node in topological_order([y * y])]
    ['input', 'relu', 'mul']
    >>> [node.op for node in topological_order([y * y], done={y})]
    ['mul']
    """
    order: dict[Node, None] = {}
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, operands_placed = stack.pop()
            if node in order or node in done:
                continue
            if operands_placed:
                order[node] = None
                continue
            stack.append((node, True))
            stack.extend((i, False) for i in reversed(node.inputs))
    return list(order)
