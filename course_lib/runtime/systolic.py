"""A model on the chip, as an executable like the others.

    run = course_lib.compile(model, [x], target="systolic")
    run(x)              the bits that the chip computes
    print(run.report()) clocks, stalls, bytes, energy; each layer and its roofline

`offloaded` comes from `course_lib/accelerator/compile/offload.py`: this room stands beside that one
and imports nothing from it. Next room: `bounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.ir.graph.graph import Graph
from course_lib.runtime.executable import Executable, counted
from course_lib.runtime.report import Report, kernel_info, report


@dataclass(frozen=True)
class SystolicReport(Report):
    """`chip` says what the parts on the chip cost; the rest is as in other reports, of all ops."""

    chip: Any
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

    def __init__(
        self,
        graph: Graph,
        offloaded: Any,
        chip_report: Callable[[Any], Any],
        calibrated_on: str,
        stages: list,
        seconds: dict[str, float],
    ) -> None:
        super().__init__(graph, stages, seconds)
        self.offloaded, self.calibrated_on = offloaded, calibrated_on
        self._chip_report = chip_report
        self.kernels = tuple(kernel_info(node.op, node) for node in graph.ops)

    def _size(self) -> str:
        parts = counted(len(self.offloaded.programs), "part")
        return f"{counted(len(self.kernels), 'operation')}, {parts} on the chip"

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.array(result, order="C") for result in self.offloaded.run(arrays)]

    def report(self) -> SystolicReport:
        plain = report(self.kernels, self.compile_seconds, self.memory)
        return SystolicReport(
            **vars(plain), chip=self._chip_report(self.offloaded), calibrated_on=self.calibrated_on
        )
