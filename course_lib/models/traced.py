"""The course's models as graphs: PyTorch traces each once on a machine, and the graph is kept.

    traced("resnet18")                              # what `load` makes of the torch module
    traced("resnet18", [(1, 3, 64, 64)])            # for a smaller image

Only the first call needs torch, whose imports and trace take a few seconds. Kept are the text of
the graph, with its weights as inputs, and the bytes of the weights (`course_lib/keep.py`). Next
room: `exported.py`, the same models as ONNX files.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from course_lib.exercises import plugs_now, slot
from course_lib.frontend import load
from course_lib.ir.graph.graph import SMALL, Graph, print_graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.graph.parse import parse_graph
from course_lib.ir.graph.verify import verify
from course_lib.keep import Parts, kept, sources
from course_lib.models import MODELS, build

ROOMS = ("frontend", "ir", "models")  # what a graph depends on


def traced(name: str, shapes: Sequence[tuple[int, ...]] | None = None) -> Graph:
    """The model of that name as a graph, for float32 inputs of these shapes: by default, of those
    in `MODELS`. Traced each time while an answer to an exercise of these rooms is plugged in, if
    the compiler runs through it, as through all that have a stand-in.

    Raises ValueError for a name that the course does not have.
    """
    if name in MODELS and shapes is None:
        shapes = MODELS[name].shapes
    if any(plug.split(".")[0] in ROOMS and slot(plug).baseline for plug in plugs_now()):
        return _trace(name, shapes or ())
    key = repr((name, shapes, version("torch"), sources(*ROOMS)))
    return _graph(*kept("graphs", key, lambda: _parts(_trace(name, shapes or ()))))


def _trace(name: str, shapes: Sequence[tuple[int, ...]]) -> Graph:
    return load(build(name), [np.zeros(shape, np.float32) for shape in shapes])


def _parts(graph: Graph) -> Parts:
    """The text of the graph, with weights as inputs, and the bytes of the weights. Constants of a
    few numbers stay in the text."""
    large = [c for c in graph.constants if c.value.size > SMALL and not c.origin]
    weights = {c: inp(c.name, c.type) for c in large}
    inside = graph.rebuild(lambda node, inputs: weights.get(node))
    opened = Graph.of([*graph.inputs, *weights.values()], inside.outputs, graph.name)
    text = print_graph(opened, constants="exact")
    return text.encode(), b"".join(weight.value.tobytes() for weight in weights)


def _graph(text: bytes, data: bytes) -> Graph:
    """The inverse. The weights are the last inputs in the text."""
    opened, at = parse_graph(text.decode()), len(data)
    new: dict[Node, Node] = {}
    for node in reversed(opened.inputs):
        if at:
            at -= node.type.nbytes
            new[node] = _weight(node, data, at)
    for node in opened.nodes:
        new.setdefault(node, node.with_inputs([new[i] for i in node.inputs]))
    inputs = [node for node in opened.inputs if new[node] is node]
    return verify(Graph.of(inputs, [new[o] for o in opened.outputs], opened.name))


def _weight(node: Node, data: bytes, at: int) -> Node:
    """The constant for an input whose numbers begin there."""
    dims = node.type.dims
    array = np.frombuffer(data, node.type.dtype.numpy, int(np.prod(dims)), at).reshape(dims)
    return const(array, name="" if node.name.isdigit() else node.name)
