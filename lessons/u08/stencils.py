"""The nests of unit 8 and what is counted of them: misses, and numbers that come out wrong.

    row(1024, 64)                    # a row of numbers, smoothed 64 times, in place
    plate(64, 64, 16, reach=1)       # the same with two dimensions
    in_blocks(64)                    # the row cut into blocks without asking whether that is legal
    nest_table({"as written": row()})    # misses, and how many numbers are wrong

Next room: pairs.py.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from course_lib.cost.cache import Cache, misses
from course_lib.draw.plots.table import table
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.script import parse_schedule

CELLS, STEPS = 1024, 64
CACHE = Cache(2 << 10, 4)  # the first of unit 7's two
CELL = "out[{i}] = 0.25 * out[{i} - 1] + 0.5 * out[{i}] + 0.25 * out[{i} + 1]"

# Five nests for the exercise, and where x is read, it has the shape of the iterations.
FIVE = {
    "a": "for i in 0..8 { for j in 0..8 { out[i + 1, j] = 0.5 * out[i, j + 1] } }",
    "b": "for i in 0..8 { out[2*i] = 0.5 * out[2*i + 1] }",
    "c": "for i in 0..4 { out[i] = 0.5 * out[i + 4] }",
    "d": "for i in 0..4 { for j in 0..8 { out[i + 2*j] = x[i, j] } }",
    "e": "for i in 0..8 { out[2*i] = 0.5 * out[i + 3] }",
}
PARAMS = {"a": "out: f32[9,9]", "d": "x: f32[4,8], out: f32[18]"}


def five() -> dict[str, Kernel]:
    """The five nests of `u08.witnesses`."""
    return {name: parse_kernel(f"kernel @{name}({PARAMS.get(name, 'out: f32[16]')}) {{ {text} }}")
            for name, text in FIVE.items()}  # fmt: skip


def row(cells: int = CELLS, steps: int = STEPS) -> Kernel:
    """Each number becomes a mean of itself and its two neighbours, `steps` times, in place."""
    return parse_kernel(f"""
kernel @row(out: f32[{cells}]) {{
  for t in 0..{steps} {{ for i in 1..{cells - 1} {{
    {CELL.format(i="i")}
  }} }}
}}""")


def flow_distances(steps: int, cells: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Of the row, from a write to a read of the same element: those where the read gets the value
    of that write, as no other write comes between, and the others."""
    writes: dict[int, list[tuple[int, int]]] = {}
    values, elements = set(), set()
    for t, i in product(range(steps), range(1, cells + 1)):
        for read in (i - 1, i, i + 1):
            before = [(t - when, i - where) for when, where in writes.get(read, [])]
            values |= set(before[-1:])
            elements |= set(before[:-1])
        writes.setdefault(i, []).append((t, i))
    return values, elements - values


def distances_table(steps: int, cells: int) -> Any:
    """`flow_distances`, as a table."""
    values, others = map(sorted, flow_distances(steps, cells))
    rows = [["the value", str(values)[1:-1]], ["only the element", str(others)[1:-1]]]
    return table(rows, ["what is read again", "distances from a write to a read"])


def in_blocks(block: int, cells: int = CELLS, steps: int = STEPS) -> Kernel:
    """All steps on one block of the row, then on the next, as if that were legal."""
    low, high = f"max(0, 1 - {block}*io)", f"min({block}, {cells - 1} - {block}*io)"
    return parse_kernel(f"""
kernel @row(out: f32[{cells}]) {{
  for io in 0..{-(-cells // block)} {{ for t in 0..{steps} {{ for ii in {low}..{high} {{
    {CELL.format(i=f"{block}*io + ii")}
  }} }} }}
}}""")


def plate(rows: int, columns: int, steps: int, reach: int = 1) -> Kernel:
    """A mean of itself, of the numbers `reach` rows above and below, and of those beside it."""
    mean = f"out[i - {reach}, j] + out[i + {reach}, j] + out[i, j - 1] + out[i, j + 1]"
    return parse_kernel(f"""
kernel @plate(out: f32[{rows},{columns}]) {{
  for t in 0..{steps} {{ for i in {reach}..{rows - reach} {{ for j in 1..{columns - 1} {{
    out[i, j] = 0.5 * out[i, j] + 0.125 * ({mean})
  }} }} }}
}}""")


def scheduled(kernel: Kernel, steps: str) -> Kernel:
    """The kernel after the steps of a schedule, given as text."""
    return parse_schedule(steps).apply(kernel)


@functools.lru_cache(maxsize=512)
def missing(kernel: Kernel, cache: Cache = CACHE) -> int:
    """How often the kernel misses the cache."""
    return sum(misses(kernel, [cache])[0].values())


@functools.lru_cache(maxsize=64)
def result(kernel: Kernel) -> np.ndarray:
    """What `out` is afterwards, by the interpreter, which rounds as the loops are written."""
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.standard_normal(b.type.dims, np.float32) for b in kernel.params}
    run_kernel(kernel, arrays)
    return arrays[kernel.out.name]


def wrong(kernel: Kernel, right: Kernel) -> int:
    """How many numbers differ, even if only in the last bit."""
    return int((result(kernel) != result(right)).sum())


def nest_table(kernels: Mapping[str, Kernel]) -> Any:
    """Misses, and the numbers that are not what the first kernel computes."""
    right = next(iter(kernels.values()))
    rows = [[name, missing(kernel), wrong(kernel, right)] for name, kernel in kernels.items()]
    return table(rows, ["loops", "misses", "wrong numbers"], exact=["misses", "wrong numbers"])


def miss_table(kernels: Mapping[str, Kernel]) -> Any:
    """Misses alone."""
    rows = [[name, missing(kernel)] for name, kernel in kernels.items()]
    return table(rows, ["loops", "misses"], exact=["misses"])
