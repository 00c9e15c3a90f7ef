"""What a program computes, worked out once for all answers to it.

    meaning = meaning_of(graph, random_inputs, 0)      # the value of every node on these inputs
    meaning.outputs_of(dce(graph))                     # only nodes that `graph` does not have run

A class answers with the same nodes that it was given, in other orders or fewer: node identity says
which values are known already.

`in_double` is the same program without the roundings of f32. Next room: properties.py, where
results are compared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import bind, evaluate, run
from course_lib.ir.graph.node import Node, apply, const, inp

Inputs = Callable[..., Sequence[np.ndarray]]
KEPT = 4096  # programs
LARGE = 1 << 20  # bytes: of a program with more, only inputs and outputs are kept


@dataclass(frozen=True)
class Meaning:
    """A program's inputs and outputs as arrays, and the values of its nodes."""

    graph: Graph
    inputs: Sequence[np.ndarray]
    outputs: Sequence[np.ndarray]
    values: dict[Node, np.ndarray]

    def outputs_of(self, graph: Graph) -> list[np.ndarray]:
        """What `graph`, which takes the same inputs, returns for them."""
        known = self.values if graph.inputs == self.graph.inputs else {}
        values = known | dict(zip(graph.inputs, bind(graph, self.inputs), strict=True))
        for node in graph.nodes:
            if node not in values:
                values[node] = evaluate(node, [values[i] for i in node.inputs])
        return [values[node] for node in graph.outputs]


@functools.lru_cache(maxsize=KEPT)
def meaning_of(graph: Graph, inputs: Inputs, *more: int) -> Meaning:
    """The meaning of `graph` on `inputs(graph, *more)`: the same object for the same arguments."""
    values: dict[Node, np.ndarray] = {}
    arrays = inputs(graph, *more)
    outputs = run(graph, arrays, watch=values.__setitem__)
    small = sum(value.nbytes for value in values.values()) <= LARGE
    return Meaning(graph, arrays, outputs, values if small else {})


def in_double(graph: Graph) -> Graph:
    """The same graph with every f32 an f64: inputs, constants, and what is cast."""
    wide = {x: inp(x.name, str(x.type).replace("f32", "f64", 1)) for x in graph.inputs}
    for node in graph.nodes:
        if node.op == "constant":
            value = node.value
            wide[node] = const(value.astype(np.float64) if value.dtype == np.float32 else value)
        elif node.op != "input":
            attrs = {key: _double(value) for key, value in node.attrs.items()}
            wide[node] = apply(node.op, *(wide[one] for one in node.inputs), **attrs)
    return Graph.of([wide[x] for x in graph.inputs], [wide[x] for x in graph.outputs])


def _double(value: Any) -> Any:
    """An attribute, which may be the name of a type, or a body."""
    return in_double(value) if isinstance(value, Graph) else "f64" if value == "f32" else value
