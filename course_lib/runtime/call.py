"""A call: one step of a program with everything looked up that stays the same between runs.

    step: %2 = matmul_relu_0(%x, %w)   ==>   machine code(address of x, of w, of 2, 0, iterations)

Next room: `pool.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from course_lib.ir.graph.interp import evaluate
from course_lib.ir.loops.program import Program, Step
from course_lib.runtime.buffers import Arrays, seen
from course_lib.runtime.pool import run_parallel

Part = tuple[Callable[..., None], int]  # machine code, and the iterations of its parallel loop


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
        """Run the step on the bytes of its owners."""
        if self.step.kernel is None:
            operands = [seen(self.program, value, arrays) for value in self.step.reads]
            arrays[self.step.writes][...] = evaluate(self.step.node, operands)
            return
        arguments = [addresses[owner] for owner in self.owners]
        for code, iterations in self.parts:
            run_parallel(code, arguments, iterations, self.threads)
