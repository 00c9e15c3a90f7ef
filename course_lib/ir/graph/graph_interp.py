"""The interpreter of level 1: what a graph means, one numpy call for each node.

    run(graph, [x])  ->  [y]

Every other way to execute a graph is tested against this one. It keeps each value only until its
last use. Next room: `ir/expr.py`, where level 2 begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import fits, type_of
from course_lib.limits import check_room, memory_limit


class OutsideError(IndexError, ValueError):
    """An index in the data is outside the axis that it picks from: an IndexError as everywhere in
    Python, and an error in words about what the user gave, as every other ValueError here."""


@takes
def run(
    graph: Graph,
    inputs: Sequence[Any] | Mapping[str, Any],
    watch: Callable[[Node, np.ndarray], object] | None = None,
) -> list[np.ndarray]:
    """Evaluate `graph`. `inputs` by position or by name; `watch(node, value)` sees every value."""
    arrays = bind(graph, inputs)
    values: dict[Node, np.ndarray] = dict(zip(graph.inputs, arrays, strict=True))
    sizes, limit = {node: _size(node) for node in graph.ops}, memory_limit()
    for node, size in sizes.items():
        if size > limit:  # before hours of work on those before it
            check_room(size, repr(node))
    taken = sum(array.nbytes for array in arrays)
    uses = {node: 0 for node in graph.nodes}
    for node in [i for n in graph.nodes for i in n.inputs] + list(graph.outputs):
        uses[node] += 1
    for node in graph.nodes:
        if node.op != "input":
            size = taken + sizes.get(node, 0)
            if size > limit:
                check_room(size, f"{node!r} together with {taken:,} bytes of other values")
            values[node] = evaluate(node, [values[i] for i in node.inputs])
            taken += _own(values[node])
        if watch is not None:
            watch(node, values[node])
        for operand in node.inputs:
            uses[operand] -= 1
            if not uses[operand] and operand in values:
                taken -= _own(values.pop(operand))
    return [values[node] for node in graph.outputs]


def _size(node: Node) -> int:
    """The bytes of its value, as far as they are known."""
    return node.type.nbytes if node.type.is_static else 0


def _own(array: np.ndarray) -> int:
    """Its bytes, unless they are another array's."""
    return array.nbytes if array.base is None else 0


def value_of(node: Node) -> np.ndarray:
    """The value of a node that needs constants only."""
    return node.value if node.op == "constant" else run(Graph.of([], [node]), [])[0]


def evaluate(node: Node, operands: Sequence[np.ndarray]) -> np.ndarray:
    """The value of one node, given those of its inputs."""
    with np.errstate(all="ignore"):  # 1/0 is inf, as it is in compiled code
        try:
            return np.asarray(op_row(node.op).evaluate(operands, node.attrs))
        except IndexError as error:
            raise OutsideError(f"while computing {node!r}: {error}") from error
        except ValueError as error:
            raise ValueError(f"while computing {node!r}: {error}") from error
        except MemoryError as error:
            raise ValueError(f"there is no memory for computing {node!r}: {error}") from error


def bind(graph: Graph, inputs: Sequence[Any] | Mapping[str, Any]) -> list[np.ndarray]:
    """The inputs as arrays in the graph's order, checked against its types."""
    names = [node.name for node in graph.inputs]
    if isinstance(inputs, Mapping):
        missing = [n for n in names if n not in inputs]
        unknown = [n for n in inputs if n not in names]
        if missing or unknown:
            raise ValueError(
                f"@{graph.name} takes inputs {names}; missing {missing}, unknown {unknown}"
            )
        inputs = [inputs[n] for n in names]
    if len(inputs) != len(names):
        raise ValueError(f"@{graph.name} takes {len(names)} inputs {names}, got {len(inputs)}")
    sizes: dict[str, int] = {}
    return [_checked(n, np.asarray(v), sizes) for n, v in zip(graph.inputs, inputs, strict=True)]


def _checked(node: Node, array: np.ndarray, sizes: dict[str, int]) -> np.ndarray:
    try:
        given = type_of(array)
    except ValueError as error:
        raise ValueError(f"input %{node.name} must be {node.type}: {error}") from None
    if not fits(given, node.type, sizes):
        known = f" (with {sizes})" if sizes else ""
        raise ValueError(f"input %{node.name} must be {node.type}{known}, got {given}")
    return array
