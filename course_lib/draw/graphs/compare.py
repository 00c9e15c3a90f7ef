"""Which nodes a pass removed and which it added.

    changes(before, after)  ->  ({div, 2.0}, {mul, 0.5})

Passes share the nodes that they leave alone, so identity answers most of it. A node that was only
rebuilt (because something before it changed) is not a change: it computes the same, or it is the
same operation in the same place. Next room: `lines.py`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Hashable
from difflib import SequenceMatcher

from course_lib.draw.graphs.flatten import Value, flatten
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.node import Node


def changes(before: Graph, after: Graph) -> tuple[set[Node], set[Node]]:
    """Nodes of `before` without a partner in `after`, and the reverse; inside fused nodes too."""
    pairs = partners(before, after)
    gone = {v.node for v in flatten(before)[0]} - set(pairs.values())
    return gone, {v.node for v in flatten(after)[0]} - set(pairs)


def partners(before: Graph, after: Graph) -> dict[Node, Node]:
    """For each node of `after` that was there before, the node of `before` that it was."""
    old, new = flatten(before)[0], flatten(after)[0]
    number = _numbering({v.node for v in old} & {v.node for v in new})
    pairs = []
    for pairing in (_by_key(lambda v: v.node), _by_key(number), _aligned):
        found = pairing(old, new)
        pairs += found
        old = _without(old, [a for a, _ in found])
        new = _without(new, [b for _, b in found])
    return {b.node: a.node for a, b in pairs}


def changed_groups(before: Graph, after: Graph) -> tuple[set[Node], set[Node]]:
    """Fused nodes of one graph whose body the other does not have."""
    old, new = _bodies(before), _bodies(after)
    return (
        {node for node, body in old.items() if body not in new.values()},
        {node for node, body in new.items() if body not in old.values()},
    )


def _bodies(graph: Graph) -> dict[Node, str]:
    fused = dict.fromkeys(f for value in flatten(graph)[0] for f in value.regions)
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
    matcher = SequenceMatcher(None, [_local(v) for v in old], [_local(v) for v in new], False)
    return [
        (old[block.a + k], new[block.b + k])
        for block in matcher.get_matching_blocks()
        for k in range(block.size)
    ]


def _local(value: Value) -> Hashable:
    node = value.node
    if node.op == "constant":
        return (node.op, _digest(node))
    return (node.op, _attrs(node), str(node.type), node.origin)


def _numbering(shared: set[Node]) -> Callable[[Value], Hashable]:
    """Value numbering: the same number for the same operation on the same numbers."""
    numbers: dict[Hashable, int] = {}
    known: dict[Value, int] = {}

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
                known[v] = numbers.setdefault(_key(v, shared, known), len(numbers))
        return known[value]

    return number


def _key(value: Value, shared: set[Node], known: dict[Value, int]) -> Hashable:
    node = value.node
    if node.op == "constant":  # the bytes of a weight are read only where they must be
        return node if node in shared else (str(node.type), _digest(node))
    if node.op == "input":
        return (node.name, str(node.type))
    return (node.op, _attrs(node), str(node.type), tuple(known[o] for o in value.operands))


def _attrs(node: Node) -> str:
    return repr(sorted(node.attrs.items()))


def _digest(node: Node) -> bytes:
    return hashlib.sha256(node.value.tobytes()).digest()
