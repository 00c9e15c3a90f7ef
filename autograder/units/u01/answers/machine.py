"""How fast is one core of this machine, measured: the figures of the notebook's roofline.

    core()  ->  Core(peak=1.1e11, bandwidth=2.2e10)        # FLOP/s, bytes/s

Everything is timed alike: once to warm up, then the best of several runs. Next room: tools.py.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import course_lib
from course_lib.ir.graph.build import trace
from course_lib.ir.types import f32
from course_lib.llvm.host import host_machine
from course_lib.llvm.price import nanoseconds


@dataclass(frozen=True)
class Core:
    """FLOP/s of multiply-adds in registers, and bytes/s of a copy of 128 MiB."""

    peak: float
    bandwidth: float


def core() -> Core:
    """Measured now. A copy reads and writes each byte once; what the processor may fetch before it
    writes is not counted."""
    lanes = host_machine().lanes(f32)
    vector = f"<{lanes} x float>"
    fused = f"call {vector} @llvm.fma.v{lanes}f32({{x}}, {vector} %y, {vector} %y)"
    source, target = _two()
    moved = 2 * source.nbytes
    seconds = _best(lambda: np.copyto(target, source))
    return Core(2 * lanes / nanoseconds(fused, lanes=lanes) * 1e9, moved / seconds)


def relu_rate() -> float:
    """FLOP/s of numpy's relu on 128 MiB: one comparison for each element."""
    source, target = _two()
    return source.size / _best(lambda: np.maximum(source, 0, out=target))


def products(sizes: Sequence[int]) -> list[tuple[int, float, float]]:
    """(N, FLOP/s of our product, FLOP/s of numpy's) for square matrices that were just used."""
    rows = []
    for n in sizes:
        a, b = np.random.default_rng(0).standard_normal((2, n, n), dtype=np.float32)
        graph = trace(lambda x, w: x @ w, f"f32[{n},{n}]", f"f32[{n},{n}]")
        ours, out = course_lib.compile(graph, threads=1), np.empty((n, n), np.float32)
        flop, again = 2 * n**3, max(1, 10**7 // (2 * n**3))
        seconds = [_best(run, again) for run in (_call(ours, a, b), _call(np.matmul, a, b, out))]
        rows.append((n, flop / seconds[0], flop / seconds[1]))
    return rows


def _call(function: Any, *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def _two() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(32 << 20, np.float32), np.zeros(32 << 20, np.float32)


def _best(run: Callable[[], Any], again: int = 1) -> float:
    run()
    return min(timeit.repeat(run, number=again, repeat=5)) / again
