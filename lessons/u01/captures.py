"""One model in several languages, and what each of PyTorch's recorders makes of a function.

    languages(model, x)  ->  {"torch.fx": "graph(): ...", "torch.export": ..., ...}

The notebook shows these texts and counts in them. Next room: forms.py, one product on its way down.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from textwrap import shorten
from typing import Any

import torch

from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.frontend import load
from course_lib.ir.graph.graph import print_graph
from lessons.u01.dumps import BY_TVM, GATE, RELAX


class Gate(torch.nn.Module):
    """Two equal products, a tanh that is never read, and a constant that could be folded."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(8, 4)
        self.scale = torch.nn.Parameter(torch.full((4,), 3.0))

    def forward(self, x: Any) -> Any:
        value = self.fc(x)
        gate = torch.sigmoid(self.fc(x))
        spare = torch.tanh(value)  # noqa: F841, as in the notebook
        return value * gate * (self.scale * 2.0)


def languages(model: Any, x: Any) -> dict[str, str]:
    """The texts of the model Gate: torch.fx, torch.export, ONNX twice, ours, Relax, StableHLO."""
    traced, cleaned = _exported(model, x)
    return {
        "torch.fx": f"{torch.fx.symbolic_trace(model).graph}".strip() + "\n",
        "torch.export": f"{torch.export.export(model, (x,)).graph}".strip() + "\n",
        "ONNX, as traced": _onnx_text(traced),
        "ONNX, cleaned up": _onnx_text(cleaned),
        "ours": print_graph(load(model, [x])),
        "Relax": f"{RELAX}({BY_TVM.words})\n",
        "StableHLO": _stablehlo(model, x),
    }


def _exported(model: Any, x: Any) -> tuple[Any, Any]:
    """As traced, and after the exporter's own clean-up: two ONNX files."""
    import onnx

    with contextlib.redirect_stdout(io.StringIO()):
        program = torch.onnx.export(model, (x,), dynamo=True, optimize=False, verbose=False)
        assert program is not None
        traced = onnx.ModelProto()
        traced.CopyFrom(program.model_proto)
        program.optimize()
    return traced, program.model_proto


def _onnx_text(model: Any) -> str:
    dims = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in (*model.graph.value_info, *model.graph.output)}  # fmt: skip
    lines = [f"{node.output[0]} = {node.op_type}({', '.join(node.input)}) : float"
             f"{str(dims.get(node.output[0], [])).replace(' ', '')}\n"
             for node in model.graph.node]  # fmt: skip
    return "".join(lines)


def _stablehlo(model: Any, x: Any) -> str:
    """Made where torch-mlir is installed, else as it was recorded."""
    if find_spec("torch_mlir") is None:
        return GATE
    return stablehlo(model, x)


def stablehlo(model: Any, x: Any) -> str:
    """By torch-mlir, without the weights."""
    from torch_mlir import fx

    module = fx.export_and_import(model, x, output_type="stablehlo")
    return module.operation.get_asm(large_elements_limit=4).split("{-#")[0].strip() + "\n"


def weight_products(text: str) -> int:
    """How many products of x and the weight of `fc` a text of Gate computes."""
    words = ("[target=fc]", "linear.default", "Gemm", "matmul(", "dot_general")
    lines = [line for line in text.splitlines() if " = " in line]
    return sum(any(word in line for word in words) for line in lines)


# ── an `if`, and other sizes ──


def refusal(attempt: Callable[[], Any]) -> str:
    """What the tool says; "records it" where it does not refuse."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # torch prints the graph so far
            attempt()
    except Exception as error:  # each tool has its own
        return f"{type(error).__name__}: {shorten(str(error).splitlines()[0], 110)}"
    return "records it"


@contextlib.contextmanager
def dynamo(function: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any], list[Any]]]:
    """The compiled function, and a list that gets each graph that Dynamo hands to a compiler.

    The "compiler" keeps the graph and runs it as it is, so no C++ compiler is needed.
    """
    graphs: list[Any] = []

    def keep(module: Any, inputs: Sequence[Any]) -> Any:
        graphs.append(module)
        return module.forward

    torch._dynamo.reset()
    try:
        yield torch.compile(function, backend=keep), graphs
    finally:
        torch._dynamo.reset()


def calls(
    function: Callable[..., Any], arguments: Sequence[tuple[str, tuple[Any, ...]]]
) -> Picture:
    """Call it under Dynamo with each of the arguments; what is compiled, and what is used again."""
    rows = []
    with dynamo(function) as (compiled, graphs):
        for words, given in arguments:
            before = len(graphs)
            compiled(*given)
            new = [" ".join(_ops(module)) for module in graphs[before:]]
            rows.append([words, "; ".join(new) or "—", len(graphs)])
    return table(rows, ["call", "graphs that were made for it", "graphs so far"])


def _ops(module: Any) -> list[str]:
    """The operations of a graph, with the numbers that stand in them."""
    ops = []
    for node in module.graph.nodes:
        if node.op.startswith("call"):
            numbers = ", ".join(f"{a:g}" for a in node.args if isinstance(a, (int, float)))
            name = str(getattr(node.target, "__name__", node.target))
            ops.append(f"{name}({numbers})" if numbers else name)
    return ops


def guards(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """What Dynamo will ask about the arguments before it uses the graph again."""
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    with dynamo(function) as (compiled, _):
        compiled(*arguments)
        (entry,) = _debug_get_cache_entry_list(function.__code__)  # pyright: ignore
        lines = str(entry.guard_manager).splitlines()
    kept = [x.split("#")[0] for x in lines if "EQUALS_MATCH" in x or "TENSOR_MATCH" in x]
    return [line.split("+- ")[1].strip() for line in kept]


def who_records(function: Callable[..., Any], x: Any) -> Picture:
    """What three recorders say of a function that may decide on a value."""

    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    module = Module().eval()
    rows = [["torch.fx", refusal(lambda: torch.fx.symbolic_trace(function))],
            ["torch.export", refusal(lambda: torch.export.export(module, (x,)))],
            ["this compiler", refusal(lambda: load(module, [x]))]]  # fmt: skip
    return table(rows, ["tool", "says"])


# ── PyTorch's own passes ──


def by_fx(programs: Mapping[str, Any], answer: Mapping[str, Any]) -> Picture:
    """The nodes that torch.fx's own passes leave, each applied alone, beside the answer."""
    rows = [[name, answer[name][1] or "none", answer[name][0], *_left_by_fx(program)]
            for name, program in programs.items()]  # fmt: skip
    return table(rows, ["program", "by you", "nodes, by you", "recorded", "fold", "dce", "cse"])


def _left_by_fx(program: Any) -> list[int]:
    """How many nodes as recorded, and after fold, dce and cse."""
    from torch.fx import symbolic_trace
    from torch.fx.experimental.const_fold import split_const_subgraphs
    from torch.fx.passes.dialect.common.cse_pass import CSEPass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a weight under a name that it makes up
        folded = split_const_subgraphs(symbolic_trace(program))
        folded.run_folding()
    swept = symbolic_trace(program).graph
    swept.eliminate_dead_code()
    shared = CSEPass()(symbolic_trace(program))
    assert shared is not None
    graphs = (symbolic_trace(program).graph, folded.graph, swept, shared.graph_module.graph)
    return [len(graph.nodes) for graph in graphs]
