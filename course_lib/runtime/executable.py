"""Executables: what `course_lib.compile` returns. Call one with arrays, ask it what it did.

    run = course_lib.compile(model, [x])
    run(x)            the result: an array, or a tuple of them; torch tensors in, torch tensors out
    run.stages        every form that the program had on its way
    run.kernels       what runs, in order
    run.memory        the memory plan
    run.report()      what it cost

`InterpretedModel` runs the graph with numpy, `CompiledModel` runs machine code on planned memory.
Next room: `buffers.py`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.arrays import as_array
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import bind, run
from course_lib.ir.loops.program import Program, Step
from course_lib.ir.stage import Stage
from course_lib.memory.plan import MemoryPlan
from course_lib.runtime.buffers import Arrays, Buffers
from course_lib.runtime.call import Call
from course_lib.runtime.code import MachineCode
from course_lib.runtime.report import KernelInfo, Report, kernel_info, report


class Executable:
    """A model that runs. `graph` is what it computes, after all passes."""

    target = ""  # as `compile` calls it

    def __init__(self, graph: Graph, stages: list[Stage], seconds: dict[str, float]) -> None:
        self.graph = graph
        self.stages = stages
        self.compile_seconds = seconds
        self.kernels: tuple[KernelInfo, ...] = ()
        self.memory: MemoryPlan | None = None

    def __call__(self, *inputs: Any) -> Any:
        """Run on arrays or tensors, in the order of the model's inputs.

        ValueError for inputs that do not fit, IndexError where an index in them (the number of a
        word, say) is outside the axis that it picks from.
        """
        torch = any(hasattr(x, "detach") for x in inputs)
        arrays = bind(self.graph, [as_array(x) for x in inputs])
        outputs = self.run(arrays)
        if torch:
            outputs = [sys.modules["torch"].from_numpy(np.array(o)) for o in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        raise NotImplementedError

    def __repr__(self) -> str:
        """`@mlp for cpu (3 kernels, 2 threads): x0: f32[1,784] -> f32[1,10]`"""
        takes = _first([f"{node.name}: {node.type}" for node in self.graph.inputs])
        gives = _first([str(node.type) for node in self.graph.outputs])
        return f"@{self.graph.name} for {self.target} ({self._size()}): {takes} -> {gives}"

    def _size(self) -> str:
        return counted(len(self.kernels), "operation")

    def stage(self, name: str) -> Stage:
        """One stage by name; an error that lists the names."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        names = ", ".join(stage.name for stage in self.stages)
        raise ValueError(f"no stage {name!r}; this compilation has: {names}")

    def report(self) -> Report:
        """What the compilation produced and what it costs."""
        return report(self.kernels, self.compile_seconds, self.memory)


class InterpretedModel(Executable):
    """Runs every node with numpy. Slow and right: the others are tested against it."""

    target = "interpreter"

    def __init__(self, graph: Graph, stages: list[Stage], seconds: dict[str, float]) -> None:
        super().__init__(graph, stages, seconds)
        self.kernels = tuple(kernel_info(f"numpy_{node.op}", node) for node in graph.ops)

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Copies: a result may be an input, a constant or a view of one."""
        return [np.array(result, order="C") for result in run(self.graph, arrays)]


class CompiledModel(Executable):
    """Runs the steps of `program` in order, on the bytes that the memory plan gives them."""

    target = "cpu"

    def __init__(
        self,
        graph: Graph,
        program: Program,
        memory: MemoryPlan,
        code: MachineCode,
        stages: list[Stage],
        seconds: dict[str, float],
    ) -> None:
        super().__init__(graph, stages, seconds)
        self.program, self.memory, self.code = program, memory, code
        self.kernels = tuple(kernel_info(s.name, s.node) for s in program.steps)
        self.buffers = Buffers(program, memory)
        self.calls = [self._call(step) for step in program.steps]
        self.entries = {entry.first: entry for entry in code.entries}
        self._lock = threading.Lock()  # the arena serves one call at a time

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        with self._lock:
            values = self.buffers.of_a_call(arrays)
            done = 0
            while done < len(self.calls):
                done = self._go_on(done, values)
            return self.buffers.outputs(values)

    def _go_on(self, step: int, values: Arrays) -> int:
        """Run the steps from this one on that are one piece of machine code, or this one with
        numpy. The step that comes next."""
        entry = self.entries.get(step)
        if entry is None:
            self.calls[step](values)
            return step + 1
        outside = entry(self.buffers.table)
        if outside is not None:
            raise self.calls[outside].outside(values)
        return entry.last

    def _size(self) -> str:
        threads = 1 + max((entry.workers for entry in self.code.entries), default=0)
        return f"{counted(len(self.kernels), 'kernel')}, {counted(threads, 'thread')}"

    @takes
    def touched(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Which bytes of the arena a call writes, measured: one bool for each byte.

        Two calls, with the arena full of 0x00 and of 0xFF before them: what is written changes in
        at least one. The last True is the measured peak; `memory.size` is the planned one.
        """
        arrays = bind(self.graph, arrays)
        arena = self.buffers.arena
        written = np.zeros(arena.size, bool)
        for pattern in (0x00, 0xFF):
            arena[...] = pattern
            self.run(arrays)
            written |= arena != pattern
        return written

    def _call(self, step: Step) -> Call:
        """A step with its machine code."""
        owners = tuple(self.program.owner(v) for v in (*step.reads, step.writes))
        parts = self.code.functions[step.kernel.name] if step.kernel else ()
        return Call(self.program, step, owners, tuple(parts))


def _first(words: Sequence[str], most: int = 4) -> str:
    more = [f"... ({len(words)} in all)"] if len(words) > most else []
    return ", ".join([*words[:most], *more]) or "nothing"


def counted(count: int, what: str) -> str:
    """3, "kernel" -> "3 kernels"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
