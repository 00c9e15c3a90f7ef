"""The kernels in `recorded/`: their text, how they were launched, and what was counted of them.

    found = recording("matmul_naive")
    run = launch(found.entry, found.grid, found.block, found.arguments())
    found.counters["global_load_sectors"]        as Nsight Compute counted it on an H200

Recorded on 2026-11-27 on one NVIDIA H200 (sm_90, 132 multiprocessors), driver 580.159, CUDA 13.0,
caches cold, one launch (`ncu --cache-control all --clock-control none`); `median_us` is the median
of launches without a profiler. `recorded/micro.cu` has the kernels as CUDA C++ and the program that
launched them: the arguments are its arguments. Next room: `arguments.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.gpu.ptx.merging import merge_shared_loads
from course_lib.gpu.ptx.parts import Entry
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.machine import Empty, Same

FOLDER = Path(__file__).parent / "recorded"
N = 1 << 20
COUNTS, BINS = 1024, 64  # ints of the histogram's output, and those of them that are used
KINDS = {"gather": 1, "histogram_global": 2, "matmul_naive": 3, "matmul_tile16": 3,
         "matmul_regs": 3, "matmul_wmma": 4}  # fmt: skip
TEXTS = ("kernel", "shared_loads_merged")
SIZES = ("grid_x", "grid_y", "block_x", "block_y", "n")


@dataclass(frozen=True)
class Recording:
    """One kernel. `counters` has each column of `counters.csv` that was counted or timed."""

    name: str
    grid: tuple[int, int]
    block: tuple[int, int]
    n: int
    merged: bool  # did ptxas merge loads of shared memory?
    counters: Mapping[str, float]

    @property
    def kind(self) -> int:
        """Which parameters it has: (x, y, n), (x, index, y, n), (index, counts, n), (a, b, c, n)
        of floats, or the same of halves; 0 to 4 in `micro.cu`."""
        return KINDS.get(self.name, 0)

    @cached_property
    def text(self) -> str:
        return (FOLDER / f"{self.name}.ptx").read_text()

    @cached_property
    def entry(self) -> Entry:
        """The kernel as it is written."""
        return read(self.text).entry()

    def assembled(self) -> Entry:
        """The kernel as ptxas leaves it, for what is counted: loads of shared memory merged. Where
        `merged` does not hold, this counts the same as `entry`."""
        return merge_shared_loads(self.entry, Kernel(self.entry).places)

    def arguments(self, n: int | None = None, length: int = N) -> list[Any]:
        """What `launch` takes. `n` stands in for the recorded one; of inputs and outputs there are
        `length` ints and four times as many floats."""
        size = np.int32(self.n if n is None else n)
        x, index, out = numbers(4 * length), indices(length), Empty(16 * length)
        halves = x[:length].astype(np.float16)
        several: list[list[Any]] = [
            [x, out, size], [x, index, out, size], [index, np.zeros(COUNTS, np.int32), size],
            [x, x, out, size], [halves, Same(0), out, size],  # both factors are one matrix
        ]  # fmt: skip
        return several[self.kind]

    def sum_of_first(self, arrays: list[Any]) -> float:
        """The sum that the recording has as `sum_of_first_64`, of the arrays of a `Run`."""
        where = 1 if self.kind in (0, 2) else 2
        type = np.int32 if self.kind == 2 else np.float32
        return float(arrays[where].view(type)[:BINS].astype(np.float64).sum())


def numbers(count: int) -> np.ndarray:
    """Floats in [0, 1): ((i * 7919 + 13) % 1009) / 1009."""
    i = np.arange(count, dtype=np.int64)
    return (((i * 7919 + 13) % 1009) / np.float32(1009)).astype(np.float32)


def indices(count: int) -> np.ndarray:
    """Numbers below `count`, far from their neighbours: (i * 40503) % count."""
    return ((np.arange(count, dtype=np.int64) * 40503) % count).astype(np.int32)


@cache
def recordings() -> Mapping[str, Recording]:
    """All of them by name, in the order of `counters.csv`."""
    with (FOLDER / "counters.csv").open(newline="") as file:
        return {row["kernel"]: _recording(row) for row in csv.DictReader(file)}


def recording(name: str) -> Recording:
    """The recorded kernel of this name. ValueError if there is none."""
    if name not in recordings():
        raise ValueError(f"no recorded kernel {name}; there are {', '.join(recordings())}")
    return recordings()[name]


def _recording(row: Mapping[str, str]) -> Recording:
    gx, gy, bx, by, n = (int(row[key]) for key in SIZES)
    counters = {
        key: float(text) if "." in text else int(text)
        for key, text in row.items()
        if key not in TEXTS + SIZES
    }
    merged = row["shared_loads_merged"] == "yes"
    return Recording(row["kernel"], (gx, gy), (bx, by), n, merged, counters)
