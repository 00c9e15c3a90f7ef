"""The door of our own compiler: what `target="systolic"` does, in the words of the other doors.

    outputs, report = plug(integers, [x], PRESETS["npu"])
    report.subgraphs     ->   1, the part of the partition that the chip gets

Clocks and bytes of a layer: clocks from when all before it was done until it is, bytes of its
instructions. Next room: `tinygrad/session.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import DRAM, Chip
from course_lib.accelerator.compile.build import ChipProgram
from course_lib.accelerator.compile.offload import offload
from course_lib.accelerator.compile.report import layer_rows
from course_lib.accelerator.compile.support import macs
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.compiler import compile
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run as interpret
from course_lib.plugins.report import PlugLayer, PlugReport, same_bits


def plug(
    integers: Graph, inputs: Sequence[np.ndarray], chip: Chip
) -> tuple[list[np.ndarray], PlugReport]:
    """The results of an integer graph, partitioned by our own compiler, and the report."""
    model = offload(integers, chip, lambda part: compile(part).run)
    exact: dict[str, bool] = {}

    def on_chip(part: Graph, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        results = model.runs[part](values)
        exact[f"part {len(exact) + 1}"] = same_bits(results, interpret(part, values))
        return results

    done = model.partition.run(inputs, on_chip, lambda part, values: model.runs[part](values))
    outputs = [np.asarray(value) for value in done]
    layers = tuple(row for program in model.programs for row in chip_layers(program))
    report = PlugReport(
        into="ours",
        chip=chip.name,
        subgraphs=len(model.programs),
        macs=sum(map(macs, integers.ops)),
        macs_offloaded=sum(layer.macs for layer in layers),
        cycles=sum(program.timing.total for program in model.programs),
        dram_bytes=sum(port_bytes(program.program, chip) for program in model.programs),
        refusals=tuple(map(str, model.partition.refusals)),
        layers=layers,
        notes=tuple(model.partition.notes),
        ran=len(exact),
        differing=tuple(name for name, same in exact.items() if not same),
    )
    return outputs, report


def chip_layers(program: ChipProgram) -> list[PlugLayer]:
    """The layers of a program with their clocks and bytes."""
    ends = (*program.starts[1:], len(program.program))
    moved = [
        port_bytes(program.program[start:end], program.chip)
        for start, end in zip(program.starts, ends, strict=True)
    ]
    return [
        PlugLayer(row.name, row.kind, row.macs, row.clocks, sent)
        for row, sent in zip(layer_rows(program), moved, strict=True)
    ]


def port_bytes(program: Sequence[Instruction], chip: Chip) -> int:
    """Bytes that instructions move over the port to DRAM."""
    regions = (region for i in program for region in (*i.reads(chip), *i.writes(chip)))
    return sum(int(np.prod(region.counts)) for region in regions if region.memory == DRAM)
