"""A whole model at level 2: kernels in order, and the buffers that they pass to each other.

    program @mlp
      input x: f32[1,784]      constant w: f32[784,512]      buffer 0: f32[1,512]
      step 0: matmul_relu(x, w) -> 0

Next room: `lower/lower.py`, which makes one from a graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.ir.graph.graph_interp import evaluate
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.loop_interp import run_kernel, unwritten
from course_lib.ir.loops.nest import Kernel, print_kernel
from course_lib.ir.types import TensorType


@dataclass(frozen=True, eq=False)
class Step:
    """One call: the kernel with the names of the values that it reads, and the one that it writes.

    `node` is what it computes. A step without a kernel has no loop form; it runs the numpy meaning
    of its node.
    """

    node: Node
    kernel: Kernel | None
    reads: tuple[str, ...]
    writes: str

    @property
    def name(self) -> str:
        return self.kernel.name if self.kernel else f"numpy_{self.node.op}"


@dataclass(frozen=True, eq=False)
class Program:
    """Everything that the runtime needs.

    types    of every value, by name
    views    value -> the value whose bytes it shares: a reshape moves nothing, and a result that is
             written in place (`memory/in_place.py`) takes over the bytes of an operand
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: Mapping[str, TensorType]
    constants: Mapping[str, np.ndarray]
    views: Mapping[str, str]
    steps: tuple[Step, ...]

    def owner(self, value: str) -> str:
        """The value that owns the bytes of this one."""
        return owner(value, self.views)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The values that need memory of the compiler's: written by a step, not a view."""
        return tuple(step.writes for step in self.steps if step.writes not in self.views)

    @property
    def owners(self) -> tuple[str, ...]:
        """All values that own bytes: inputs, constants, and what steps write."""
        return (*self.inputs, *self.constants, *self.buffers)

    def __repr__(self) -> str:
        return print_program(self)


def owner(value: str, views: Mapping[str, str]) -> str:
    """The value whose bytes these are: the end of a chain of views."""
    while value in views:
        value = views[value]
    return value


def run_program(program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a program means: the loop interpreter runs its steps, and numpy those without loops.

    `inputs` in the order of `program.inputs`; returns the values of `program.outputs`.
    """
    values = {**program.constants, **dict(zip(program.inputs, inputs, strict=True))}

    def read(name: str) -> np.ndarray:
        return values[program.owner(name)].reshape(program.types[name].dims)

    for step in program.steps:
        operands = [read(name) for name in step.reads]
        if step.kernel is None:
            values[step.writes] = evaluate(step.node, operands)
            continue
        in_place = step.writes in program.views
        out = read(step.writes) if in_place else unwritten(step.kernel.out.type)
        names = [param.name for param in step.kernel.params]
        run_kernel(step.kernel, dict(zip(names, [*operands, out], strict=True)))
        if not in_place:
            values[step.writes] = out
    return [read(name) for name in program.outputs]


def print_program(program: Program, kernels: bool = True) -> str:
    """The program as text: values, steps and (unless `kernels` is off) every kernel once."""
    lines = [f"program @{program.name}"]
    lines += [f"  input %{v}: {program.types[v]}" for v in program.inputs]
    lines += [f"  constant %{v}: {program.types[v]}" for v in program.constants]
    written = {step.writes for step in program.steps}
    lines += [f"  view %{v} = %{of} : {program.types[v]}" for v, of in program.views.items()
              if v not in written]  # fmt: skip
    for step in program.steps:
        args = ", ".join(f"%{r}" for r in step.reads)
        over = f" over %{program.views[step.writes]}" if step.writes in program.views else ""
        lines.append(f"  %{step.writes} = {step.name}({args}){over} : {program.types[step.writes]}")
    lines.append(f"  return {', '.join('%' + v for v in program.outputs)}")
    text = "\n".join(lines) + "\n"
    if kernels:
        distinct = {s.kernel.name: s.kernel for s in program.steps if s.kernel}
        text += "".join("\n" + print_kernel(k) for k in distinct.values())
    return text
