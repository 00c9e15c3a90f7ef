"""A call: one step of a program with everything looked up that stays the same between runs.

    step: %2 = matmul_relu_0(%x, %w)   ==>   machine code(address of x, of w, of 2, 0, iterations)

Next room: `pool.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.interp import evaluate
from course_lib.ir.loops.program import Program, Step
from course_lib.runtime.buffers import Arrays, seen
from course_lib.runtime.pool import run_parallel

Part = tuple[Callable[..., int], int]  # machine code, and the iterations of its parallel loop


@dataclass(frozen=True, eq=False)
class Call:
    """`parts` run one after the other; a step without a kernel has none and runs with numpy.

    owners   whose bytes the step reads and, last, whose bytes it writes
    """

    program: Program
    step: Step
    owners: tuple[str, ...]
    parts: tuple[Part, ...]
    threads: int

    def __call__(self, arrays: Arrays, addresses: Mapping[str, int]) -> None:
        """Run the step on the bytes of its owners. IndexError for an index outside its axis."""
        if self.step.kernel is None:
            arrays[self.step.writes][...] = self._with_numpy(arrays)
            return
        if self.run(addresses):
            raise self._outside(arrays)

    def run(self, addresses: Mapping[str, int]) -> bool:
        """The machine code alone. True if an index was outside its axis; 0 was read instead."""
        arguments = [addresses[owner] for owner in self.owners]
        noticed = False
        for code, iterations in self.parts:
            noticed |= run_parallel(code, arguments, iterations, self.threads)
        return noticed

    def _with_numpy(self, arrays: Arrays) -> np.ndarray:
        operands = [seen(self.program, value, arrays) for value in self.step.reads]
        return evaluate(self.step.node, operands)

    def _outside(self, arrays: Arrays) -> IndexError:
        """Machine code only says that an index was outside its axis. Numpy finds out which one,
        if the kernel has not written over what it read."""
        if self.owners[-1] not in self.owners[:-1]:
            try:
                self._with_numpy(arrays)
            except IndexError as error:
                return error
        return IndexError(
            f"while computing {self.step.node!r}: an index is outside the axis that it picks from"
        )
