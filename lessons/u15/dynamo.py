"""Dynamo, looked at: how many graphs, what each holds, which guards go with it.

    with counting(function) as (called, graphs):     graphs grows as calls compile
        called(x)
    captured(function, x)                            a table: graph, its nodes, why it ended
    guards(function, x)                              what has to hold for the graph, in few words

The backend gives the graph back as it is, so nothing here needs a C++ compiler. torch is imported
where it is used. Next room: cache.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

from course_lib.draw.plots.table import table

# Guards of every graph, about PyTorch's own state.
SILENT = ("CURRENT_DEVICE", "saved_tensors_hooks", "_indices')")


@contextmanager
def counting(
    function: Callable[..., Any], **options: Any
) -> Iterator[tuple[Callable[..., Any], list[Any]]]:
    """The function as Dynamo runs it, from an empty cache, and the graphs as they come. `options`
    are those of `torch.compile`."""
    import torch

    graphs: list[Any] = []

    def kept(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    try:
        with torch.no_grad():
            yield torch.compile(function, backend=kept, **options), graphs
    finally:
        torch._dynamo.reset()


def graphs_of(function: Callable[..., Any], *inputs: Any) -> list[Any]:
    """The graphs that one call compiles."""
    with counting(function) as (called, graphs), redirect_stdout(StringIO()):
        called(*inputs)
    return graphs


def operations(graph: Any) -> list[str]:
    """The calls of a graph, by the names of their functions."""
    return [node.name for node in graph.graph.nodes if node.op.startswith("call")]


def captured(function: Callable[..., Any], *inputs: Any) -> Any:
    """The graphs of one call, and why each but the last one ended."""
    import torch

    torch._dynamo.reset()
    with redirect_stdout(StringIO()):
        said = torch._dynamo.explain(function)(*inputs)
    torch._dynamo.reset()
    reasons = [_reason(one) for one in said.break_reasons]
    rows = [[str(k), ", ".join(operations(graph)), why]
            for k, (graph, why) in enumerate(zip(said.graphs, [*reasons, "the function returns"],
                                                 strict=False))]  # fmt: skip
    return table(rows, ["graph", "nodes", "what ended it"])


def _reason(found: Any) -> str:
    """The first line of why the graph ended, and where in the function."""
    first = found.reason.strip().splitlines()[0]
    line = found.user_stack[-1].line if found.user_stack else ""
    return f"{first}: {line}" if line else first


def guards(function: Callable[..., Any], *inputs: Any) -> list[str]:
    """The guards of the last graph that a call compiles, without those that hold for every call."""
    import torch

    torch._dynamo.reset()
    with redirect_stdout(StringIO()):
        said = torch._dynamo.explain(function)(*inputs)
    torch._dynamo.reset()
    codes = [code for guard in said.out_guards or [] for code in guard.code_list or []]
    told = [re.sub(r"\s+", " ", code) for code in codes if not any(w in code for w in SILENT)]
    return list(dict.fromkeys(re.sub(r", \d{6,}\)", ", its address)", code) for code in told))
