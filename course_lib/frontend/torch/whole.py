"""Recurrent layers stay whole while PyTorch traces: its own trace goes through every step.

    with Whole():
        program = torch.export.export(lstm, inputs)     # calls course_lib.lstm, whose shapes we say
    as_aten(program)                                    # aten.lstm.input, as without us

`torch.export` gives one op for a layer either way. But to find the shapes of its results PyTorch
computes it on tensors without numbers, step by step, and that takes seconds for long sequences.
Next: `table.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.library import Library, register_fake
from torch.overrides import TorchFunctionMode

_OURS = Library("course_lib", "FRAGMENT")  # the ops are there as long as this is
_ATEN: dict[Any, Any] = {}  # what stands for which op of PyTorch's
_WHOLE: dict[Any, Any] = {}  # what is called in place of which function


class Whole(TorchFunctionMode):
    """Inside, an LSTM, GRU or RNN over tensors (not over packed sequences) is called as our op."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function in _WHOLE and len(args) > 3 and isinstance(args[3], bool):
            function = _WHOLE[function]
        return function(*args, **(kwargs or {}))


def as_aten(program: ExportedProgram) -> ExportedProgram:
    """The same program with PyTorch's ops in the place of ours."""
    for node in program.graph.nodes:
        node.target = _ATEN.get(node.target, node.target)
    program.graph_module.recompile()
    return program


def _results(x: torch.Tensor, hx: Any, params: Any, has_biases: bool, num_layers: int,
             dropout: float, train: bool, bidirectional: bool,
             batch_first: bool) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The state after each step, and all states after the last one: their shapes."""
    states = [hx] if isinstance(hx, torch.Tensor) else hx
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return (x.new_empty((*x.shape[:-1], width)), *map(torch.empty_like, states))


for _name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _aten = getattr(torch.ops.aten, _name).input
    _OURS.define(str(_aten._schema).removeprefix("aten::"))
    register_fake(f"course_lib::{_name}.input", _results, lib=_OURS)
    _ours = getattr(torch.ops.course_lib, _name).input
    _ATEN[_ours], _WHOLE[getattr(torch._VF, _name)] = _aten, _ours
