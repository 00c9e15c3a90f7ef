"""Everything that is smaller than a failure, where that is little enough to try all of it.

    smaller_cases((3, 2, 5), examples)     # (1, 1, 1), (1, 1, 2), (1, 2, 1), ...: by their sum
    smaller_graphs(graph, examples)        # all graphs of fewer operations, of the same ones

A shrinker goes down one step at a time and stops where no step helps; what lies behind that it does
not see. So "the smallest" is only said of what was found after all of these had passed. A case is a
tuple of numbers, of which none gets less than the least that an example has there.

Next room: trial.py, which tries them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.order import topological_order

Op = tuple[str, dict[str, Any], int]  # name, attributes, number of operands


def smaller_cases(case: Any, examples: Sequence[Any]) -> Iterator[Any] | None:
    """The cases with a smaller sum of numbers, the smallest first; None if it is no tuple of
    numbers, alone or in a dataclass."""
    numbers = numbers_in(case)
    alike = [n for e in examples if (n := numbers_in(e)) and numbers and len(n) == len(numbers)]
    if not numbers or not isinstance(case, tuple) or not alike:
        return None
    least = [min(column) for column in zip(numbers, *alike, strict=True)]
    most = [max(column) for column in zip(numbers, *alike, strict=True)]
    return (
        _with_numbers(case, iter(replacement))
        for total in range(sum(least), sum(numbers))
        for replacement in _of_sum(total, least, most)
    )


def numbers_in(case: Any) -> list[int] | None:
    """The numbers of a case from left to right. A text in it stays as it is; None if it holds
    anything else."""
    if isinstance(case, str):
        return []
    if isinstance(case, int):
        return [int(case)]
    if is_dataclass(case):
        parts: Sequence[Any] = [getattr(case, field.name) for field in fields(case)]
    elif isinstance(case, tuple):
        parts = case
    else:
        return None
    lists = [numbers_in(part) for part in parts]
    return None if None in lists else [n for part in lists for n in part or ()]


def _with_numbers(case: Any, numbers: Iterator[int]) -> Any:
    if isinstance(case, str):
        return case
    if isinstance(case, int):
        return type(case)(next(numbers))
    if isinstance(case, tuple):
        return tuple(_with_numbers(part, numbers) for part in case)
    parts = (_with_numbers(getattr(case, field.name), numbers) for field in fields(case))
    return type(case)(*parts)


def _of_sum(total: int, least: list[int], most: list[int]) -> Iterator[list[int]]:
    """All lists of that sum with each number in its range."""
    if not least:
        if total == 0:
            yield []
        return
    rest = sum(least[1:]), sum(most[1:])
    for first in range(max(least[0], total - rest[1]), min(most[0], total - rest[0]) + 1):
        for others in _of_sum(total - first, least[1:], most[1:]):
            yield [first, *others]


def smaller_graphs(graph: Graph, examples: Sequence[Any]) -> Iterator[Graph]:
    """All graphs of fewer nodes that read the same inputs and return one value: a single node of
    any kind that an example has; several of the kinds, and with the constants, of the graph."""
    computed = len(graph.nodes) - len(graph.inputs)
    own = _ops([graph])
    every = _ops([graph, *(e for e in examples if isinstance(e, Graph))])
    for count in range(1, computed):
        for nodes in _rows(count, every if count == 1 else own, graph):
            needed = set(topological_order(nodes))
            inputs = tuple(i for i in graph.inputs if i in needed)
            for output in (*nodes, *inputs):
                yield Graph(graph.name, inputs, (*inputs, *nodes), (output,))


def _ops(graphs: Sequence[Graph]) -> list[Op]:
    ops: dict[str, Op] = {}
    for node in itertools.chain.from_iterable(graph.nodes for graph in graphs):
        if node.op not in ("input", "constant"):
            key = f"{node.op} {len(node.inputs)} {sorted(map(str, node.attrs.items()))}"
            ops.setdefault(key, (node.op, dict(node.attrs), len(node.inputs)))
    return list(ops.values())


def _rows(count: int, ops: list[Op], graph: Graph) -> Iterator[list[Node]]:
    """All rows of so many nodes, each of which may read those before it."""
    if count == 0:
        yield []
        return
    for before in _rows(count - 1, ops, graph):
        yield from ([*before, const(node.value)] for node in graph.constants if count > 1)
        for op, attrs, arity in ops:
            for operands in itertools.product((*graph.inputs, *before), repeat=arity):
                try:
                    yield [*before, apply(op, *operands, **attrs)]
                except (ValueError, TypeError):  # the types do not fit
                    continue
