"""A call: one step of a program with everything looked up that stays the same between runs.

    step: %2 = matmul_relu_0(%x, %w)   ==>   machine code(address of x, of w, of 2, 0, iterations)

Steps that have machine code usually run together (`llvm/entry.py`). One by one they run where
somebody looks at what a single step does, and where numpy runs a step that has no machine code.

Next room: `direct.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.graph_interp import OutsideError, evaluate
from course_lib.ir.loops.program import Program, Step
from course_lib.runtime.buffers import Arrays, seen
from course_lib.runtime.code import Part


@dataclass(frozen=True, eq=False)
class Call:
    """`parts` run one after the other; a step without a kernel has none and runs with numpy.

    owners   whose bytes the step reads and, last, whose bytes it writes
    """

    program: Program
    step: Step
    owners: tuple[str, ...]
    parts: tuple[Part, ...]

    def __call__(self, arrays: Arrays) -> None:
        """Run the step on the bytes of its owners. IndexError for an index outside its axis."""
        if self.step.kernel is None:
            arrays[self.step.writes][...] = self._with_numpy(arrays)
            return
        if self.run(arrays):
            raise self.outside(arrays)

    def run(self, arrays: Arrays) -> bool:
        """The machine code alone. True if an index was outside its axis; 0 was read instead."""
        arguments = [arrays[owner].ctypes.data for owner in self.owners]
        return any([code(*arguments, 0, iterations) for code, iterations in self.parts])

    def _with_numpy(self, arrays: Arrays) -> np.ndarray:
        operands = [seen(self.program, value, arrays) for value in self.step.reads]
        return evaluate(self.step.node, operands)

    def outside(self, arrays: Arrays) -> IndexError:
        """Machine code only says that an index was outside its axis. Numpy finds out which one,
        if the kernel has not written over what it read."""
        if self.owners[-1] not in self.owners[:-1]:
            try:
                self._with_numpy(arrays)
            except IndexError as error:
                return error
        return OutsideError(
            f"while computing {self.step.node!r}: an index is outside the axis that it picks from"
        )
