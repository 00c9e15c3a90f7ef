"""Which nodes a pass removed and which it added.

    changes(before, after)  ->  gone {div, 2.0}, new {mul, 0.5}, and who was whom

Passes share the nodes that they leave alone, so identity answers most of it. A node that was only
rebuilt (because something before it changed) is not a change: it computes the same, or it is the
same operation in the same place. Next room: `lines.py`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from difflib import SequenceMatcher

from course_lib.draw.graphs.flatten import Value, flatten
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node


@dataclass(frozen=True)
class Changes:
    """Nodes of the first graph without a partner in the second, and the reverse.

    Nodes inside fused nodes count like all others; a fused node is `dissolved` or `formed` if the
    other graph has none with its body. `was` gives, for each node that stayed, who it was before.
    """

    gone: set[Node]
    new: set[Node]
    dissolved: set[Node]
    formed: set[Node]
    was: dict[Node, Node]


def changes(before: Graph, after: Graph) -> Changes:
    """What a pass did, from the graphs before and after it."""
    old, new = flatten(before)[0], flatten(after)[0]
    every = {v.node for v in old}, {v.node for v in new}
    groups = _bodies(old), _bodies(new)
    pairs: Pairs = []
    by_number = _by_key(_numbering(every[0] & every[1]))
    for pairing in (_by_key(lambda v: v.node), by_number, _aligned):
        matched = pairing(old, new)
        pairs += matched
        old = _without(old, [a for a, _ in matched])
        new = _without(new, [b for _, b in matched])
    was = {b.node: a.node for a, b in pairs}
    dissolved, formed = (
        {node for node, body in one.items() if body not in other.values()}
        for one, other in (groups, groups[::-1])
    )
    return Changes(every[0] - set(was.values()), every[1] - set(was), dissolved, formed, was)


def _bodies(values: list[Value]) -> dict[Node, str]:
    fused = dict.fromkeys(f for value in values for f in value.regions)
    return {node: print_graph(node.attrs["body"]) for node in fused}


Pairs = list[tuple[Value, Value]]


def _without(values: list[Value], paired: list[Value]) -> list[Value]:
    taken = set(paired)
    return [v for v in values if v not in taken]


def _by_key(key: Callable[[Value], Hashable]) -> Callable[[list[Value], list[Value]], Pairs]:
    """Each new value with the first old one of the same key that is still alone."""

    def pairing(old: list[Value], new: list[Value]) -> Pairs:
        waiting: dict[Hashable, deque[Value]] = {}
        for v in old:
            waiting.setdefault(key(v), deque()).append(v)
        return [(waiting[key(v)].popleft(), v) for v in new if waiting.get(key(v))]

    return pairing


def _aligned(old: list[Value], new: list[Value]) -> Pairs:
    """The same operation at the same place in the order, though its operands differ."""

    def local(value: Value) -> Hashable:
        node = value.node  # a constant that has no partner by now has other bytes
        return node if node.op == "constant" else (node.op, _attrs(node), node.type, node.origin)

    matcher = SequenceMatcher(None, [*map(local, old)], [*map(local, new)], False)
    blocks = matcher.get_matching_blocks()
    return [(old[b.a + k], new[b.b + k]) for b in blocks for k in range(b.size)]


def _numbering(shared: set[Node]) -> Callable[[Value], Hashable]:
    """Value numbering: the same number for the same operation on the same numbers."""
    numbers: dict[Hashable, int] = {}
    known: dict[Value, int] = {}

    def key(value: Value) -> Hashable:
        node = value.node
        if node.op == "constant":
            if node in shared:  # the bytes of a weight are read once, and only where they must be
                return node
            return (node.type, hashlib.sha256(node.value.tobytes()).digest())
        if node.op == "input":
            return (node.name, node.type)
        return (node.op, _attrs(node), node.type, tuple(known[o] for o in value.operands))

    def number(value: Value) -> int:
        stack = [value]  # our own: models are deeper than Python's recursion limit
        while stack:
            v = stack[-1]
            missing = [o for o in v.operands if o not in known]
            if missing and v not in known:
                stack += missing
                continue
            stack.pop()
            if v not in known:
                known[v] = numbers.setdefault(key(v), len(numbers))
        return known[value]

    return number


def _attrs(node: Node) -> str:
    return repr(sorted(node.attrs.items()))
