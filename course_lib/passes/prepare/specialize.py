"""Specialization: give every symbolic size a number, and infer all types again.

graph @f(%x: f32[n,8]) -> (f32[n,8]) {       graph @f(%x: f32[4,8]) -> (f32[4,8]) {
  %0 = relu(%x) : f32[n,8]              ==>    %0 = relu(%x) : f32[4,8]
  return %0                                    return %0
}                                            }

Next room: `widen.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import Dim, Sym, TensorType, fits, product


@takes
def specialize(graph: Graph, types: Sequence[TensorType]) -> Graph:
    """The graph for inputs of exactly these types; itself if it has no symbols.

    Raises ValueError if the types do not fit the graph's inputs, or give one symbol two sizes.
    """
    if len(types) != len(graph.inputs):
        names = [n.name for n in graph.inputs]
        raise ValueError(f"@{graph.name} takes {len(names)} inputs {names}, got {len(types)}")
    sizes: dict[str, int] = {}
    for node, given in zip(graph.inputs, types, strict=True):
        if not fits(given, node.type, sizes):
            known = f" (with {sizes})" if sizes else ""
            raise ValueError(f"input %{node.name} must be {node.type}{known}, got {given}")
    return _with_sizes(graph, sizes) if sizes else graph


def _with_sizes(graph: Graph, sizes: dict[str, int]) -> Graph:
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        new[node] = _specialized(node, tuple(new[i] for i in node.inputs), sizes)
    return Graph(
        graph.name,
        tuple(new[n] for n in graph.inputs),
        tuple(new[n] for n in graph.nodes),
        tuple(new[n] for n in graph.outputs),
    )


def _specialized(node: Node, inputs: tuple[Node, ...], sizes: dict[str, int]) -> Node:
    if node.op == "input":
        shape = tuple(_number(d, sizes) for d in node.type.shape)
        return replace(node, type=node.type.with_shape(shape))
    attrs = {name: _in_attr(value, sizes) for name, value in node.attrs.items()}
    inferred = op_row(node.op).infer([i.type for i in inputs], attrs)
    return replace(node, inputs=inputs, attrs=MappingProxyType(attrs), type=inferred)


def _number(dim: Dim, sizes: dict[str, int]) -> Dim:
    if not isinstance(dim, Sym):
        return dim
    return product([dim.scale, *(sizes.get(f, Sym.named(f)) for f in dim.factors)])


def _in_attr(value, sizes: dict[str, int]):
    if isinstance(value, tuple):
        return tuple(_in_attr(v, sizes) for v in value)
    if isinstance(value, Graph):
        return _with_sizes(value, sizes)
    return _number(value, sizes) if isinstance(value, Sym) else value
