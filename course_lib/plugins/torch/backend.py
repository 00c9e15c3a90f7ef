"""What torch.compile calls: Dynamo's graph comes in, a function that computes the same goes out.

    torch.compile(model, backend="course")
                 |  Dynamo: bytecode -> a graph of calls, and guards that say when it holds
    course(graph, inputs)
                 |  AOTAutograd: without mutation, spelled out in ATen ops; in training two graphs
    divide(...)     regions of ours, and what PyTorch runs

AOTAutograd wraps what it gives us: around our code, it writes back what a model changes in place
and makes views of results anew. Where it has nothing to do, its wrapper only takes time: a graph of
inference that neither mutates nor aliases is called directly.

What Dynamo does not capture never comes here, and is in no report: `TORCH_LOGS=graph_breaks` tells
it. LSTM, GRU and RNN it captures only if `torch._dynamo.config.allow_rnn` is True; they are one
kernel each then.

Before a call reaches us, Dynamo evaluates its guards, and fetches each weight out of its module.
That grows with the number of modules and weights, not with the work, and a backend cannot avoid it.
PyTorch lets you leave guards out (`settings.py`).

Nothing of ours may stop a program that runs without us: whatever is raised here, except for wrong
options, is noted in the report, and PyTorch runs the graph. Next room: `settings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch import fx
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import OutputType, ViewAndMutationMeta
from torch._guards import TracingContext

from course_lib.frontend.torch.calls import origin, source_line
from course_lib.frontend.torch.rules import find_rule
from course_lib.frontend.torch.whole import Whole, as_aten
from course_lib.plugins.torch.divide import divide
from course_lib.plugins.torch.record import GraphRecord, begin, forget
from course_lib.plugins.torch.settings import Settings, settings

Function = Callable[..., Any]


def course(
    module: fx.GraphModule,
    inputs: Sequence[Any],
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Function:
    """The backend. ValueError in words for a mode or an option that there is not."""
    asked = settings(mode, options)
    try:
        return _Backend(module, asked).function(inputs)
    except Exception as error:  # AOTAutograd cannot take this graph, or we have a fault
        begin("not compiled", _where(module)).fail(f"{type(error).__name__}: {error}")
        return module.forward


course.reset = forget  # type: ignore[attr-defined]  # torch.compiler.reset() calls it


class _Backend:
    """One graph of Dynamo's on its way."""

    def __init__(self, module: fx.GraphModule, settings: Settings) -> None:
        self.module, self.settings = module, settings
        self.where = _where(module)
        self.direct: Function | None = None

    def function(self, inputs: Sequence[Any]) -> Function:
        tensors = [x for x in (*inputs, *self.module.parameters()) if isinstance(x, torch.Tensor)]
        trains = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
        with nullcontext() if trains else Whole(inference=True):
            wrapped = aot_autograd(
                fw_compiler=partial(self.training, "forward"),
                bw_compiler=partial(self.training, "backward"),
                inference_compiler=self.inference,
                decompositions=_decompositions(),
            )(self.module, inputs)
        return self.direct or wrapped

    def inference(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Function:
        """Weights are constants here, where a model does not write to them itself."""
        meta = TracingContext.get().fw_metadata
        assert meta is not None, "AOTAutograd has analysed the graph"
        as_aten(graph)
        fixed = [k for k in meta.static_input_indices if not meta.input_info[k].mutates_data]
        function, record = self.divided("inference", graph, fixed)
        if _nothing_around(meta) and self.same_arguments(graph) and not record.left:
            self.direct = function
        return make_boxed_func(function)

    def training(self, kind: str, graph: fx.GraphModule, inputs: Sequence[Any]) -> Function:
        """Weights change from step to step: they are inputs."""
        return make_boxed_func(self.divided(kind, graph, [])[0])

    def divided(
        self, kind: str, graph: fx.GraphModule, weights: Sequence[int]
    ) -> tuple[Function, GraphRecord]:
        record = begin(kind, self.where)
        try:
            return divide(graph, weights, self.settings, record), record
        except Exception as error:
            record.fail(f"{type(error).__name__}: {error}")
            return graph.forward, record

    def same_arguments(self, graph: fx.GraphModule) -> bool:
        """Does Dynamo call the module with what the graph takes, and with no parameters before?"""
        count = [len(m.graph.find_nodes(op="placeholder")) for m in (self.module, graph)]
        attributes = [*self.module.parameters(), *self.module.buffers()]
        return count[0] == count[1] and not attributes


def _nothing_around(meta: ViewAndMutationMeta) -> bool:
    """Would AOTAutograd's wrapper hand on arguments and results as they are?"""
    inputs = meta.input_info
    plain = (OutputType.non_alias, OutputType.unsafe_view_alias)
    return (
        not any(i.mutates_data or i.mutates_metadata for i in inputs)
        and all(o.output_type in plain for o in meta.output_info)
        and not meta.num_intermediate_bases
        and not meta.tokens
    )


@cache
def _decompositions() -> dict[Any, Function]:
    """PyTorch spells out what has no rule. But not what draws random numbers: they are PyTorch's
    own then, and the same as without us."""
    table: dict[Any, Function] = dict(core_aten_decompositions())
    return {
        op: function
        for op, function in table.items()
        if find_rule(op) is None and torch.Tag.nondeterministic_seeded not in op.tags
    }


def _where(module: fx.GraphModule) -> str:
    """The first line of the model that is in the graph. PyTorch knows none for its own modules:
    then the first path of a module."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    places = [*map(source_line, nodes), *(path for node in nodes for path in origin(node))]
    return next(filter(None, places), "an empty graph")
