"""The chip as a target: 8-bit integers on a systolic array, and the processor for the rest.

    run = course_lib.compile(model, [x], target="systolic")
    run(x)                         the bits that the chip computes
    print(run.report())            clocks, stalls, bytes, energy; each layer and its roofline
    run.stage("mlp_cpu_0.loops")   a part that is left to the processor, on its own way

Next room: `tuned.py`.

Reading path of the chip, 1 of 12; next: `passes/quantize/to_int8.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.accelerator.chip import PRESETS, Chip
from course_lib.accelerator.compile.offload import Offloaded, Run, offload
from course_lib.accelerator.compile.report import ChipReport, chip_report
from course_lib.accelerator.isa.text import disassemble
from course_lib.arguments import mismatch
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.samples import random_inputs
from course_lib.ir.graph.verify import verify
from course_lib.passes.infra.manager import Pass, run_passes
from course_lib.passes.quantize.to_int8 import whole
from course_lib.runtime.executable import Executable, counted
from course_lib.runtime.report import Report, kernel_info, report
from course_lib.targets.target import Log, Options, Target, target


class Systolic(Target):
    """Graph of floats -> of 8-bit integers -> parts -> programs of the chip."""

    name = "systolic"

    def passes(self, options: Options) -> Sequence[Pass]:
        """None on the whole graph: quantization has its own, and looks for the ops as the model
        has them. Each part for the processor gets those of the options."""
        return ()

    def executable(self, graph: Graph, options: Options, log: Log) -> SystolicModel:
        chip = chip_of(options)
        sample = random_inputs(graph) if options.inputs is None else options.inputs
        ranges = "random numbers" if options.inputs is None else "the example inputs"
        with log.timed("quantize"):
            integers = verify(whole(graph, [sample]))
        log.see("quantize", integers)
        with log.timed("chip"):
            offloaded = offload(integers, chip, lambda part: on_the_cpu(part, options, log))
        log.see("chip", lambda: "".join(disassemble(p.program) for p in offloaded.programs))
        return SystolicModel(integers, offloaded, ranges, log)


def chip_of(options: Options) -> Chip:
    """The chip that is meant. ValueError in words if there is none."""
    chip = options.chip
    if not isinstance(chip, (str, Chip)):
        raise ValueError(mismatch("chip", str | Chip, chip))
    if isinstance(chip, str) and chip not in PRESETS:
        raise ValueError(f"chip is one of {', '.join(PRESETS)}, got {chip!r}")
    return PRESETS[chip] if isinstance(chip, str) else chip


def on_the_cpu(part: Graph, options: Options, log: Log) -> Run:
    """What the chip cannot do, as machine code. Its stages are called "mlp_cpu_0.loops"."""
    cpu, own = target("cpu"), log.of_part(part.name)
    own.see("part", part)
    with own.timed("passes"):
        part = run_passes(part, cpu.passes(options), own.see)
    return cpu.executable(part, options, own).run


@dataclass(frozen=True)
class SystolicReport(Report):
    """`chip` says what the parts on the chip cost; the rest is as in other reports, of all ops."""

    chip: ChipReport
    calibrated_on: str

    def as_dict(self) -> dict[str, Any]:
        own = {"calibrated_on": self.calibrated_on}
        return {**super().as_dict(), **self.chip.as_dict(), **own}

    def __str__(self) -> str:
        total = sum(self.compile_seconds.values())
        steps = ", ".join(f"{step} {s:.2f}" for step, s in self.compile_seconds.items())
        ranges = f"ranges of int8 are those of {self.calibrated_on}"
        return f"compiled in {total:.2f} s ({steps}); {ranges}\n{self.chip}"

    __repr__ = __str__


class SystolicModel(Executable):
    """Parts on the chip and on the processor, one after another.

    graph      the integer graph, the definition of what is computed
    offloaded  its parts and their programs
    """

    target = "systolic"

    def __init__(self, graph: Graph, offloaded: Offloaded, calibrated_on: str, log: Log) -> None:
        super().__init__(graph, log.stages, log.seconds)
        self.offloaded, self.calibrated_on = offloaded, calibrated_on
        self.kernels = tuple(kernel_info(node.op, node) for node in graph.ops)

    def _size(self) -> str:
        parts = counted(len(self.offloaded.programs), "part")
        return f"{counted(len(self.kernels), 'operation')}, {parts} on the chip"

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.array(result, order="C") for result in self.offloaded.run(arrays)]

    def report(self) -> SystolicReport:
        plain = report(self.kernels, self.compile_seconds, self.memory)
        return SystolicReport(
            **vars(plain), chip=chip_report(self.offloaded), calibrated_on=self.calibrated_on
        )


TARGET = Systolic()
