"""How fast is one core of this machine, measured: the figures of the notebook's roofline.

    core()  ->  Core(peak=1.1e11, bandwidth=2.2e10)        # FLOP/s, bytes/s

Everything is timed alike: warm, the best of several rounds of some milliseconds.
numpy's products run in a process of their own, whose library may use one thread. Next
room: autograder/units/u01/checks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import course_lib
from course_lib.ir.graph.build import trace
from course_lib.measure.turns import for_seconds
from lessons.roof import roof


@dataclass(frozen=True)
class Core:
    """FLOP/s of multiply-adds in registers, and bytes/s of a copy of 128 MiB."""

    peak: float
    bandwidth: float


def core() -> Core:
    """Measured now."""
    return Core(*roof())


def relu_rate() -> float:
    """FLOP/s of numpy's relu on 128 MiB: one comparison for each element."""
    source, target = _two()
    return source.size / _best(lambda: np.maximum(source, 0, out=target))


def products(sizes: Sequence[int]) -> list[tuple[int, float, float]]:
    """(N, FLOP/s of our product, FLOP/s of numpy's) for square matrices that were just used, on one
    thread each."""
    theirs = json.loads(_in_one_thread(f"print(numpys({list(sizes)}))"))
    return list(zip(sizes, map(_ours, sizes), theirs, strict=True))


def numpys(sizes: Sequence[int]) -> list[float]:
    """FLOP/s of numpy's products, on as many threads as its library takes."""
    return [2 * n**3 / _best(partial(np.matmul, *_matrices(n))) for n in sizes]


def _ours(n: int) -> float:
    a, b, _ = _matrices(n)
    graph = trace(lambda x, w: x @ w, f"f32[{n},{n}]", f"f32[{n},{n}]")
    return 2 * n**3 / _best(partial(course_lib.compile(graph, threads=1), a, b))


def _in_one_thread(statement: str) -> str:
    """What a statement about this module prints in a new process: how many threads numpy's library
    uses is settled when numpy is imported."""
    libraries = ("OPENBLAS", "MKL", "OMP", "VECLIB", "BLIS")
    one = {f"{name}_{part}_THREADS": "1" for name in libraries for part in ("NUM", "MAXIMUM")}
    paths = os.pathsep.join(path for path in sys.path if path)
    code = f"from {__name__} import *; {statement}"
    command = [sys.executable, "-W", "ignore", "-c", code]
    environment = os.environ | one | {"PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def _matrices(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((3, n, n), dtype=np.float32)


def _two() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(32 << 20, np.float32), np.zeros(32 << 20, np.float32)


def _best(run: Callable[[], Any]) -> float:
    return min(for_seconds([run], seconds=0.1, rounds=12)[0])
