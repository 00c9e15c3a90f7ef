"""A graph of ATen divided between our compiler and PyTorch, and the backend that runs such steps.

    nodes, names = listed(graph)                  (name, op, operands) of every node, as rows
    runs(steps, nodes, inputs)                    the steps with symbols in place of numbers
    backend(parts, takes)                         for torch.compile: our kernels where `takes` says

A step is ("ours" or "torch", names, reads, writes). torch is imported where it is used.
Next room: kernels.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Node = tuple[str, str, list[str]]
Step = tuple[str, list[str], list[str], list[str]]
Divide = Callable[[list[Node], set[str]], list[Step]]
LINEAR = {"addmm", "bmm", "mm"}


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
    """aten.addmm.default is "addmm"; operator.getitem is "getitem"."""
    name = getattr(node.target, "__name__", str(node.target))
    return name.split(".")[0]


class Divided:
    """A graph as its steps: called with its inputs, it runs them.

    steps     of an answer to `u15.parts`
    ran       for each step, what runs it: "course", or "torch" where our compiler refused
    """

    def __init__(self, graph: Any, inputs: Sequence[Any], divide: Divide, takes: set[str]) -> None:
        self.graph, self.inputs = graph, [n.name for n in graph.graph.nodes if n.op == "placeholder"]
        self.nodes = {node.name: node for node in graph.graph.nodes}
        output = next(node for node in graph.graph.nodes if node.op == "output")
        self.outputs = [x.name if x is not None else None for x in output.args[0]]
        self.steps = divide(listed(graph), takes)
        known = dict(zip(self.inputs, inputs, strict=True))
        self.functions, self.ran = [], []
        for who, names, reads, writes in self.steps:
            module = self._module(names, reads, writes)
            values = module(*(known[x] for x in reads))
            known |= dict(zip(writes, values, strict=True))
            ours = who == "ours" and _ours(module, [known[x] for x in reads])
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
        return fx.GraphModule(self.graph, part)

    def __call__(self, *inputs: Any) -> list[Any]:
        known = dict(zip(self.inputs, inputs, strict=True))
        for function, (_, _, reads, writes) in zip(self.functions, self.steps, strict=True):
            known |= dict(zip(writes, function(*(known[x] for x in reads)), strict=True))
        return [None if name is None else known[name] for name in self.outputs]


def _ours(module: Any, inputs: Sequence[Any]) -> Callable[..., Any] | None:
    """A part as our compiler's machine code; None if it does not take it."""
    import torch

    from course_lib.compiler import compile

    try:
        program = compile(module, [x.detach().numpy() for x in inputs])
    except ValueError:
        return None

    def called(*tensors: Any) -> list[Any]:
        results = program(*(x.detach().numpy() for x in tensors))
        listed = results if isinstance(results, (list, tuple)) else [results]
        return [torch.from_numpy(x) for x in listed]

    called.kernels = program.report().kernels if hasattr(program.report(), "kernels") else None
    return called
