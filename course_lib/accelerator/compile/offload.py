"""A whole model, partly on the chip: partition, a program for each part of the chip, the rest given
to whoever compiles for the processor.

    model = offload(integers, PRESETS["npu"], compile_cpu)
    model.run([x])   ->   [y], the bits of the interpreter          model.programs[0].timing.total

This file does not know who compiles for the processor: the target passes it in
(`course_lib/targets/systolic.py`). Next room: `report.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.build import ChipProgram, build
from course_lib.accelerator.compile.layer import Choose, refused
from course_lib.accelerator.compile.partition import CHIP, Partition, partition
from course_lib.accelerator.compile.search import choose_tile
from course_lib.ir.graph.graph import Graph

Run = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


@dataclass(frozen=True, eq=False)
class Offloaded:
    """A model in parts. `programs` are those of the chip, in order; `runs` computes each part."""

    chip: Chip
    partition: Partition
    programs: tuple[ChipProgram, ...]
    runs: Mapping[Graph, Run]

    def run(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Results of the whole model; the values of the chip are computed, its clocks are not."""

        def part(graph: Graph, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            return self.runs[graph](values)

        return self.partition.run(inputs, chip=part, cpu=part)


def offload(
    graph: Graph, chip: Chip, compile_cpu: Callable[[Graph], Run], choose: Choose = choose_tile
) -> Offloaded:
    """Divide an integer graph and compile its parts. `choose` gives the tile of each product."""
    parts = partition(graph, partial(refused, chip=chip))
    programs = {p.graph: build(p.graph, chip, choose) for p in parts.parts if p.device == CHIP}
    runs: dict[Graph, Run] = {
        p.graph: programs[p.graph].run if p.device == CHIP else compile_cpu(p.graph)
        for p in parts.parts
    }
    return Offloaded(chip, parts, tuple(programs.values()), runs)
