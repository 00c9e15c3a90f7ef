"""What to offload: the clocks of a plan, and plans that take few.

    total(graph, chip, host, plan)     clocks of a plan: operations, and values that cross
    chosen(graph, chip, host)          the operations that the chip should have
    drawn(rng, 30)                     a program of 30 operations, with clocks for both sides

Next room: tables.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp

START, PORT = 200, 16  # clocks before a value crosses, and bytes of it in a clock from then on
FOREVER = 1 << 40  # clocks, more than any program takes


def crossing(value: Node) -> int:
    """Clocks until a value is on the other side."""
    return START + -(-value.type.nbytes // PORT)


def total(
    graph: Graph, chip: Mapping[Node, int], host: Mapping[Node, int], plan: Collection[Node]
) -> int:
    """Clocks of a program if the chip computes the operations in `plan`, one after another.

    A value crosses once if anything on the other side reads it. Inputs come from the processor,
    outputs go to it, and constants are on both sides from the start.
    """
    clocks = sum(chip[node] if node in plan else host[node] for node in graph.ops)
    for value, users in graph.users().items():
        sides = {value in plan, *(user in plan for user in users)}
        if value in graph.outputs:
            sides.add(False)
        if value.op != "constant" and len(sides) == 2:
            clocks += crossing(value)
    return clocks


def minimum_cut(links: Mapping[tuple[Any, Any], float], start: Any, end: Any) -> set[Any]:
    """What is on the side of `start` after the cheapest cut that separates it from `end`.

        minimum_cut({("chip", "a"): 5, ("a", "host"): 2}, "chip", "host")   ->   {"chip", "a"}

    `links` holds the cost of cutting each link, which leads in one direction only; a link that must
    not be cut costs a very large number. (Edmonds and Karp 1972: shortest paths are filled, one
    after another, until none is left.)
    """
    room: dict[Any, dict[Any, float]] = {}
    for (a, b), cost in links.items():
        room.setdefault(a, {})[b] = room.get(a, {}).get(b, 0) + cost
        room.setdefault(b, {}).setdefault(a, 0)
    while True:
        came: dict[Any, Any] = {start: None}
        queue = deque([start])
        while queue and end not in came:
            at = queue.popleft()
            for to, left in room.get(at, {}).items():
                if left > 0 and to not in came:
                    came[to] = at
                    queue.append(to)
        if end not in came:
            return set(came)
        path, at = [], end
        while at != start:
            path.append((came[at], at))
            at = came[at]
        least = min(room[a][b] for a, b in path)
        for a, b in path:
            room[a][b] -= least
            room[b][a] += least


Case = tuple[Graph, dict[Node, int], dict[Node, int]]
SEEDS = (2, 3, 5, 6, 7, 9)  # of the six programs of the notebook, 30 operations each
FEWEST = (27_224, 29_608, 34_022, 30_385, 28_318, 20_191)  # and their clocks with the best plan


def programs() -> list[Case]:
    """The six programs."""
    return [drawn(np.random.default_rng(seed), 30) for seed in SEEDS]


def drawn(rng: np.random.Generator, size: int) -> Case:
    """A program of large and small values, and the clocks of its operations on both sides. The chip
    lacks some of them, and others are slower there."""
    inputs = inp("x", "f32[64,64]"), inp("y", "f32[64,64]")
    values: list[Node] = [*inputs]
    nodes: list[Node] = []
    kinds, shares = ["relu", "neg", "add", "mul", "reduce_max"], [0.3, 0.2, 0.2, 0.2, 0.1]
    while len(nodes) < size:  # mostly recent values are read, and now and then a constant
        one, two = (values[-int(min(rng.geometric(0.4), len(values)))] for _ in range(2))
        two = const(np.ones((64, 64), np.float32)) if rng.random() < 0.3 else two
        op = str(rng.choice(kinds, p=shares))
        operands = (one, two) if op in ("add", "mul") else (one,)
        attrs = {"axes": (1,), "keepdims": True} if op == "reduce_max" else {}
        nodes.append(apply(op, *operands, **attrs))
        values.append(nodes[-1])
    used = {i for node in nodes for i in node.inputs}
    graph = Graph.of(inputs, [node for node in nodes if node not in used], "drawn")
    chip, host = {}, {}
    for node in nodes:
        host[node] = int(rng.integers(200, 2000))
        if rng.random() < 0.9:
            chip[node] = int(host[node] * rng.choice([0.1, 0.5, 0.8, 1.2]))
    return graph, chip, host
