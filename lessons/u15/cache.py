"""Dynamo's cache of graphs: which call compiles, asked of Dynamo itself.

    asked([("n", "<", 16)], [({"n": 8}, {}), ({"n": 9}, {})])      ->   [0, 1]

A program is a list of conditions on the sizes of its tensor, a call the sizes and other arguments.
The backend counts and gives the graph back, so no C++ is compiled. Next room: text.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from lessons.u15.dynamo import counting

LIMIT = 8  # torch._dynamo.config.recompile_limit
COMPARE = {"<": operator.lt, ">": operator.gt, "==": operator.eq}
Condition = tuple[str, str, Any]
Call = tuple[dict[str, int], dict[str, Any]]


def holds(condition: Condition, sizes: dict[str, int]) -> bool:
    """The answer to a condition: whether ("n", "<", 16) or ("n", "==", "m") is true of them."""
    name, compare, other = condition
    return COMPARE[compare](sizes[name], sizes.get(other, other))


def asked(conditions: list[Condition], calls: list[Call]) -> list[int]:
    """The numbers of the calls in which Dynamo compiles a graph for a function that asks these."""
    import torch

    function, compiled = written(conditions, calls[0]), []
    with counting(function) as (called, graphs):
        for number, (sizes, others) in enumerate(calls):
            before = len(graphs)
            called(torch.zeros(*sizes.values()), **others)
            if len(graphs) > before:
                compiled.append(number)
    return compiled


def written(conditions: list[Condition], call: Call) -> Callable[..., Any]:
    """A function of a tensor and of the call's other arguments that asks these conditions."""
    sizes, others = call
    lines = [f"def asking({', '.join(['x', *others])}):", f"    {', '.join(sizes)}, = x.shape"]
    lines += ["    y = x + 1"]
    for name, compare, other in conditions:
        lines += [f"    if {name} {compare} {other}:", "        y = y * 2"]
    for name in others:
        lines += [f"    if {name}:", "        y = y + 1"]
    names: dict[str, Any] = {}
    exec("\n".join([*lines, "    return y"]), names)
    return names["asking"]
