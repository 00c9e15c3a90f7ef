"""Dynamo, looked at: how many graphs, what each holds, which guards go with it.

    with counting(function) as (called, graphs):     graphs grows as calls compile
        called(x)
    captured(function, x)                            a table: graph, its nodes, why it ended
    guards(function, x)                              what has to hold for the graph, in few words
    backward_table()                                 GELU with a gradient: what is stored for it

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
from lessons.dynamo import gelu, quiet

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

    with quiet(), torch.no_grad():
        yield torch.compile(function, backend=kept, **options), graphs


def graphs_of(function: Callable[..., Any], *inputs: Any) -> list[Any]:
    """The graphs that one call compiles."""
    with counting(function) as (called, graphs), redirect_stdout(StringIO()):
        called(*inputs)
    return graphs


def operations(graph: Any) -> list[str]:
    """What the nodes of a graph call, by name."""
    targets = [node.target for node in graph.graph.nodes if node.op.startswith("call")]
    return [str(getattr(target, "__name__", target)) for target in targets]


def explained(function: Callable[..., Any], *inputs: Any) -> Any:
    """What `torch._dynamo.explain` says of one call."""
    import torch

    with quiet(), redirect_stdout(StringIO()):
        return torch._dynamo.explain(function)(*inputs)


def captured(function: Callable[..., Any], *inputs: Any) -> Any:
    """The graphs of one call, and at which line each of them ended, and why."""
    said = explained(function, *inputs)
    ends = [(one.user_stack[-1].line or "", one.reason.strip().splitlines()[0])
            for one in said.break_reasons]  # fmt: skip
    rows = [[str(k), ", ".join(operations(graph)), *end] for k, (graph, end) in
            enumerate(zip(said.graphs, [*ends, ("return", "")], strict=False))]  # fmt: skip
    return table(rows, ["graph", "what it calls", "the line that ended it", "Dynamo's reason"])


def guards(function: Callable[..., Any], *inputs: Any) -> list[str]:
    """The guards of the last graph that a call compiles, without those that hold for every call."""
    said = explained(function, *inputs)
    codes = [code for guard in said.out_guards or [] for code in guard.code_list or []]
    told = [re.sub(r"\s+", " ", code) for code in codes if not any(w in code for w in SILENT)]
    return list(dict.fromkeys(re.sub(r", \d{6,}\)", ", its address)", code) for code in told))


def halves(partition: Callable[..., Any]) -> tuple[int, int, int]:
    """GELU's forward nodes, the arrays that they store for the backward pass, and its nodes."""
    import torch
    from torch._dynamo.backends.common import aot_autograd

    graphs: list[Any] = []

    def kept(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    backend = aot_autograd(fw_compiler=kept, bw_compiler=kept, partition_fn=partition)
    x = torch.ones(8, 4, requires_grad=True)
    with quiet():
        torch.compile(gelu, backend=backend)(x).sum().backward()
    forward, backward = graphs
    (output,) = (node for node in forward.graph.nodes if node.op == "output")
    return len(operations(forward)), len(output.args[0]) - 1, len(operations(backward))


def backward_table() -> Any:
    """Two ways to divide GELU and its gradient: store what there is, or a minimum cut."""
    from torch._functorch.partitioners import (
        default_partition,
        min_cut_rematerialization_partition,
    )

    rows = [[name, *halves(partition)] for name, partition in (
        ("all that the gradient reads", default_partition),
        ("the fewest bytes, as with Inductor", min_cut_rematerialization_partition))]  # fmt: skip
    heads = ["what is stored", "forward nodes", "stored arrays", "backward nodes"]
    return table(rows, heads, exact=heads[1:])
