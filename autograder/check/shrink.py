"""A smaller graph on which an answer still fails: what a student looks at should hold nothing else.

    smallest(graph, fails, calls=200)     # fails(graph) -> True while the failure is there

Hypothesis shrinks the choices that made a program, and stops where no single choice can go. This
works on the program: keep what one node needs, drop an output, a dead node or an unused input, put
an operand or a new input in the place of a node, read an input in the place of an operand or of
another input, make an axis short. Each step leaves fewer operations or smaller tensors, and the
number of calls is bounded, so a verdict depends on no clock. No axis becomes 0 long: where there is
no element, nothing can be seen.

Next room: judging.py, which asks for it after Hypothesis is done.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node, apply, inp
from course_lib.ir.graph.order import topological_order
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import TensorType


def smallest(graph: Graph, fails: Callable[[Graph], bool], calls: int) -> Graph:
    """The smallest graph found in so many calls of `fails`: of fewer calls, one from which no step
    leads to a smaller one that fails."""
    shrunk, tried = True, set()
    while shrunk:
        shrunk = False
        for candidate in smaller(graph):
            text = print_graph(candidate)  # after a step, most of the next ones are those again
            if size(candidate) >= size(graph) or text in tried:
                continue
            tried.add(text)
            if not calls:
                return graph
            calls -= 1
            if fails(candidate):
                graph, shrunk = candidate, True
                break
    return graph


def size(graph: Graph) -> tuple[int, ...]:
    """What must get less: nodes that are no inputs, inputs, outputs, those that are computed,
    elements."""
    computed = len(graph.nodes) - len(graph.inputs)
    elements = sum(n.type.numel for n in graph.nodes if n.type.is_static)
    returned = [n for n in graph.outputs if n.op != "input"]
    return computed, len(graph.inputs), len(graph.outputs), len(returned), elements


def smaller(graph: Graph) -> Iterator[Graph]:
    """Valid graphs that differ from this one by one step, the largest steps first."""
    for step in (
        _alone,
        _without_outputs,
        _without_dead,
        _returned,
        _cut,
        _rewired,
        _merged,
        _shorter,
        _without_inputs,
    ):
        for candidate in step(graph):
            if candidate is not None and candidate.ops and _is_valid(candidate):
                yield candidate


def _is_valid(graph: Graph) -> bool:
    try:
        verify(graph)
    except ValueError:
        return False
    return True


def _alone(graph: Graph) -> Iterator[Graph]:
    """What one node needs, and nothing else; the first nodes first."""
    for node in graph.ops:
        needed = [n for n in topological_order([node]) if n.op != "input"]
        yield Graph(graph.name, graph.inputs, (*graph.inputs, *needed), (node,))


def _without_outputs(graph: Graph) -> Iterator[Graph]:
    for k in range(len(graph.outputs) if len(graph.outputs) > 1 else 0):
        rest = graph.outputs[:k] + graph.outputs[k + 1 :]
        yield Graph(graph.name, graph.inputs, graph.nodes, rest)


def _returned(graph: Graph) -> Iterator[Graph]:
    """An input returned in the place of a node, which may be dead then."""
    for k, node in enumerate(graph.outputs):
        for other in graph.inputs if node.op != "input" else ():
            outputs = (*graph.outputs[:k], other, *graph.outputs[k + 1 :])
            yield Graph(graph.name, graph.inputs, graph.nodes, outputs)


def _without_dead(graph: Graph) -> Iterator[Graph]:
    used = {i for n in graph.nodes for i in n.inputs} | {*graph.outputs, *graph.inputs}
    for node in reversed(graph.nodes):
        if node not in used:
            nodes = tuple(n for n in graph.nodes if n is not node)
            yield Graph(graph.name, graph.inputs, nodes, graph.outputs)


def _without_inputs(graph: Graph) -> Iterator[Graph]:
    used = {i for n in graph.nodes for i in n.inputs} | set(graph.outputs)
    for node in graph.inputs:
        if node not in used:
            inputs = tuple(n for n in graph.inputs if n is not node)
            nodes = tuple(n for n in graph.nodes if n is not node)
            yield Graph(graph.name, inputs, nodes, graph.outputs)


def _cut(graph: Graph) -> Iterator[Graph | None]:
    """In the place of a node: an input or an operand of its type, or else a new input."""
    for node in reversed(graph.nodes):
        if node.op == "input":
            continue
        same = [n for n in (*graph.inputs, *node.inputs) if n.type == node.type]
        for other in dict.fromkeys(same):
            yield _with(graph, {node: other}, graph.inputs)
        if node.type.is_static and node.op != "constant":
            new = inp(_fresh(graph), str(node.type))
            yield _with(graph, {node: new}, (*graph.inputs, new))


def _rewired(graph: Graph) -> Iterator[Graph | None]:
    """One operand less that is computed: an input of its type in its place."""
    for node in reversed(graph.ops):
        for place, operand in enumerate(node.inputs):
            for other in graph.inputs:
                if operand.op != "input" and other.type == operand.type:
                    operands = (*node.inputs[:place], other, *node.inputs[place + 1 :])
                    yield _with(graph, {node: _again(node, operands)}, graph.inputs)


def _merged(graph: Graph) -> Iterator[Graph | None]:
    """One input in the place of another."""
    for one, other in itertools.combinations(graph.inputs, 2):
        if one.type == other.type:
            inputs = tuple(n for n in graph.inputs if n is not other)
            yield _with(graph, {other: one}, inputs)


def _shorter(graph: Graph) -> Iterator[Graph | None]:
    """Every axis of one length made shorter in all inputs, which many ops allow; then in one."""
    lengths = {d for n in graph.inputs if n.type.is_static for d in n.type.dims if d > 1}
    for old in sorted(lengths, reverse=True):
        for some in dict.fromkeys((graph.inputs, *((n,) for n in graph.inputs))):
            for new in sorted({1, 2, old // 2, old - 1} - {old}):
                inputs = {
                    n: inp(n.name, _resized(n.type, old, new)) if n in some else n
                    for n in graph.inputs
                }
                yield _with(graph, inputs, tuple(inputs.values()))


def _with(graph: Graph, instead: dict[Node, Node], inputs: tuple[Node, ...]) -> Graph | None:
    """The graph with other nodes in the place of some; their users read those. What only the old
    ones needed goes. None if the types no longer fit, as those of a reshape."""
    now: dict[Node, Node] = dict(instead)
    pairs: list[tuple[Node, Node]] = []  # (before, after)
    for node in graph.nodes:
        if node in now or node.op == "input":
            now.setdefault(node, node)
            continue
        operands = tuple(now[i] for i in node.inputs)
        same = all(a is b for a, b in zip(operands, node.inputs, strict=True))
        try:
            now[node] = node if same else _again(node, operands)
        except (ValueError, TypeError):
            return None
        pairs.append((node, now[node]))
    outputs = tuple(now[n] for n in graph.outputs)
    was, stays = set(topological_order(graph.outputs)), set(topological_order(outputs))
    kept = [after for before, after in pairs if after in stays or before not in was]
    return Graph(graph.name, inputs, (*inputs, *kept), outputs)


def _again(node: Node, operands: tuple[Node, ...]) -> Node:
    return apply(node.op, *operands, name=node.name, origin=node.origin, **node.attrs)


def _resized(kind: TensorType, old: int, new: int) -> Any:
    dims = tuple(new if d == old else d for d in kind.shape)
    return TensorType(kind.dtype, dims)


def _fresh(graph: Graph) -> str:
    taken = {n.name for n in graph.nodes}
    return next(name for k in range(len(taken) + 1) if (name := f"c{k}") not in taken)
