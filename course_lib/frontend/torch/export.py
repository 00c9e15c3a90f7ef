"""From a torch module to a graph, through `torch.export`.

    class Net(nn.Module):                         graph @net(%x: f32[1,4]) -> (f32[1,2]) {
        fc = nn.Linear(4, 2)                        %fc.weight = constant dense<...> : f32[2,4]
        def forward(self, x):              ==>      %fc.bias = constant dense<...> : f32[2]
            return self.fc(x).relu()                %0 = transpose(%fc.weight) ... loc("fc")
                                                    ...

`torch.export` runs the module once on symbolic tensors and records the ATen ops that it calls.
Each is translated by one rule of `table.py`. Two choices are made here:

- We read the program as exported, where `batch_norm`, `linear` and `layer_norm` are still whole.
  Only what has no rule is decomposed by PyTorch itself into its core ops (`run_decompositions`).
- Weights become constants: the compiler may fold, pack and transpose them. A module that is still
  training changes its weights while it runs, so it is refused.

Next: `captured.py`.
"""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import fx
from torch.export import ExportedProgram, default_decompositions
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from course_lib.frontend.provenance import UnsupportedOps
from course_lib.frontend.torch import table as aten
from course_lib.frontend.torch.calls import Calls, origin, tensor_type
from course_lib.frontend.torch.rules import find_rule
from course_lib.frontend.torch.whole import Whole, as_aten
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, const, inp
from course_lib.ir.graph.verify import verify
from course_lib.ir.types import TensorType

TRACING = threading.RLock()  # torch.export patches its module and its own state: one at a time


def from_torch(
    module: Any, example_inputs: Sequence[Any] | None = None, keep_dead: bool = False
) -> Graph:
    """The graph of a module in eval mode (or of an `ExportedProgram`) for inputs of these sizes.

    `example_inputs` are arrays or tensors. `torch.export` keeps operations that no output needs;
    we import them only with `keep_dead`. Raises `UnsupportedOps` with everything that is missing.
    """
    if isinstance(module, ExportedProgram):
        program, name = module, "main"
    else:
        program, name = exported(module, example_inputs), type(module).__name__.lower()
    _refuse_data_dependent(program, name)
    program = _decompose_unknown(program)
    _refuse_unknown(program, name)
    return verify(_Importer(program).graph(name, keep_dead))


def exported(module: torch.nn.Module, example_inputs: Sequence[Any] | None) -> ExportedProgram:
    """What `torch.export` makes of a module in eval mode; ValueError in words if it cannot."""
    if example_inputs is None:
        raise ValueError("a torch module is traced: give example inputs, one for each argument")
    training = [name or "the module itself" for name, m in module.named_modules() if m.training]
    if training:
        raise ValueError(
            f"this compiler runs inference, but {', '.join(training[:5])} is in training mode "
            "(batch norm would update its statistics, dropout would drop); call model.eval() first"
        )
    inputs = tuple(_tensor(x) for x in example_inputs)
    try:
        with TRACING, torch.no_grad(), Whole(), warnings.catch_warnings(), _unlogged():
            warnings.simplefilter("ignore", FutureWarning)  # torch's own, about its own code
            warnings.filterwarnings("ignore", ".*were assigned during export")  # nn.LSTM's weights
            program = torch.export.export(module, inputs)
        as_aten(program.graph_module)
        return program
    except Exception as error:
        first = str(error).strip().splitlines()
        message = first[0] if first else repr(error)
        if "data-dependent" in message:
            message = (
                "what it runs depends on the value of a tensor, as in `if x.sum() > 0`; "
                f"torch.where chooses between two results. PyTorch says: {message}"
            )
        raise ValueError(f"torch.export cannot trace {type(module).__name__}: {message}") from error


@contextmanager
def _unlogged() -> Iterator[None]:
    """What is wrong with a shape, torch raises, and logs with a traceback of its own before."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _tensor(x: Any) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        return x
    inside = x if isinstance(x, (list, tuple)) else ()
    if isinstance(x, dict) or any(isinstance(v, (torch.Tensor, np.ndarray)) for v in inside):
        raise ValueError(
            f"an example input is a {type(x).__name__} of tensors; this compiler takes each tensor "
            "as an input of its own: wrap the module in one whose forward puts them together"
        )
    array = np.array(x)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"an example input must be an array, a tensor or a number, got {x!r}")
    return torch.from_numpy(array)


# ── which ops have a rule ──


def _calls(program: ExportedProgram) -> list[fx.Node]:
    return [n for n in program.graph.nodes if n.op == "call_function"]


def _unknown(program: ExportedProgram) -> list[fx.Node]:
    return [n for n in _calls(program) if find_rule(n.target) is None]


def _decompose_unknown(program: ExportedProgram) -> ExportedProgram:
    """Let PyTorch spell out what has no rule. In-place ops become pure ones on the way."""
    table: dict[Any, Any] = {}
    before: set[Any] = set()
    while (unknown := {n.target for n in _unknown(program)}) - before:
        before |= unknown
        table = table or dict(default_decompositions())  # a tenth of a second
        with TRACING, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            wanted: dict[Any, Any] = {op: table[op] for op in unknown if op in table}
            program = program.run_decompositions(wanted)
    return program


def _refuse_data_dependent(program: ExportedProgram, name: str) -> None:
    """A size that only the data decide (as in `x[x > 0]`) shows as a symbol in some shape."""
    for node in _calls(program):
        value = node.meta.get("val")
        sizes = value.shape if isinstance(value, torch.Tensor) else ()
        if not all(isinstance(size, int) for size in sizes):
            where = ", ".join(origin(node))
            raise ValueError(
                f"the torch model {name!r}: {node.target} (from {where}) gives a tensor of shape "
                f"{tuple(sizes)}, which is not known at compile time: export with fixed sizes, and "
                "without shapes that depend on data"
            )


def _refuse_unknown(program: ExportedProgram, name: str) -> None:
    missing = [(str(n.target), ", ".join(origin(n))) for n in _unknown(program)]
    if missing:
        raise UnsupportedOps(f"the torch model {name!r}", missing)


# ── the translation ──


class _Importer(Calls):
    """Walks the exported program once."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        self.program = program
        self.inputs: list[Node] = []

    def graph(self, name: str, keep_dead: bool) -> Graph:
        specs = {spec.arg.name: spec for spec in self.program.graph_signature.input_specs}
        outputs: list[Node] = []
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self._placeholder(node, specs[node.name])
            elif node.op == "call_function":
                self.values[node] = self.call(node, node.meta.get("val"))
            elif node.op == "output":
                outputs = self._outputs(node)
            else:
                raise ValueError(
                    f"torch.export gave a node of kind {node.op}: {node.format_node()}"
                )
        dead = [v for v in self.values.values() if isinstance(v, Node)] if keep_dead else []
        return Graph.of(self.inputs, outputs, re.sub(r"\W", "_", name), also=dead)

    def _placeholder(self, node: fx.Node, spec: Any) -> Any:
        if spec.kind == InputKind.USER_INPUT:
            if not isinstance(node.meta.get("val"), torch.Tensor):
                return getattr(spec.arg, "value", None)  # a Python number, fixed by the export
            self.inputs.append(inp(node.name, _tensor_type(node)))
            return self.inputs[-1]
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            tensors: dict[str, Any] = {**self.program.state_dict, **self.program.constants}
        elif spec.kind == InputKind.CONSTANT_TENSOR:
            tensors = self.program.constants
        else:
            raise ValueError(f"input {node.name}: cannot compile an input of kind {spec.kind.name}")
        return const(aten.array(tensors[spec.target]), name=spec.target)

    def _outputs(self, node: fx.Node) -> list[Node]:
        by_name = {n.name: n for n in self.program.graph.nodes}
        results = []
        for spec in self.program.graph_signature.output_specs:
            if spec.kind != OutputKind.USER_OUTPUT:
                raise ValueError(
                    f"the model changes its own state ({spec.target}); this compiler runs pure "
                    "functions: return the new state as an output instead"
                )
            if isinstance(spec.arg, ConstantArgument):
                if spec.arg.value is None:
                    continue  # as nn.MultiheadAttention does without weights: no result at all
                raise ValueError(f"the model returns {spec.arg.value!r}, which is not a tensor")
            value = self.values[by_name[spec.arg.name]]
            if not isinstance(value, Node):
                raise ValueError(f"output {spec.arg.name} is {value!r}, not a tensor")
            results.append(value)
        return results


def _tensor_type(node: fx.Node) -> TensorType:
    """The type of an input."""
    value = node.meta["val"]
    if not all(isinstance(size, int) for size in value.shape):
        raise ValueError(
            f"input {node.name} has a dynamic shape {tuple(value.shape)}: export with fixed sizes"
        )
    return tensor_type(value)
