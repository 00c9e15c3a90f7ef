"""The product of unit 7, its schedules, and what is counted and measured of them.

    product(64, 64, 64)                    # three loops, m, n and k, around one multiply-add
    scheduled((64, 64, 64), "split(m, 4)") # after some steps
    miss_table({"as written": kernel})     # misses of each operand in the two small caches

Next room: libraries.py, the same in numpy, torch and onnxruntime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from time import process_time
from typing import Any

import numpy as np

from course_lib.cost.cache import SMALL, Cache, misses
from course_lib.cost.reuse import distances
from course_lib.cost.trace import LINE, trace
from course_lib.draw.base.stepper import stepper
from course_lib.draw.plots.roofline import Dot
from course_lib.draw.plots.table import table
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.llvm.inspect import fixed
from course_lib.llvm.jit import compile_kernels, emit_module
from course_lib.measure.turns import in_turns, least
from course_lib.schedule.script import parse_schedule
from lessons.bill import bill_of

Sizes = tuple[int, int, int]  # m, n, k
LARGE = (Cache(32 << 10, 8), Cache(256 << 10, 8))  # as many processors had them
MOST = 512  # lines of the largest cache of a curve
WAITS = (10, 60)  # cycles for a miss in the first cache, and more for one in the second


def product(m: int, n: int, k: int) -> Kernel:
    """The algorithm: out[m, n] = the sum of x[m, k] * w[k, n] over k. `out` is 0 before."""
    return parse_kernel(f"""
kernel @product(x: f32[{m},{k}], w: f32[{k},{n}], out: f32[{m},{n}]) {{
  for m in 0..{m} {{ for n in 0..{n} {{ for k in 0..{k} {{
    out[m, n] += x[m, k] * w[k, n]
  }} }} }}
}}""")


def scheduled(sizes: Sizes, steps: str) -> Kernel:
    """The product after the steps of a schedule, given as text. ValueError if one does not fit."""
    return parse_schedule(steps).apply(product(*sizes))


def waiting(missed: Sequence[Mapping[str, int]], sizes: Sizes) -> float:
    """Cycles of waiting for each multiply-add, from the misses of two caches."""
    cycles = sum(w * sum(by_buffer.values()) for w, by_buffer in zip(WAITS, missed, strict=True))
    return cycles / int(np.prod(sizes))


def miss_table(kernels: Mapping[str, Kernel], caches: Sequence[Cache] = SMALL) -> Any:
    """Misses of each operand in the first cache, of all in the second, cycles of waiting. Packed
    copies of an operand count with it."""
    rows = []
    for name, kernel in kernels.items():
        missed = misses(kernel, caches)
        (m, k), (_, n) = (b.type.dims for b in kernel.params[:2])
        first = {b.name: 0 for b in kernel.params}
        for buffer, count in missed[0].items():
            first[re.sub(r"_tile.*|acc.*", "", buffer) or "out"] += count
        cells = [f"{count:,}" for count in (*first.values(), sum(missed[1].values()))]
        rows.append([name, *cells, waiting(missed, (m, n, k))])
    heads = [f"{name}, cache 1" for name in ("x", "w", "out")]
    return table(rows, ["loops", *heads, "all, cache 2", "waiting (cycles per multiply-add)"])


# The products of `u07.blocking`: m, n, k, and the bytes of the two caches. No depth but 1, 2 and 4
# divides every k, and the caches differ, so that a text without sizes of its own cannot earn all
# points.
PRODUCTS = [(36, 48, 100, 1024, 8192), (24, 96, 180, 8192, 16384), (48, 64, 112, 2048, 16384),
            (36, 96, 60, 2048, 16384)]  # fmt: skip


def wait(steps: str, sizes: Sizes, first: int, second: int) -> float:
    """Cycles of waiting for each multiply-add of a product (m, n, k) after some steps, with a first
    cache of so many bytes in 4 ways and a second one in 8."""
    return waiting(misses(scheduled(sizes, steps), (Cache(first, 4), Cache(second, 8))), sizes)


def products_table(blocking: Callable[..., str]) -> Any:
    """The wait of each of `PRODUCTS`, as written, in the best order, and by a student's steps."""
    rows = []
    for *extents, first, second in PRODUCTS:
        m, n, k = extents
        ways = ("", "reorder(m, k, n)", blocking(m, n, k, first, second))
        waits = [wait(steps, (m, n, k), first, second) for steps in ways]
        rows.append([f"{m} × {n} × {k}", f"{first:,}", f"{second:,}", *waits])
    heads = ["m × n × k", "cache 1 (bytes)", "cache 2 (bytes)", "as written", "m, k, n", "yours"]
    return table(rows, heads)


# `lines_beyond` of 288 x 288 x 288, which takes a while: as written, and with the loops m, k, n.
BEYOND = {"as written": 1_503_360, "m, k, n": 1_503_360}

# Products in the four models, (m, n, k), each extent about a quarter of what it is there, as the
# small caches are a sixteenth of real ones, and 12 divides the rows. One picture or 96 tokens; 1x1
# convolutions are products too.
IN_MODELS: dict[str, Sizes] = {
    "transformer block, 96 tokens, to queries": (24, 64, 64),
    "transformer block, 96 tokens, first layer of the MLP": (24, 256, 64),
    "ResNet-18, shortcut to 28 × 28 pixels": (192, 32, 16),
    "MobileNetV2, expansion at 14 × 14 pixels": (48, 96, 16),
}


def bill(ways: Mapping[str, Callable[..., str]], caches: Sequence[Cache] = SMALL) -> Any:
    """Cycles of waiting for each multiply-add of the products of `IN_MODELS`, by each way to make
    a schedule of (m, n, k, bytes of the first cache, bytes of the second)."""
    rows = []
    for name, sizes in IN_MODELS.items():
        m, n, k = sizes
        row: list[Any] = [name, f"{m} × {n} × {k}"]
        for steps in ways.values():
            text = steps(*sizes, *(cache.size for cache in caches))
            row.append(waiting(misses(scheduled(sizes, text), caches), sizes))
        every = {"": (m * k + k * n + m * n) // 16}
        rows.append([*row, waiting([every, every], sizes)])
    return bill_of(rows, ["product", "m × n × k", *ways, "each line once"])


def differing(sizes: Sizes, schedules: Mapping[str, str]) -> Any:
    """How many numbers of a product are rounded otherwise after some steps than as written."""
    x, w = matrices(*sizes)

    def run(steps: str) -> np.ndarray:
        out = np.zeros((sizes[0], sizes[1]), np.float32)
        run_kernel(scheduled(sizes, steps), {"x": x, "w": w, "out": out})
        return out

    right = run("")
    rows = [[name, f"{(run(steps) != right).sum()} of {right.size}"]
            for name, steps in schedules.items()]  # fmt: skip
    return table(rows, ["steps", "numbers whose last bits differ"])


def reuse(kernel: Kernel) -> dict[int, int]:
    """How many accesses have each reuse distance; -1 for the first of a line."""
    reuse_distances = distances(trace(kernel).addresses // LINE)
    values, counts = np.unique(reuse_distances, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def miss_curve(counts: Mapping[int, int], work: int) -> list[tuple[float, float]]:
    """For caches without sets, misses for each of `work` multiply-adds: at every number of lines
    where they change, and just before."""
    changes = sorted({s for d in counts if d > 0 for s in (d, d + 1)} | {1, MOST})
    return [(s, sum(n for d, n in counts.items() if d < 0 or d >= s) / work) for s in changes]


def stages(sizes: Sizes, steps: str, title: str) -> Any:
    """The loops after each step of a schedule, to walk through."""
    written = parse_schedule(steps).steps
    kernels = accumulate(written, lambda kernel, step: step.apply(kernel), initial=product(*sizes))
    names = ["as written", *map(str, written)]
    return stepper([*zip(names, map(repr, kernels), strict=True)], title=title)


def tile_schedule(rows: int, vectors: int, lanes: int = 8) -> str:
    """A product of which a tile of rows × vectors sums stays in registers while k runs."""
    return f"""
        split(m, {rows})
        split(n, {vectors * lanes})
        split(ni, {lanes})
        reorder(mo, no, k, mi, nio, nii)
        unroll(mi)
        unroll(nio)
        vectorize(nii)
        promote(out, k)
    """


def assembly(kernel: Kernel, cpu: str = fixed.HASWELL) -> list[str]:
    """The lines of a kernel's assembly for one processor, which need not be this one."""
    text, _ = emit_module(kernel)
    text = re.sub(r'target triple = "[^"]*"', f'target triple = "{fixed.TRIPLE}"', text)
    return fixed.assembly(fixed.optimized(text, cpu), cpu).splitlines()


def innermost(lines: Sequence[str]) -> list[str]:
    """The instructions of the first innermost loop that multiplies."""
    return [line for line in fixed.innermost(lines) if re.match(r"\t[a-z]", line)]


def counted(code: Sequence[str]) -> tuple[int, int, int]:
    """Multiply-adds, loads of operands and uses of the stack in the instructions of a loop."""
    multiply_adds = sum("fmadd" in line for line in code)
    stack = sum("%rsp" in line for line in code)
    return multiply_adds, sum("(%r" in line and "%rsp" not in line for line in code), stack


def tile_table(tiles: Sequence[tuple[int, int]]) -> Any:
    """What LLVM makes of tiles on a processor with 16 vector registers."""
    rows = []
    for tall, wide in tiles:
        kernel = scheduled((4 * tall, 16 * wide, 64), tile_schedule(tall, wide))
        fma, loads, stack = counted(innermost(assembly(kernel)))
        rows.append([f"{tall} × {wide}", tall * wide, fma, loads, stack, (loads + stack) / fma])
    heads = ["sums", "multiply-adds", "loads", "on the stack", "memory accesses per multiply-add"]
    return table(rows, ["rows × vectors", *heads])


def runner(kernel: Kernel) -> Callable[..., np.ndarray]:
    """The product as machine code for this processor: run(x, w) -> out."""
    code = compile_kernels([kernel])

    def run(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        out = np.zeros(kernel.out.type.dims, np.float32)
        for part, iterations in code.functions[kernel.name]:
            part(x.ctypes.data, w.ctypes.data, out.ctypes.data, 0, iterations)
        return out

    return run


def matrices(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((m, k), dtype=np.float32),
            rng.standard_normal((k, n), dtype=np.float32))  # fmt: skip


def rates(
    runs: Mapping[str, Callable[..., np.ndarray]], sizes: Sizes, repeat: int = 5
) -> dict[str, float]:
    """FLOP/s of each, from processor time, the best of some runs in turn. Each must agree with
    numpy: ValueError if not."""
    x, w = matrices(*sizes)
    right = x @ w
    for name, run in runs.items():
        if not np.allclose(run(x, w), right, rtol=1e-3, atol=1e-3):
            raise ValueError(f"{name} does not compute the product")
    calls = [partial(run, x, w) for run in runs.values()]
    best = least(in_turns(calls, repeat, clock=process_time))
    return {name: 2 * float(np.prod(sizes)) / t for name, t in zip(runs, best, strict=True)}


def lines_beyond(steps: Callable[..., str], sizes: Sizes, caches: Sequence[Cache] = LARGE) -> float:
    """How many lines a product brings from beyond the last cache.

    steps    makes the schedule of (m, n, k, bytes of the first cache, bytes of the second)
    """
    m, n, k = sizes

    def beyond(rows: int) -> int:
        text = steps(rows, n, k, *(cache.size for cache in caches))
        return sum(misses(scheduled((rows, n, k), text), caches)[-1].values())

    return extended(beyond, m)


def extended(lines: Callable[[int], int], m: int) -> float:
    """The lines of m rows: those of 24 and of 48 rows are simulated, and each further 24 are taken
    to cost as much as the second ones."""
    few, more = lines(24), lines(48)
    return few + (more - few) * (m - 24) / 24


def dot(name: str, lines: float, rate: float, sizes: Sizes) -> Dot:
    """A product on the roofline: FLOP for each byte from beyond the caches, and FLOP/s."""
    return Dot(name, 2 * float(np.prod(sizes)) / (LINE * lines), rate)
