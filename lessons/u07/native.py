"""The product in C++, typed by hand: its misses, by the simulator, and its speed.

    native_table(TEXTBOOK, "for (long m = 0; m < M; ++m) { ...")     beside numpy's product
    packing_table(tiled, packed)                                     for three widths of w
    dots(tiled, (288, 288, 288))                                     for the roofline

The text is the body of a function of x, w, out (flat, row-major), the extents M, N, K, and `copy`,
memory for a packed w. It is compiled twice: with arrays in place of the pointers that check each
index and record each address (`course_lib/bridges/accesses.py`), so that the simulator counts what
the loops touch; and then as it is, to be timed. What the body declares itself is not counted. Both
run in processes of their own, where an endless loop costs a sentence. Next room:
autograder/units/u07/checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.bridges.accesses import HEADER, accesses
from course_lib.bridges.gxx import FLAGS, CppError, Ran, apart, compiler
from course_lib.cost.cache import misses_of
from course_lib.cost.trace import LINE, Trace
from course_lib.draw.plots.roofline import Dot
from course_lib.draw.plots.table import table
from course_lib.recorded import recorded
from lessons.u07.libraries import blas_rates
from lessons.u07.products import LARGE, Sizes, dot, extended, matrices, waiting

COUNTED, TIMED = (24, 384, 192), (768, 768, 768)  # sizes: m, n, k
WIDTHS, BLOCK = (768, 1024, 1040), 96  # columns of w, and the rows of a strip of it
SECONDS = 10  # of processor time for a call
TURNS, REPEAT = 2, 2  # how often each text is started, and how often it is timed each time
# What the cells show where there is no g++: misses of the first and the second cache at `COUNTED`,
# cycles of waiting, GFLOP/s at `TIMED` and percent of numpy's, of the loops in test_u07.py.
BY_GXX = recorded(__file__, "gxx.txt")
RECORDED: list[list[Any]] = BY_GXX.data("loops")
# For each of `WIDTHS`: sets, cycles of waiting, and GFLOP/s of the tiled loops, packed, and numpy.
RECORDED_PACKED: list[list[Any]] = BY_GXX.data("packing")

TEXTBOOK = """
  for (long m = 0; m < M; ++m)
    for (long n = 0; n < N; ++n)
      for (long k = 0; k < K; ++k)
        out[m * N + n] += x[m * K + k] * w[k * N + n];
"""

# around the body
SOURCE = Path(__file__).with_name("product.cpp").read_text().replace("RECORDED", HEADER)


def touched(body: str, m: int, n: int, k: int, most: int = 8) -> Trace:
    """The accesses of the loops to the matrices and to the copy, in the order of the program: at
    most so many for each multiply-add."""
    function = _program(body, "traced", ("-DCOUNT", *FLAGS), SECONDS)
    x, w = matrices(m, n, k)
    out = np.zeros((m, n), np.float32)
    arrays = {"x": x, "w": w, "out": out, "copy": np.zeros_like(w)}
    seen = accesses(function, arrays, (m, n, k), most * m * n * k)
    if seen.outside:
        raise CppError("{}[{}] is outside: there are {:,} elements.".format(*seen.outside))
    if seen.count > len(seen.trace.addresses):
        raise CppError(f"There are more than {most} accesses for each multiply-add.")
    _demand(out, x @ w)
    return seen.trace


def speeds(bodies: Mapping[str, str], sizes: Sizes) -> dict[str, float]:
    """FLOP/s of each, from the processor time of its own process, the best of some runs in turn."""
    x, w = matrices(*sizes)
    out, copy, right = np.zeros((sizes[0], sizes[1]), np.float32), np.zeros_like(w), x @ w
    programs = {name: _program(body, "run", FLAGS, SECONDS) for name, body in bodies.items()}
    times: dict[str, list[float]] = {name: [] for name in bodies}
    for _ in range(TURNS):
        for name, program in programs.items():
            ran = program(x, w, out, copy, *sizes, repeat=1 + REPEAT)
            _demand(out, right)
            times[name] += ran.seconds[1:]  # the first one brings the pages in
    return {name: 2 * float(np.prod(sizes)) / min(t) for name, t in times.items()}


@cache
def _program(body: str, name: str, flags: tuple[str, ...], seconds: float) -> Callable[..., Ran]:
    return apart(SOURCE.replace("BODY", body), name, flags, seconds)


def _demand(out: np.ndarray, right: np.ndarray) -> None:
    wrong = ~np.isclose(out, right, rtol=1e-3, atol=1e-3)
    if wrong.any():
        at = ", ".join(map(str, np.argwhere(wrong)[0]))
        raise CppError(
            f"These loops do not compute the product: {wrong.sum():,} of {wrong.size:,} numbers "
            f"are wrong. The first is out[{at}]: {out[wrong][0]:.4g}, not {right[wrong][0]:.4g}."
        )


def native_table(textbook: str, yours: str, tell: Callable[[float], object] | None = None) -> Any:
    """Misses in two caches of usual size, cycles of waiting, and speed on this processor, beside
    numpy's on one thread.

    tell     is given how many times as fast yours is, once both have run
    """
    heads = [*HEADS, "GFLOP/s", "of numpy's (%)"]
    bodies = filled({"textbook": textbook, "yours": yours})
    if compiler() is None:
        print(NO_COMPILER)
        return table(RECORDED, heads)
    rows = native_rows(bodies)
    if tell is not None and len(bodies) == 2:
        tell(round(rows[1][-2] / rows[0][-2], 1))
    return table(rows, heads)


def native_rows(bodies: Mapping[str, str]) -> list[list[Any]]:
    """For each text misses, waiting, GFLOP/s and percent of numpy's; the last row is numpy's."""
    counts, speed = counted_in(bodies), speeds(bodies, TIMED)
    (blas,) = blas_rates([TIMED], TURNS * REPEAT)
    rows = [[name, *counts[name], speed[name] / 1e9, 100 * speed[name] / blas] for name in bodies]
    return [*rows, ["numpy, one thread", *UNKNOWN, blas / 1e9, 100.0]]


def packing_table(yours: str, packed: str) -> Any:
    """GFLOP/s with and without a packed w, for some widths of it, beside numpy's; how many of the
    first cache's sets the lines of a strip use; and how long yours waits, by the simulator."""
    first, bodies = LARGE[0], filled({"yours": yours, "packed": packed})
    heads = ["columns of w", f"sets of {first.sets} that a strip of w uses",
             "yours: waiting, simulated (cycles per multiply-add)", "yours (GFLOP/s)",
             "packed (GFLOP/s)", "numpy, one thread (GFLOP/s)"]  # fmt: skip
    if compiler() is None:
        print(NO_COMPILER)
        return table(RECORDED_PACKED, heads)
    return table(packing_rows(bodies), heads)


def packing_rows(bodies: Mapping[str, str]) -> list[list[Any]]:
    """For each of WIDTHS: sets, waiting, and GFLOP/s of `yours`, `packed` and numpy."""
    first, yours = LARGE[0], bodies.get("yours")
    products: list[Sizes] = [(384, columns, 768) for columns in WIDTHS]
    rows: list[list[Any]] = []
    for sizes, blas in zip(products, blas_rates(products, TURNS * REPEAT), strict=True):
        columns, speed = sizes[1], speeds(bodies, sizes)
        sets = {row * columns * 4 // LINE % first.sets for row in range(BLOCK)}
        few = (12, columns, BLOCK)
        waits = waiting(misses_of(touched(yours, *few), LARGE), few) if yours else None
        rates = [speed[name] / 1e9 if name in speed else None for name in ("yours", "packed")]
        rows.append([f"{columns:,}", len(sets), waits, *rates, blas / 1e9])
    return rows


def dots(yours: str, sizes: Sizes) -> list[Dot]:
    """Some loops on the roofline, their bytes counted as `lines_beyond` counts them. None, and why,
    if they cannot be run."""
    bodies = filled({"yours, C++": yours})
    if compiler() is None:
        return []
    m, n, k = sizes

    def beyond(rows: int) -> int:
        return sum(misses_of(touched(yours, rows, n, k, 4), LARGE)[-1].values())

    try:
        speed = speeds(bodies, sizes)
        return [dot(name, extended(beyond, m), speed[name], sizes) for name in bodies]
    except CppError as error:
        print(f"Your C++ is not on the roofline. {error}")
        return []


HEADS = ["loops in C++", "misses, cache 1", "cache 2", "waiting (cycles per multiply-add)"]
UNKNOWN = ["", "", None]  # nobody counts what the library touches
NO_COMPILER = f"There is no g++ here. These figures were {BY_GXX.words}."


def filled(bodies: Mapping[str, str]) -> dict[str, str]:
    """Those without dots that are left to fill in."""
    for name, body in bodies.items():
        if "..." in body:
            print(f"There are dots left to fill in, so {name} is not run.")
    return {name: body for name, body in bodies.items() if "..." not in body}


def counted_in(bodies: Mapping[str, str]) -> dict[str, list[Any]]:
    """Misses of the two caches and cycles of waiting, of each."""
    counts = {}
    for name, body in bodies.items():
        missed = misses_of(touched(body, *COUNTED), LARGE)
        misses = [f"{sum(by_buffer.values()):,}" for by_buffer in missed]
        counts[name] = [*misses, waiting(missed, COUNTED)]
    return counts
