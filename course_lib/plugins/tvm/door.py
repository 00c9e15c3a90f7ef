"""A model through TVM onto the chip: the door of TVM.

    outputs, report = plug(integers, [x], PRESETS["npu"])

    model = compile(integers, PRESETS["npu"])
    model.module       the model as Relax, divided
    model.run([x])     TVM's virtual machine runs its `main`, and calls the chip for each region

Next room: `models.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.layer import Choose
from course_lib.accelerator.compile.partition import Refusal
from course_lib.accelerator.compile.search import choose_tile
from course_lib.accelerator.compile.support import macs
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import bind
from course_lib.plugins.ours import chip_layers, port_bytes
from course_lib.plugins.report import PlugReport
from course_lib.plugins.tvm.codegen import Region, generate
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.partition import left_over, partition
from course_lib.plugins.tvm.write import write


def plug(
    integers: Graph, inputs: Sequence[np.ndarray], chip: Chip
) -> tuple[list[np.ndarray], PlugReport]:
    """The results of an integer graph that TVM has divided, and the report.

    ValueError in words if TVM is not installed, or if Relax has no op for something in the graph.
    """
    model = compile(integers, chip)
    return model.run(inputs), model.report()


@dataclass(frozen=True, eq=False)
class Plugged:
    """A model that TVM runs.

    integers   what it computes
    module     the same as Relax, divided: a function for each region, and `main`, which calls them
    regions    their programs, in the order in which TVM has made them
    refusals   what TVM's CPU computes, and why
    machine    TVM's virtual machine
    """

    chip: Chip
    integers: Graph
    module: Any
    regions: tuple[Region, ...]
    refusals: tuple[Refusal, ...]
    machine: Any

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of `main`; ValueError if the inputs are not those of the graph."""
        tensor = package().runtime.tensor
        given = bind(self.integers, inputs)
        results = self.machine["main"](*(tensor(np.ascontiguousarray(x)) for x in given))
        return [result.numpy() for result in results]

    def report(self) -> PlugReport:
        """What every door says, of all runs until now. Nothing is run."""
        programs = [region.program for region in self.regions]
        layers = tuple(layer for program in programs for layer in chip_layers(program))
        return PlugReport(
            into="tvm",
            chip=self.chip.name,
            subgraphs=len(programs),
            macs=sum(map(macs, self.integers.ops)),
            macs_offloaded=sum(layer.macs for layer in layers),
            cycles=sum(program.timing.total for program in programs),
            dram_bytes=sum(port_bytes(program.program, self.chip) for program in programs),
            refusals=tuple(map(str, self.refusals)),
            layers=layers,
            ran=sum(len(region.exact) for region in self.regions),
            differing=tuple(r.symbol for r in self.regions for exact in r.exact if not exact),
        )


def compile(integers: Graph, chip: Chip, choose: Choose = choose_tile) -> Plugged:
    """An integer graph (`passes/quantize/to_int8.py`) in TVM, what fits on the chip. `choose` gives
    the tile of each product."""
    tvm = package()
    divided = partition(write(integers), chip)
    called, regions = generate(divided, chip, choose)
    # Code for any x86-64: without instructions that round once where two roundings are meant.
    built = tvm.compile(called, target=tvm.target.Target({"kind": "llvm"}))
    machine = tvm.relax.VirtualMachine(built, tvm.cpu())
    refusals = tuple(left_over(divided, chip))
    return Plugged(chip, integers, divided, regions, refusals, machine)
