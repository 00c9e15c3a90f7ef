"""Executables: what `course_lib.compile` returns. Call one with arrays, ask it what it did.

    run = course_lib.compile(model, [x])
    run(x)            the result: an array, or a tuple of them; torch tensors in, torch tensors out
    run.stages        every form that the program had on its way
    run.kernels       what runs, in order
    run.memory        the memory plan
    run.report()      what it cost

`InterpretedModel` runs the graph with numpy, `CompiledModel` runs machine code on planned memory.
Next room: `pool.py`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.ir.graph.build import alone
from course_lib.ir.graph.graph import Graph, print_graph
from course_lib.ir.graph.interp import bind, evaluate, run
from course_lib.ir.graph.node import Node
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.program import Program, Step
from course_lib.ir.registry import flops, traffic
from course_lib.ir.types import type_of
from course_lib.memory.plan import MemoryPlan
from course_lib.runtime.pool import run_parallel

WORTH_A_THREAD = 20_000_000  # operations and bytes of a kernel, from which a second thread pays


@dataclass(frozen=True)
class KernelInfo:
    """One call of a kernel: what it computes, for which part of the model, and how much work it is.

    flops    floating-point operations         traffic  bytes read and written
    origin   module paths or ONNX names        source   the loops, as text
    """

    name: str
    ops: tuple[str, ...]
    origin: tuple[str, ...]
    flops: int
    traffic: int
    source: str


class Executable:
    """A model that runs. `graph` is what it computes, after all passes."""

    def __init__(self, graph: Graph, stages: list, seconds: dict[str, float]) -> None:
        self.graph = graph
        self.stages = stages
        self.compile_seconds = seconds
        self.kernels: tuple[KernelInfo, ...] = ()
        self.memory: MemoryPlan | None = None

    def __call__(self, *inputs: Any) -> Any:
        """Run on arrays or tensors, in the order of the model's inputs."""
        torch = any(hasattr(x, "detach") for x in inputs)
        arrays = bind(self.graph, [as_array(x) for x in inputs])
        outputs = self.run(arrays)
        if torch:
            outputs = [sys.modules["torch"].from_numpy(np.array(o)) for o in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        raise NotImplementedError

    def stage(self, name: str) -> Any:
        """One stage by name; an error that lists the names."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        names = ", ".join(stage.name for stage in self.stages)
        raise ValueError(f"no stage {name!r}; this compilation has: {names}")

    def report(self) -> Any:
        """What the compilation produced and what it costs (`runtime/report.py`)."""
        from course_lib.runtime.report import report

        return report(self)


class InterpretedModel(Executable):
    """Runs every node with numpy. Slow and right: the other target is tested against it."""

    def __init__(self, graph: Graph, stages: list, seconds: dict[str, float]) -> None:
        super().__init__(graph, stages, seconds)
        self.kernels = tuple(_info(f"numpy_{node.op}", node) for node in graph.ops)

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Copies: a result may be an input, a constant or a view of one."""
        return [np.array(result, order="C") for result in run(self.graph, arrays)]


class CompiledModel(Executable):
    """Runs kernels in order. Intermediate values live in one arena, at the planned offsets."""

    def __init__(
        self,
        graph: Graph,
        program: Program,
        memory: MemoryPlan,
        code: Any,
        threads: int,
        stages: list,
        seconds: dict[str, float],
    ) -> None:
        super().__init__(graph, stages, seconds)
        self.program, self.memory, self.code, self.threads = program, memory, code, threads
        self.kernels = tuple(_info(step.name, step.node, step.kernel) for step in program.steps)
        self._lock = threading.Lock()  # the arena serves one call at a time
        self._arena = _aligned_bytes(memory.size)
        self._fixed = {name: _aligned_copy(array) for name, array in program.constants.items()}
        for name, offset in memory.offsets.items():
            self._fixed[name] = _view(self._arena, offset, program.types[name])
        owners = [program.owner(v) for v in program.outputs]
        self._results = [v for v in dict.fromkeys(owners) if v in program.buffers]
        self._given_away = {v for v in self._results if owners.count(v) == 1}
        self._calls = [self._call(step) for step in program.steps]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        values = dict(zip(self.program.inputs, map(_as_rows, arrays), strict=True))
        for name in self._results:
            values[name] = _aligned_empty(self.program.types[name])
        address = {name: array.ctypes.data for name, array in values.items()}
        with self._lock:
            for call in self._calls:
                call(values, address)
            return [self._output(name, values) for name in self.program.outputs]

    def touched(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Which bytes of the arena a call writes, measured: one bool for each byte.

        Two calls, with the arena full of 0x00 and of 0xFF before them: what is written changes in
        at least one. The last True is the measured peak; `memory.size` is the planned one.
        """
        written = np.zeros(self._arena.size, bool)
        for pattern in (0x00, 0xFF):
            self._arena[...] = pattern
            self.run(arrays)
            written |= self._arena != pattern
        return written

    def _output(self, name: str, values: dict[str, np.ndarray]) -> np.ndarray:
        """A result as an array of the caller's own: never our arena, a constant or an input."""
        owner = self.program.owner(name)
        array = values[owner] if owner in values else self._fixed[owner]
        array = array.reshape(self.program.types[name].dims)
        return array if owner in self._given_away else array.copy()

    def _call(self, step: Step) -> Callable[[dict, dict], None]:
        """One step, with the addresses that never change already looked up."""
        owners = [self.program.owner(v) for v in (*step.reads, step.writes)]
        if step.kernel is None:
            return self._numpy_call(step)
        fixed = [self._fixed[o].ctypes.data if o in self._fixed else None for o in owners]
        work = flops(step.node) + traffic(step.node)
        threads = self.threads if work > WORTH_A_THREAD else 1
        parts = self.code.functions[step.kernel.name]

        def call(values: dict[str, np.ndarray], address: dict[str, int]) -> None:
            args = [a if a is not None else address[o] for a, o in zip(fixed, owners, strict=True)]
            for function, iterations in parts:
                if threads > 1 and iterations > 1:
                    run_parallel(function, args, iterations, threads)
                else:
                    function(*args, 0, iterations)

        return call

    def _numpy_call(self, step: Step) -> Callable[[dict, dict], None]:
        def call(values: dict[str, np.ndarray], address: dict[str, int]) -> None:
            operands = [self._read(v, values) for v in step.reads]
            out = values[step.writes] if step.writes in values else self._fixed[step.writes]
            out[...] = evaluate(step.node, operands)

        return call

    def _read(self, name: str, values: dict[str, np.ndarray]) -> np.ndarray:
        owner = self.program.owner(name)
        array = values[owner] if owner in values else self._fixed[owner]
        return array.reshape(self.program.types[name].dims)


def as_array(value: Any) -> np.ndarray:
    """A numpy array from an array, a list or a torch tensor (which may require gradients)."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    return np.asarray(value)


def _as_rows(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy whose bytes lie as compiled code expects them."""
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def _info(name: str, node: Node, kernel: Kernel | None = None) -> KernelInfo:
    ops = tuple(n.op for n in node.attrs["body"].ops) if node.op == "fused" else (node.op,)
    source = repr(kernel) if kernel else print_graph(alone(node))
    return KernelInfo(name, ops, node.origin, flops(node), traffic(node), source)


def _aligned_bytes(size: int) -> np.ndarray:
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def _view(arena: np.ndarray, offset: int, type: Any) -> np.ndarray:
    return arena[offset : offset + type.nbytes].view(type.dtype.numpy).reshape(type.dims)


def _aligned_empty(type: Any) -> np.ndarray:
    return _view(_aligned_bytes(type.nbytes), 0, type)


def _aligned_copy(array: np.ndarray) -> np.ndarray:
    copy = _aligned_empty(type_of(array))
    copy[...] = array
    return copy
