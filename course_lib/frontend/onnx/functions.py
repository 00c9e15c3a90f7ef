"""The functions that a model brings along: each call is replaced by what the function does.

    y = twice(x);  twice(a) = Relu(Relu(a))     ->     y = Relu(Relu(x))

25 functions of which each calls the next one twice fit in 2 kB and are 33 million nodes. So what
they grow to is counted first, each function once, from those that call no other one upwards. What
loops grow to shows only as their bodies are copied, so those are counted on the way. Next:
`upgrade.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import onnx
from onnx import inliner

MOST = 100_000  # nodes that functions may add to a file, or loops: a minute's work

Key = tuple[str, str, str]  # domain, name, overload


class Growth:
    """What the loops of a model have cost so far, one in another or not."""

    def __init__(self) -> None:
        self.nodes = self.turns = 0

    def node(self) -> None:
        """One more node is written out. ValueError if that is too many."""
        self.nodes += 1
        if self.nodes > MOST:
            raise ValueError(
                f"written out, the loops of this model have more than {MOST:,} nodes; loops inside "
                "of loops multiply. A loop stays a loop here if its states keep their shapes and "
                "its condition does not depend on data"
            )

    def turn(self) -> None:
        """One more time a condition is computed. ValueError if that is too many."""
        self.turns += 1
        if self.turns > 2 * MOST:
            raise ValueError(f"the loops of this model together count beyond {2 * MOST:,}")


def without_functions(proto: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model with every call replaced by the body of its function; itself if there is none.

    ValueError if a function calls itself, directly or through others, or if they grow too large.
    """
    if not proto.functions:
        return proto
    _check_growth(proto, name)
    try:
        return inliner.inline_local_functions(proto)
    except Exception as error:  # of onnx, in C++: whatever it says
        raise ValueError(f"{name}: onnx cannot inline its functions: {error}") from error


def _check_growth(proto: onnx.ModelProto, name: str) -> None:
    bodies: dict[Key, Sequence[onnx.NodeProto]] = {
        (_domain(f.domain), f.name, f.overload): f.node for f in proto.functions
    }
    calls = {key: [k for k in map(_key, _nodes(body)) if k in bodies]
             for key, body in bodies.items()}  # fmt: skip
    try:
        order = list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        circle = " calls ".join(key[1] for key in reversed(error.args[1]))
        raise ValueError(
            f"{name}: its functions never end, because one calls itself: {circle}"
        ) from None
    grown: dict[Key, int] = {}
    for key in order:  # those that it calls come before it
        grown[key] = _size(bodies[key], grown)
    before = sum(1 for _ in _nodes(proto.graph.node))
    after = _size(proto.graph.node, grown)
    if after - before > MOST:
        raise ValueError(
            f"{name}: with its functions in place of their calls, its {before:,} nodes would be "
            f"{after:,}; functions may add up to {MOST:,}"
        )


def _size(nodes: Iterable[onnx.NodeProto], grown: Mapping[Key, int]) -> int:
    """How many nodes these are when every call is as large as its function has grown."""
    return sum(grown.get(_key(node), 1) for node in _nodes(nodes))


def _nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """All of them, with those of the graphs inside."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from _nodes(attribute.g.node)
            for graph in attribute.graphs:
                yield from _nodes(graph.node)


def _key(node: onnx.NodeProto) -> Key:
    return _domain(node.domain), node.op_type, node.overload


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name
