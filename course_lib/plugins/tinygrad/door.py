"""The door of tinygrad: a quantized model as Tensor code on our chip, and the report.

    outputs, report = plug(integers, [x], PRESETS["npu"])
    report.macs_share     ->   1.0;  without our rule (`../narrow.py`) 0.6

tinygrad sees tiles, not layers: a product is a kernel in which lanes load, the chip multiplies
tiles, and lanes add the bias, rescale and round. So the values are those of our own door, and the
multiply-accumulates that the model asks for are, too; clocks and bytes are more, because int32 sums
leave the chip and a tile that sticks out is multiplied whole. Which kernel is which layer is told
by the weights that it reads. Next room: `course_lib/commands/plug.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.support import macs
from course_lib.accelerator.compile.unit import MatrixUnit
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node
from course_lib.ir.types import i32
from course_lib.plugins.narrow import narrowed
from course_lib.plugins.report import PlugLayer, PlugReport
from course_lib.plugins.rewriting import rules_of
from course_lib.plugins.tinygrad.device import Launch, chip_device
from course_lib.plugins.tinygrad.models import run_graph
from course_lib.plugins.tinygrad.rules import added
from course_lib.plugins.tinygrad.session import session

NOTE = (
    "tinygrad hands over tiles: bias, rescaling, ReLU and all that is no product runs on the lanes "
    "beside the chip; int32 sums cross the port, and tiles that stick out are multiplied whole "
    "({issued:,} multiply-accumulates issued)"
)


def plug(
    integers: Graph, inputs: Sequence[np.ndarray], chip: Chip, rule: bool = True
) -> tuple[list[np.ndarray], PlugReport]:
    """The results of an integer graph in tinygrad, with our rule or without, and the report."""
    with (
        session(chip_device(chip)) as launches,
        added(rules_of(narrowed)) if rule else nullcontext(),
    ):
        ran = run_graph(integers, inputs)
    layers, refusals = [], []
    for node, launch in kernels(integers, launches, ran.weights).items():
        why = refused(node, launch, chip) or _beside(ran.weights.get(_weights(node)), launch)
        if why:
            refusals.append(f"{node.op} : {node.type}: {why}")
        else:
            assert launch is not None
            layers.append(PlugLayer((*node.origin, node.op)[0], node.op, macs(node), launch.cycles,
                                    launch.dram_bytes))  # fmt: skip
    return ran.outputs, PlugReport(
        into="tinygrad",
        chip=chip.name,
        subgraphs=sum(launch.tiles > 0 for launch in launches),
        macs=sum(map(macs, integers.ops)),
        macs_offloaded=sum(layer.macs for layer in layers),
        cycles=sum(launch.cycles for launch in launches),
        dram_bytes=sum(launch.dram_bytes for launch in launches),
        refusals=tuple(refusals),
        layers=tuple(layers),
        notes=(NOTE.format(issued=sum(launch.macs for launch in launches)),),
        ran=sum(launch.tiles > 0 for launch in launches),
        differing=tuple(launch.kernel for launch in launches if launch.differing),
    )


def kernels(
    graph: Graph, launches: Sequence[Launch], weights: Mapping[bytes, int]
) -> dict[Node, Launch | None]:
    """The kernel that computes each product: the one that reads its weights. Products that have
    none, as in attention, have in order the kernels with products of tiles that are left; None if
    there are more or fewer of these."""
    by_argument = {at: launch for launch in launches for at in launch.arguments}
    launch_of = {
        node: by_argument.get(weights.get(_weights(node), -1)) for node in graph.ops if macs(node)
    }
    taken = set(map(id, launch_of.values()))
    left = [
        other for other in launches if (other.tiles or other.on_host) and id(other) not in taken
    ]
    without = [node for node in launch_of if not _weights(node) and node.type.dtype == i32]
    if len(left) == len(without):
        launch_of |= dict(zip(without, left, strict=True))
    return launch_of


def refused(node: Node, launch: Launch | None, chip: Chip) -> str:
    """Why a product is not on the chip; "" if it is. `launch` is the kernel that computes it."""
    unit = MatrixUnit.of(chip)
    kinds = {i.type.dtype.name for i in node.inputs[:2]}
    if kinds != {unit.takes}:
        return f"it multiplies {' and '.join(sorted(kinds))}, the chip's cells {unit.takes}"
    if launch is None:
        return "it cannot be told which kernel computes it"
    if launch.on_host:
        return f"the kernel that makes its operand stores it wider, so it need not be {unit.takes}"
    if not launch.tiles:
        return (
            "tinygrad's scheduler takes a tensor core only where each operand has an axis that the "
            f"other lacks, and pads none to {unit.m} from {unit.m // 4} or less"
        )
    return ""


def _beside(weights: int | None, launch: Launch | None) -> str:
    """Why a product is not on the chip although its kernel uses it."""
    if weights is None or launch is None or weights in launch.multiplied:
        return ""
    return "its kernel computes two products, and tinygrad gives one of them to the tensor core"


def _weights(node: Node) -> bytes:
    """The bytes of a product's weights; none if they are not known before the model runs."""
    weights = node.inputs[1]
    return weights.value.tobytes() if weights.op == "constant" else b""
