"""Some layers stay whole while PyTorch traces, which would spell them out.

    with Whole():
        program = torch.export.export(lstm, inputs)     # calls course_lib.lstm, whose shapes we say
    as_aten(program.graph_module)                       # aten.lstm.input, as without us

`torch.export` gives one op for a recurrent layer either way. But to find the shapes of its results
PyTorch computes it on tensors without numbers, step by step, and that takes seconds for long
sequences.

torch.compile spells out what is defined by other ops, before a backend sees it: `linear` becomes
transpose and a product of matrices between two views, and that three products read the same x is
hard to see then. `Whole(inference=True)` keeps it, and some others. They have no gradient then.
Next: `spelled.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch._C import _nn as nn  # pyright: ignore[reportAttributeAccessIssue]
from torch.library import Library, register_fake
from torch.overrides import TorchFunctionMode

from course_lib.frontend.torch.spelled import SPELLED

_OURS = Library("course_lib", "FRAGMENT")  # the ops are there as long as this is
_ATEN: dict[Any, Any] = {}  # what stands for which op of PyTorch's
_WHOLE: dict[Any, Any] = {}  # what is called in place of which function
_FORWARD: dict[Any, Any] = {}  # the same, without gradients


class Whole(TorchFunctionMode):
    """Inside, an LSTM, GRU or RNN over tensors (not over packed sequences) is called as our op.

    inference   linear and some others, too
    """

    def __init__(self, inference: bool = False) -> None:
        super().__init__()
        self.inference = inference

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if function in _WHOLE and len(args) > 3 and isinstance(args[3], bool):
            function = _WHOLE[function]
        elif self.inference and self._as_it_is(kwargs or {}):
            if function in SPELLED:
                with self:
                    result = SPELLED[function](*args, **(kwargs or {}))
                if result is not NotImplemented:
                    return result
            function = _FORWARD.get(function, function)
        return function(*args, **(kwargs or {}))

    def _as_it_is(self, kwargs: Mapping[str, Any]) -> bool:
        """Neither written to a tensor that is given, nor in the types that autocast chooses."""
        return "out" not in kwargs and not torch.is_autocast_enabled("cpu")


def as_aten(module: fx.GraphModule) -> None:
    """PyTorch's ops in the place of ours."""
    for node in module.graph.nodes:
        node.target = _ATEN.get(node.target, node.target)
    module.recompile()


def _results(x: torch.Tensor, hx: Any, params: Any, has_biases: bool, num_layers: int,
             dropout: float, train: bool, bidirectional: bool,
             batch_first: bool) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The state after each step, and all states after the last one: their shapes."""
    states = [hx] if isinstance(hx, torch.Tensor) else hx
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return (x.new_empty((*x.shape[:-1], width)), *map(torch.empty_like, states))


def _own(aten: Any, shapes: Callable[..., Any]) -> Any:
    """An op of ours with the schema of PyTorch's, of which only the shapes are known."""
    schema = str(aten._schema).removeprefix("aten::")
    _OURS.define(schema)
    register_fake(f"course_lib::{schema.partition('(')[0]}", shapes, lib=_OURS)
    packet = getattr(torch.ops.course_lib, aten._schema.name.removeprefix("aten::"))
    own = getattr(packet, aten._overloadname)
    _ATEN[own] = aten
    return own


for _name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _WHOLE[getattr(torch._VF, _name)] = _own(getattr(torch.ops.aten, _name).input, _results)
for _function, _op in {
    nn.linear: torch.ops.aten.linear.default,
    nn.adaptive_avg_pool2d: torch.ops.aten.adaptive_avg_pool2d.default,
    nn.upsample_nearest2d: torch.ops.aten.upsample_nearest2d.vec,
    nn.upsample_bilinear2d: torch.ops.aten.upsample_bilinear2d.vec,
    torch.instance_norm: torch.ops.aten.instance_norm.default,
    torch.matmul: torch.ops.aten.matmul.default,
}.items():
    _FORWARD[_function] = _own(_op, _op)
for _function in (torch.Tensor.matmul, torch.Tensor.__matmul__):
    _FORWARD[_function] = _FORWARD[torch.matmul]
