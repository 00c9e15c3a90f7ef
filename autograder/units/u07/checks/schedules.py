"""Visible checks of unit 7 for schedules: blocking.

A schedule passes if it is one and the product stays the product; its points depend on how long a
processor with two small caches would wait. Next room: ../hidden.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.cost.cache import Cache, misses
from course_lib.exercises import baselines
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel
from course_lib.schedule.script import Schedule, parse_schedule
from course_lib.schedule.steps import Pack
from lessons.u07.products import PRODUCTS, Sizes, product, waiting

CASES = PRODUCTS
GOOD = 0.60  # cycles for each multiply-add from which an answer earns all points
LONGER = 4 / 3  # each time that the waiting is so much longer costs a quarter
STEPS_SPEC = "the steps, one per line, as `parse_schedule` reads them"
NO_PACK = "Every step of the language is allowed except `pack`"

background(
    "u07.blocking",
    "which would rearrange an operand before the product begins and cost nothing here",
    because="the reason for the rule before it",
)


@checks("u07.blocking", spec=[STEPS_SPEC, NO_PACK, "A schedule for a product, as text",
                              "m is a multiple of 12, n of 16, and k of 4"])  # fmt: skip
def it_is_a_schedule_of_the_product(blocking):
    """The steps apply, and the loops still compute the product."""
    for sizes in ((12, 48, 20), (12, 16, 4), (24, 16, 44)):
        multiplies(blocking, sizes, 2048, 16384)


def multiplies(blocking: Any, sizes: Sizes, first: int, second: int) -> None:
    """The steps apply to this product, and it is still computed."""
    kernel = applied(blocking, sizes, first, second)
    if not _multiplies(kernel, *sizes):
        raise Wrong("The loops must still compute the product.", program=repr(kernel),
                    spec="A schedule for a product")  # fmt: skip


@functools.lru_cache(maxsize=512)
def _multiplies(kernel: Kernel, m: int, n: int, k: int) -> bool:
    """Does it compute the product of two matrices?"""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, dims).astype(np.float32) for dims in ((m, k), (k, n)))
    out = np.zeros((m, n), np.float32)
    run_kernel(kernel, {"x": x, "w": w, "out": out})
    return np.array_equal(out, x @ w)


@checks("u07.blocking", spec=["that makes the processor wait as little as possible",
                              "a miss in the first cache costs 10 cycles",
                              "one in the second costs 60 more",
                              "What counts is the sum of these costs for each multiply-add, as "
                              "the mean over several products and caches",
                              "bytes of the first cache, which has 4 ways",
                              "bytes of the second cache, which has 8 ways"])  # fmt: skip
def the_processor_waits_little(blocking):
    """Cycles of waiting for each multiply-add, in four products."""
    return score(blocking, CASES)


def score(blocking: Any, cases: Sequence[tuple[int, int, int, int, int]]) -> Score:
    """All points from `GOOD`; a quarter less each time that the waiting is a third longer."""
    waits = [
        _waiting(applied(blocking, (m, n, k), *caches), (m, n, k), *caches)
        for m, n, k, *caches in cases
    ]
    mean = sum(waits) / len(waits)
    sizes = [f"{m} × {n} × {k} with {first:,} and {second:,} bytes: {w:.3f}"
             for (m, n, k, first, second), w in zip(cases, waits, strict=True)]  # fmt: skip
    return Score(worth(mean), f"{mean:.3f} cycles of waiting for each multiply-add "
                 f"({'; '.join(sizes)}); all points from {GOOD:.2f}")  # fmt: skip


def worth(mean: float) -> float:
    """The part of the points for a mean of so many cycles."""
    return min(1.0, max(0.0, 1 - math.log(mean / GOOD) / math.log(LONGER) / 4))


@functools.lru_cache(maxsize=512)
def _waiting(kernel: Kernel, sizes: Sizes, first: int, second: int) -> float:
    with baselines("cost.cache.missed"):
        return waiting(misses(kernel, (Cache(first, 4), Cache(second, 8))), sizes)


def applied(blocking: Any, sizes: Sizes, first: int, second: int) -> Kernel:
    """The product after the steps that the answer gives; Wrong if they do not fit."""
    program = f"blocking({', '.join(map(str, (*sizes, first, second)))})"
    text = blocking(*sizes, first, second)
    if not isinstance(text, str):
        shown = returned(text)
        raise Wrong("The function must return the steps as one string.", program=program, got=shown,
                    spec=STEPS_SPEC)  # fmt: skip
    try:
        schedule: Schedule = parse_schedule(text)
        if any(isinstance(step, Pack) for step in schedule.steps):
            raise Wrong("`pack` may not be used.", program=program, got=text, spec=NO_PACK)
        return schedule.apply(product(*sizes))
    except ValueError as error:
        raise Wrong(f"The steps must apply to the product, but: {error}.", program=program,
                    got=text, spec=STEPS_SPEC) from None  # fmt: skip
