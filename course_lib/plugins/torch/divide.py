"""Which ops of a graph are ours. The regions of them are compiled; PyTorch runs the rest.

    x -> linear -> relu -> fft -> abs -> y      ==>      x -> [linear, relu] -> fft -> [abs] -> y

Every op is asked for first: is there a rule, and does it take these operands? PyTorch's own
partitioner makes regions of those that are ours, as large as they can be without a circle.
Next room: `part.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch import fx, nn
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from course_lib.frontend.torch.calls import origin, source_line
from course_lib.frontend.torch.captured import NUMBERS, refusal
from course_lib.plugins.torch.part import Part
from course_lib.plugins.torch.record import GraphRecord, Left
from course_lib.plugins.torch.settings import Settings


def divide(
    module: fx.GraphModule, weights: Collection[int], settings: Settings, record: GraphRecord
) -> Callable[..., Any]:
    """What runs the graph: its ops in regions of ours, and between them those of PyTorch.

    weights   which inputs stay the same from call to call, as far as one knows
    """
    placeholders = module.graph.find_nodes(op="placeholder")
    constant = {placeholders[k].name for k in weights}
    constant |= {node.name for node in module.graph.nodes if node.op == "get_attr"}
    ours = _ours(module, record)
    if _is_all(module, ours):
        record.regions = 1
        return Part(module, weights, settings, record).call  # Dynamo would wrap a module twice
    regions = [region for region in _regions(module, ours, record) if _worth_it(region, record)]
    fuse_by_partitions(module, regions, "region_", always_return_tuple=True)
    for node in list(module.graph.nodes):
        if node.op == "call_module" and str(node.target).startswith("region_"):
            names = [argument.name for argument in node.all_input_nodes]  # the nodes are new ones
            fixed = {k for k, name in enumerate(names) if name in constant}
            region = module.get_submodule(str(node.target))
            assert isinstance(region, fx.GraphModule)
            setattr(module, str(node.target), Part(region, fixed, settings, record))
            record.regions += 1
    module.recompile()
    return module.forward


def _ours(module: fx.GraphModule, record: GraphRecord) -> dict[fx.Node, None]:
    """The nodes that the table can translate; the record gets the others."""
    ours: dict[fx.Node, None] = {}
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is operator.getitem:  # belongs to the op whose results it picks from
            ours |= {node: None} if node.args[0] in ours else {}
            continue
        why = refusal(node)
        if not isinstance(node.meta.get("val"), NUMBERS):
            _count(node, why, record)
        if not why:
            ours[node] = None
    return ours


def _count(node: fx.Node, why: str, record: GraphRecord) -> None:
    record.ops += 1
    path, line = origin(node), source_line(node)
    for module in path:
        record.lines.setdefault(module, set()).update({line} - {"", module})
    if why:
        _leave(node, why, record)


def _leave(node: fx.Node, why: str, record: GraphRecord) -> None:
    places = dict.fromkeys([*origin(node), source_line(node)])
    where = ", ".join(filter(None, places)) or "an unknown line"
    record.left[node.name] = Left(str(node.target), where, why)


def _is_all(module: fx.GraphModule, ours: Collection[fx.Node]) -> bool:
    """The usual case: every op is ours, and no argument is handed on as it is."""
    others = [node for node in module.graph.nodes if node not in ours]
    computed = all(node in ours for node in module.graph.output_node().all_input_nodes)
    return bool(ours) and computed and all(node.op in ("placeholder", "output") for node in others)


class _Is(OperatorSupportBase):
    """The partitioner's question about one node."""

    def __init__(self, ours: Collection[fx.Node]) -> None:
        self.ours = ours

    def is_node_supported(self, submodules: Mapping[str, nn.Module], node: fx.Node) -> bool:
        return node in self.ours


def _regions(
    module: fx.GraphModule, ours: dict[fx.Node, None], record: GraphRecord
) -> list[dict[fx.Node, int | None]]:
    """The nodes of each region."""
    if not ours:
        return []
    partitioner = CapabilityBasedPartitioner(module, _Is(ours), allows_single_node_partition=True)
    return [partition.nodes for partition in partitioner.propose_partitions()]


def _worth_it(region: Mapping[fx.Node, Any], record: GraphRecord) -> bool:
    """Is there anything to compute? PyTorch gives views without a copy, and computes sizes."""
    ops = [node for node in region if node.target is not operator.getitem]
    work = [node for node in ops if not isinstance(node.meta.get("val"), NUMBERS)]
    if all(_is_view(node) for node in work):
        for node in work:
            _leave(node, "a view, which costs nothing there", record)
        return False
    return True


def _is_view(node: fx.Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view
