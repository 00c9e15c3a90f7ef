"""Unit 2: counting what passes leave, on one program, in every order, on every model.

    left_after(graph, [decompose, fold, dce])     # [("import", 166), ("decompose", 171), ...]

Next room: autograder/units/u02/checks.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import bars
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, const
from course_lib.passes.infra.manager import Pass, pass_name, run_passes

Side = Callable[[Node], Any]  # one side of a rule


def left_after(graph: Graph, passes: Sequence[Pass]) -> list[tuple[str, int]]:
    """How many operations there are at first, and after each pass."""
    rows = [("import", len(graph.ops))]
    run_passes(graph, passes, lambda name, now: rows.append((name, len(now.ops))))
    return rows


def ladder(graph: Graph, passes: Sequence[Pass], title: str) -> Picture:
    """The same as bars."""
    return bars(left_after(graph, passes), "operations", title)


def same_bits(a: Graph, b: Graph, inputs: Sequence[np.ndarray]) -> bool:
    """Do two programs compute the same on these inputs, bit for bit?"""
    pairs = zip(run(a, inputs), run(b, inputs), strict=True)
    return all(x.tobytes() == y.tobytes() for x, y in pairs)


def both_sides(rule: tuple[Side, Side], number: float | np.floating) -> list[np.ndarray]:
    """What the two sides of a rule, such as `CANDIDATES["x + 0.0 -> x"]`, make of an f32 number."""
    graphs = [trace(lambda x, side=side: _as_node(side(x)), "f32[]") for side in rule]
    with np.errstate(over="ignore"):
        return [run(graph, [np.asarray(number, np.float32)])[0] for graph in graphs]


def _as_node(value: Any) -> Node:
    return const(value, "f32") if isinstance(value, float) else value


def same_number(a: np.ndarray, b: np.ndarray) -> bool:
    """Have two f32 numbers the same bits? All NaNs count as one number."""
    return a.tobytes() == b.tobytes() or bool(np.isnan(a) and np.isnan(b))


def zero_additions(graph: Graph) -> list[Node]:
    """The operations that add a constant full of 0.0."""
    return [
        n for n in graph.ops
        if n.op == "add" and any(i.op == "constant" and not i.value.any() for i in n.inputs)
    ]  # fmt: skip


def kinds(graph: Graph, *ops: str) -> int:
    """How many operations of these kinds a program has."""
    return sum(node.op in ops for node in graph.ops)


def orders(graph: Graph, passes: Sequence[Pass], cost: Callable[[Graph], Any]) -> Counter[Any]:
    """In how many of all the orders of these passes, each run once, the program costs what."""
    reached: dict[tuple[Pass, ...], Graph] = {(): graph}
    for length in range(1, len(passes) + 1):
        for order in itertools.permutations(passes, length):
            reached[order] = order[-1](reached[order[:-1]])
    return Counter(cost(reached[order]) for order in itertools.permutations(passes))


def in_order(graph: Graph, order: Sequence[Pass]) -> str:
    """One order in words, and what it leaves."""
    left = run_passes(graph, order)
    names = ", ".join(pass_name(one) for one in order)
    costly = kinds(left, "div", "pow")
    return f"{names}: {len(left.ops)} operations, {costly} of them divisions or powers"
