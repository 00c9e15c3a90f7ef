"""The tables of the lab: what each text moves between the levels, and how fast it is here.

    counts_table({"naive": naive(), "tiled": tiled()})       simulated, the same everywhere
    rates_table({"tiled": tiled(), "4 × 16": another}, blas_rates)

A row has any name; the parameters of a text's `matmul` say which milestone it is for. It is
compiled for this processor and called in a process of its own, where an endless loop or a crash
ends in an error message. Without g++, the tables are recorded. Next room:
autograder/units/u07_lab_matmul/checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from course_lib.bridges.gxx import FLAGS, CppError, apart, compiler
from course_lib.draw.plots.table import table
from course_lib.exercises import baselines
from course_lib.recorded import recorded
from lessons.u07_lab_matmul.counting import (
    COUNT_FLAGS,
    LEVELS,
    Case,
    allowed,
    moved,
    room_for,
    source,
    touched,
)

# The one product has rows of an odd number of lines, the other rows of 16 lines.
COUNTED = (Case(96, 112, 144, 4096, 16384), Case(48, 256, 48, 4096, 16384))
TIMED = ((384, 768, 768), (384, 1024, 768))  # m, n, k
CACHES = (32 << 10, 256 << 10)  # bytes, as in many processors
SECONDS, REPEAT = 20, 3  # of processor time for a call, and the calls of which the best counts
BY_GXX = recorded(__file__, "gxx.txt")
NO_COMPILER = f"There is no g++ here. These figures, of our own loops, were {BY_GXX.words}."


def counts_table(texts: Mapping[str, str]) -> Any:
    """For each text and each of two products, the numbers that move into each level for each
    multiply-add, below what a milestone allows."""
    heads = ["columns", "loops", *(f"{level} (numbers/multiply-add)" for level in LEVELS)]
    if compiler() is None:
        print(NO_COMPILER)
        return table(BY_GXX.data("counts"), heads)
    return table(counts_of(texts), heads)


def counts_of(texts: Mapping[str, str]) -> list[list[Any]]:
    """The rows of that table."""
    return [row for case in COUNTED for row in _counts(texts, case)]


def _counts(texts: Mapping[str, str], case: Case) -> list[list[Any]]:
    work, columns = case.m * case.n * case.k, str(case.n)
    rows: list[list[Any]] = []
    for name, text in texts.items():
        levels = into(text, case)
        rows.append([columns, name, *(levels[level] for level in LEVELS)])
    limit = allowed(case, copied=case != COUNTED[0])
    milestone = "tiled" if case == COUNTED[0] else "packed"
    return [*rows, [columns, f"{milestone}, at most", *(limit[level] / work for level in LEVELS)]]


@cache
def into(text: str, case: Case = COUNTED[0]) -> dict[str, float]:
    """For each level, how many numbers move into it for each multiply-add."""
    seen = touched(apart(source(text), "counted", COUNT_FLAGS), case)
    if seen.outside:
        raise CppError("{}[{}] is outside: there are {:,} elements.".format(*seen.outside))
    _demand(seen.result, seen.right)
    with baselines("cost.cache.missed"):
        return {level: sum(by.values()) / (case.m * case.n * case.k)
                for level, by in moved(seen).items()}  # fmt: skip


def rates_table(
    texts: Mapping[str, str],
    blas_rates: Callable[..., Sequence[float]],
    tell: Callable[[dict[str, float]], object] = lambda _: None,
    caches: tuple[int, int] = CACHES,
) -> Any:
    """GFLOP/s of each text and of numpy, one thread each, for two widths of w.

    blas_rates   FLOP/s of numpy's product of some sizes
    tell         is given the rates of the first product, once all have run
    caches       the bytes that the texts get as L1 and L2
    """
    heads = ["loops", *(f"{m} × {n} × {k} (GFLOP/s)" for m, n, k in TIMED), "of numpy's rate (%)"]
    if compiler() is None:
        print(NO_COMPILER)
        return table(BY_GXX.data("rates"), heads)
    rows = rates_of(texts, blas_rates, caches)
    tell({name: 1e9 * first for name, first, *_ in rows})
    return table(rows, heads)


def rates_of(
    texts: Mapping[str, str],
    blas_rates: Callable[..., Sequence[float]],
    caches: tuple[int, int],
) -> list[list[Any]]:
    """The rows of that table; the last one is numpy's."""
    blas = list(blas_rates(TIMED, REPEAT))
    rates = {name: [rate(text, sizes, caches) for sizes in TIMED]
             for name, text in texts.items()}  # fmt: skip
    rates["numpy, one thread"] = blas
    return [[name, *(one / 1e9 for one in each), 100 * each[0] / blas[0]]
            for name, each in rates.items()]  # fmt: skip


def rate(text: str, sizes: tuple[int, int, int], caches: tuple[int, int]) -> float:
    """FLOP/s of a text, from the processor time of its process, the best of some calls."""
    case = Case(*sizes, *caches)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(size, dtype=np.float32)
            for size in ((case.m, case.k), (case.k, case.n)))  # fmt: skip
    out, room = (np.zeros(size, np.float32) for size in ((case.m, case.n), room_for(case)))
    call = apart(source(text), "timed", FLAGS, SECONDS)
    ran = call(x, w, out, room, *case, repeat=REPEAT)
    _demand(out, x @ w)
    return 2 * case.m * case.n * case.k / min(ran.seconds)


def _demand(out: np.ndarray, right: np.ndarray) -> None:
    if wrong := np.count_nonzero(~np.isclose(out, right, rtol=1e-3, atol=1e-3)):
        raise CppError(f"These loops do not compute the product: {wrong:,} of {out.size:,} numbers "
                       "are wrong.")  # fmt: skip
