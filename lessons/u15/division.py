"""A graph of ATen divided between our compiler and PyTorch, and the backend that runs such steps.

    nodes, names = listed(graph)                  (name, op, operands) of every node, as rows
    runs(steps, nodes, inputs)                    the steps with symbols in place of numbers
    backend(parts, takes)                         for torch.compile: our kernels where `takes` says

A step is ("ours" or "torch", names, reads, writes). torch is imported where it is used.
Next room: kernels.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from course_lib.compiler import compile
from course_lib.draw.plots.table import table
from course_lib.models import build, example_inputs
from lessons.dynamo import quiet

Node = tuple[str, str, list[str]]
Step = tuple[str, list[str], list[str], list[str]]
Divide = Callable[[list[Node], set[str]], list[Step]]


def in_order(nodes: list[Node], takes: set[str]) -> list[list[str]]:
    """The simplest division: neighbours in the listing that our compiler takes are a part."""
    found: list[list[str]] = []
    open_ = False
    for name, op, _ in nodes:
        if op in takes:
            if not open_:
                found.append([])
            found[-1].append(name)
        open_ = op in takes
    return found


def listed(graph: Any) -> list[Node]:
    """The operations of a graph of ATen as rows. An input, which is no operation, has no row."""
    rows = []
    for node in graph.graph.nodes:
        if node.op == "call_function":
            rows.append((node.name, short(node), [x.name for x in node.all_input_nodes]))
    return rows


def short(node: Any) -> str:
    """aten.addmm.default is "addmm"; taking one result of several counts as the op that made it."""
    if node.target is operator.getitem:
        return short(node.args[0])
    return getattr(node.target, "__name__", str(node.target)).split(".")[0]


class Divided:
    """A graph as its steps: called with its inputs, it runs them.

    steps     of an answer to `u15.parts`
    ran       for each step, what runs it: "course", or "torch" where our compiler refused
    """

    def __init__(self, graph: Any, divide: Divide, takes: set[str]) -> None:
        self.graph, self.inputs = (
            graph,
            [n.name for n in graph.graph.nodes if n.op == "placeholder"],
        )
        self.nodes = {node.name: node for node in graph.graph.nodes}
        output = next(node for node in graph.graph.nodes if node.op == "output")
        self.outputs = [x.name if x is not None else None for x in output.args[0]]
        self.steps = divide(listed(graph), takes)
        self.functions, self.ran = [], []
        for who, names, reads, writes in self.steps:
            module = self._module(names, reads, writes)
            ours = who == "ours" and _ours(module, [self.nodes[x].meta["val"] for x in reads])
            self.functions.append(ours or module)
            self.ran.append("course" if ours else "torch")

    def _module(self, names: list[str], reads: list[str], writes: list[str]) -> Any:
        """The nodes of a step as a module of their own."""
        from torch import fx

        part, copies = fx.Graph(), {}
        for name in reads:
            copies[name] = part.placeholder(name)
        for name in names:
            node = self.nodes[name]
            copies[name] = part.node_copy(node, lambda x: copies[x.name])
        part.output(tuple(copies[name] for name in writes))
        return fx.GraphModule(self.graph, part).eval()

    def __call__(self, *inputs: Any) -> list[Any]:
        known = dict(zip(self.inputs, inputs, strict=True))
        for function, (_, _, reads, writes) in zip(self.functions, self.steps, strict=True):
            known |= dict(zip(writes, function(*(known[x] for x in reads)), strict=True))
        return [None if name is None else known[name] for name in self.outputs]


def _ours(module: Any, values: Sequence[Any]) -> Callable[..., Any] | None:
    """A part as our compiler's machine code; None if it does not take it. It is compiled for values
    of these shapes."""

    try:
        program = compile(module, [np.zeros(tuple(x.shape), np.float32) for x in values])
    except ValueError:
        return None

    def called(*tensors: Any) -> list[Any]:
        results = program(*tensors)
        return [*results] if isinstance(results, tuple) else [results]

    return called


def backend(divide: Divide, lacks: set[str], kept: list[Divided]) -> Callable[..., Any]:
    """A backend of torch.compile: AOTAutograd's graph, divided between our compiler, which is said
    to lack these ops, and PyTorch. What it makes is appended to `kept`."""
    from torch._dynamo.backends.common import aot_autograd

    def compiler(graph: Any, inputs: Any) -> Divided:
        takes = {op for _, op, _ in listed(graph)} - lacks
        kept.append(Divided(graph, divide, takes))
        return kept[-1]

    return aot_autograd(fw_compiler=compiler)


@cache
def listed_block() -> list[Node]:
    """The nodes of the course's transformer block after AOTAutograd."""
    from torch._dynamo.backends.common import aot_autograd

    found: list[Node] = []

    def compiler(graph: Any, inputs: Any) -> Any:
        found.extend(listed(graph))
        return graph.forward

    _called(aot_autograd(fw_compiler=compiler))
    return found


def _called(backend: Any) -> float:
    """The block through this backend: how far its result is from PyTorch's, at most. What the
    backend raises comes as it is, without Dynamo's words around it."""
    import torch
    from torch._dynamo.exc import BackendCompilerFailed

    block, x = build("block"), torch.from_numpy(example_inputs("block")[0])
    with quiet(), torch.no_grad():
        try:
            result = torch.compile(block, backend=backend)(x)
        except BackendCompilerFailed as error:
            raise error.inner_exception from None
        return float((result - block(x)).abs().max())


LACKS: tuple[frozenset[str], ...] = (
    frozenset(), frozenset({"gelu"}), frozenset({"t"}), frozenset({"t", "_softmax"}),
)  # fmt: skip


def divided_table(divide: Divide) -> Any:
    """The block through `torch.compile` on our kernels, for compilers that lack some op."""
    rows = []
    for lacks in LACKS:
        kept: list[Divided] = []
        apart = _called(backend(divide, set(lacks), kept))
        (one,) = kept
        nodes = listed_block()
        takes = {op for _, op, _ in nodes} - lacks
        ours = sum(op in takes for _, op, _ in nodes)
        rows.append([", ".join(sorted(lacks)) or "nothing", f"{ours} of {len(nodes)}",
                     len(in_order(nodes, takes)), one.ran.count("course"), apart])  # fmt: skip
    heads = ["our compiler lacks", "nodes that it takes", "parts, in order", "parts, yours",
             "largest difference from PyTorch"]  # fmt: skip
    return table(rows, heads, exact=heads[2:4])
