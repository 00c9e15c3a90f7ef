"""From a graph of ATen ops, as torch.compile captures it, to a graph of ours.

    captured = from_aten(module, [weight, x], constants={0})
    captured.graph        takes x, the weight is a constant of it
    captured.results      what stands for each result of the module: an output, a number, nothing

The ops are those that `export.py` reads, and go through the same table. What is different here:
weights are arguments, sizes may be symbols, and results may be numbers or nothing. A graph with
symbols gets the sizes of the inputs that came: it runs once on tensors without numbers
(`FakeTensorMode`), which gives a type to every value, and a number to every size.

`refusal` says of one op, before anything is compiled, whether the table can translate it.

Next: `calls.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch._subclasses import FakeTensorMode

from course_lib.frontend.torch import table as aten
from course_lib.frontend.torch.calls import Calls, as_number, tensor_type
from course_lib.frontend.torch.rules import find_rule
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.graph.verify import verify

NUMBERS = (bool, int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


@dataclass(frozen=True)
class Result:
    """One result of a module: the next output of the graph, laid out as `like`, a tensor without
    numbers; or, if `like` is None, a number or nothing at all."""

    like: torch.Tensor | None
    value: Any = None


@dataclass(frozen=True)
class Captured:
    """`takes` says which inputs of the module are inputs of the graph, in the graph's order."""

    graph: Graph
    takes: tuple[int, ...]
    results: tuple[Result, ...]


def from_aten(
    module: fx.GraphModule,
    inputs: Sequence[Any],
    constants: Collection[int] = (),
    name: str = "main",
) -> Captured:
    """The graph of a module of ATen ops for these inputs: tensors and numbers.

    constants   the positions of inputs whose values are built in

    ValueError in words for an op that the table cannot translate.
    """
    kinds = _Kinds(module, inputs).of
    calls, takes, results = Calls(), [], []
    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    for k, (node, value) in enumerate(zip(placeholders, inputs, strict=True)):
        if not isinstance(value, torch.Tensor):
            calls.values[node] = value
        elif k in constants:
            calls.values[node] = const(aten.array(value), name=node.name)
        else:
            calls.values[node] = inp(node.name, tensor_type(value))
            takes.append(k)
    for node in module.graph.nodes:
        if node.op == "call_function":
            number = isinstance(kinds[node], NUMBERS)
            calls.values[node] = kinds[node] if number else calls.call(node, kinds[node])
        elif node.op == "output":
            results = [r if isinstance(r, fx.Node) else Result(None, r) for r in node.args[0]]
    given = [calls.values[r] if isinstance(r, fx.Node) else None for r in results]
    graph = Graph.of(
        [calls.values[placeholders[k]] for k in takes],
        [value for value in given if isinstance(value, Node)],
        name,
    )
    told = [
        r if isinstance(r, Result) else Result(kinds[r]) if isinstance(v, Node) else Result(None, v)
        for r, v in zip(results, given, strict=True)
    ]
    return Captured(verify(graph), tuple(takes), tuple(told))


class _Kinds(fx.Interpreter):
    """What each node of a module gives for these inputs: tensors without numbers, sizes."""

    def __init__(self, module: fx.GraphModule, inputs: Sequence[Any]) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.of: dict[fx.Node, Any] = {}
        mode = FakeTensorMode()
        fakes = [
            mode.from_tensor(x.detach(), static_shapes=True) if isinstance(x, torch.Tensor) else x
            for x in inputs
        ]
        with mode, torch.no_grad():
            self.run(*fakes)

    def run_node(self, n: fx.Node) -> Any:
        self.of[n] = super().run_node(n)
        return self.of[n]


# ── can it be translated at all? ──


def refusal(node: fx.Node) -> str:
    """Why the table cannot translate this op, in words; "" if it can.

    The rule is tried on inputs of the types that were captured, symbols as large as they happened
    to be.
    """
    kind = node.meta.get("val")
    if isinstance(kind, NUMBERS):
        return ""  # it computes a size, which is a number when we compile
    if find_rule(node.target) is None:
        return "this compiler has no rule for it"
    calls = Calls()
    try:
        for operand in node.all_input_nodes:
            calls.values[operand] = _stand_in(operand.meta.get("val"))
        for each in kind if isinstance(kind, (list, tuple)) else [kind]:
            _stand_in(each)  # a result has to be one of ours, too
        result = calls.call(node, kind)
    except Exception as error:  # a rule may fail in any way: PyTorch runs the op then
        return str(error).strip().partition("\n")[0] or type(error).__name__
    parts: list[Any] = [u.args[1] for u in node.users if u.target is operator.getitem]
    if isinstance(result, list) and any(result[part] is None for part in parts):
        return "this compiler computes only some of its results"
    return ""


def _stand_in(kind: Any) -> Any:
    """An input of the type that a captured value has; of a number the number that it was."""
    if isinstance(kind, torch.Tensor):
        _check_place(kind)
        return inp("operand", tensor_type(kind))
    if isinstance(kind, (list, tuple)):
        return [_stand_in(each) for each in kind]
    return as_number(kind) if isinstance(kind, NUMBERS) else kind


def _check_place(tensor: torch.Tensor) -> None:
    """ValueError in words for a tensor that lies where, or as, ours do not."""
    if tensor.layout != torch.strided:
        raise ValueError(f"{tensor.layout} tensors are not supported")
    if tensor.device.type != "cpu":
        raise ValueError(f"it runs on {tensor.device}; this compiler is for the processor")
