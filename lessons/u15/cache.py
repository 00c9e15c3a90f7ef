"""Dynamo's cache of graphs: which call compiles, asked of Dynamo itself.

    asked([("n", "<", 16)], [({"n": 8}, {}), ({"n": 9}, {})])      ->   [0, 1]

A program is a list of conditions on the sizes of its tensor, a call the sizes and other arguments.
The backend counts and gives the graph back, so no C++ is compiled. Next room: text.py.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from course_lib.draw.plots.table import table
from course_lib.models import build
from lessons.u15.dynamo import counting

LIMIT = 8  # torch._dynamo.config.recompile_limit
COMPARE = {"<": operator.lt, ">": operator.gt, "==": operator.eq}
Condition = tuple[str, str, Any]
Call = tuple[dict[str, int], dict[str, Any]]
BATCHES = (8, 4, 16, 1, 8, 2)


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


def drawn_calls(rng: Any, conditions: int = 2) -> tuple[list[Condition], list[Call]]:
    """A few conditions, and calls in which sizes and another argument vary."""
    names = ["n", "m"][: int(rng.integers(1, 3))]
    asks: list[Condition] = []
    for _ in range(int(rng.integers(0, conditions + 1))):
        name, compare = str(rng.choice(names)), str(rng.choice([*COMPARE]))
        other = "m" if name == "n" and "m" in names and rng.random() < 0.4 else None
        asks.append((name, compare, other or int(rng.integers(2, 12))))
    most, flags = int(rng.choice([3, 6, 12])), rng.random() < 0.3
    calls: list[Call] = []
    for _ in range(int(rng.integers(2, 15))):
        sizes = {
            name: int(rng.integers(0 if rng.random() < 0.1 else 1, most + 1)) for name in names
        }
        calls.append((sizes, {"flag": bool(rng.random() < 0.5)} if flags else {}))
    return asks, calls


def calls_table(compiled: Callable[..., list[int]], sizes: Sequence[int] = BATCHES) -> Any:
    """The calls of the course's transformer block with these batches of 16 tokens: which compile by
    an answer to `u15.compiled`, and which by Dynamo."""
    calls: list[Call] = [({"batch": n, "tokens": 16}, {}) for n in sizes]
    mine, theirs = compiled([], calls), served(sizes)
    rows = [[str(k), str(n), *("compiles" if k in found else "" for found in (mine, theirs))]
            for k, n in enumerate(sizes)]  # fmt: skip
    return table(rows, ["call", "sentences", "by your function", "the block, by Dynamo"])


def calls_told(conditions: list[Condition], sizes: Sequence[int]) -> Any:
    """Calls of a function of n numbers: which compile, and what Dynamo guards of n then."""
    import torch
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    function, rows = written(conditions, ({"n": sizes[0]}, {})), []
    known: list[str] = []
    with counting(function) as (called, _):
        for number, n in enumerate(sizes):
            called(torch.zeros(n))
            entries = [_guard(str(e.guard_manager)) for e in _debug_get_cache_entry_list(function)]
            new = [guard for guard in entries if guard not in known]
            known += new
            rows.append([str(number), str(n), *(new or ["no new graph"])])
    return table(rows, ["call", "n", "what the new graph guards of n"])


def _guard(text: str) -> str:
    """What the guards of a graph say of the first size of x: "2 <= n <= 15"."""
    ranges = re.search(r"LAMBDA_GUARD: (.*?size\(\)\[0\].*?)  #", text)
    static = re.search(r"size=\[(\d+)\]", text)
    if ranges:
        return ranges[1].replace("L['x'].size()[0]", "n")
    return f"n == {static[1]}" if static else "nothing"


def served(sizes: Sequence[int] = BATCHES, **options: Any) -> list[int]:
    """The numbers of the calls in which Dynamo compiles the course's block for these batches."""
    import torch

    numbers = []
    with counting(build("block"), **options) as (called, graphs):
        for number, size in enumerate(sizes):
            before = len(graphs)
            called(torch.zeros(size, 16, 256))
            if len(graphs) > before:
                numbers.append(number)
    return numbers
