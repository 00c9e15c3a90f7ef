"""Visible checks of unit 8 about loops: skewing one, schedules for a plate, and a nest as text.

A schedule passes if its steps apply and every bit of the result stays; its points depend on the
misses of a simulated cache. Next room: ../hidden.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.answer import Answer
from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import error_text
from autograder.units.u08.answers.stencils import missing, plate, wrong
from autograder.units.u08.checks import said
from course_lib import exercises
from course_lib.cost.cache import Cache
from course_lib.exercises import NotAnswered, baselines, slot
from course_lib.ir.expr import Affine
from course_lib.ir.loops.interp import run_kernel
from course_lib.ir.loops.nest import Kernel, Loop, Store, print_bounds
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import accesses, loops, nest_of, rewrite
from course_lib.schedule.legality import may_parallelize, may_reorder
from course_lib.schedule.script import parse_schedule

# ── skewing ──

NUMBERS = "The same loop with other numbers: iteration j is now iteration j + factor * outer"
KEPT = "returns  a loop over the same variable and of the same kind"
RUNS = "It runs the same statements in the same order and touches the same elements"
STARTS = (
    "it has one or more `starts`, of which the largest counts, and one or more `stops`, of which "
    "the smallest counts"
)
BOUNDS = "The loop's bounds may contain the variables of all loops around it"
INNER = "loops in the body may have bounds that depend on this loop"
SIGN = "a whole number, which may be negative"
AROUND = "the variable of a loop around it"
WHATEVER = "a loop over any variable"

background("schedule.skewed", 'For example, skewed(loop, "t", 2) turns the first loop',
           because="an example")  # fmt: skip

TWO_AROUND = "for a in 0..3 { for k in 0..3 { for b in k..7 { out[b] = out[b] + x[a + b - k] } } }"
TURNED = "for i in 0..4 { for t in i..9 { out[t] = out[t - i] + x[t] } }"
# The nest, the factor, and the variables of the loops: "t" and "i", if none are given.
NESTS: list[tuple[Any, ...]] = [
    ("for t in 0..4 { for i in 1..9 { out[i] = out[i - 1] + out[i + 1] } }", 1, NUMBERS),
    ("for t in 0..4 { for i in 1..9 { out[i] = out[i - 1] + out[i + 1] } }", 2, RUNS),
    ("for t in 0..4 { for i in 1..9 { out[i] = out[i - 1] + out[i + 1] } }", -1, SIGN),
    ("for t in 0..4 { parallel i in 0..9 { out[i] = out[i] * x[i] } }", 1, KEPT),
    ("for t in 0..4 { for i in t..9 { out[i] = out[i] + x[i - t] } }", 1, BOUNDS),
    ("for t in 0..4 { for i in max(0, 3 - t)..min(9, 4 + 2*t) { out[i] = x[i + t] } }", 2, STARTS),
    (
        "for t in 0..4 { for i in 0..4 { for j in i..i + 3 { out[j] = out[j] + x[i + j] } } }",
        1,
        INNER,
    ),
    ("for t in 0..4 { for i in 1..4 { for j in 0..i { out[i] = out[j] + 1.0 } } }", -2, INNER),
    (TURNED, 1, WHATEVER, "i", "t"),
    (TWO_AROUND, 2, AROUND, "a", "b"),
    (TWO_AROUND, -1, AROUND, "k", "b"),
]


@checks(
    "schedule.skewed",
    spec=[
        NUMBERS,
        RUNS,
        SIGN,
        KEPT,
        BOUNDS,
        STARTS,
        INNER,
        AROUND,
        WHATEVER,
    ],
)
def nests_of_a_few_iterations(skewed):
    """Small nests, as loops before and after."""
    for text, factor, spec, *variables in NESTS:
        skewed_well(skewed, kernel_of(text), factor, spec, *variables)
    return f"{len(NESTS)} nests"


@st.composite
def nests(draw: DrawFn, most: int = 5) -> tuple[Kernel, int, str, str]:
    """(kernel, factor, outer, var): a nest whose loop has bounds that may move with another one."""
    number = st.integers(0, most)
    moves = st.sampled_from(["", " + t", " - t", " + 2*t"])
    low, high = f"{draw(number)}{draw(moves)}", f"{draw(number) + 4}{draw(moves)}"
    text = f"for i in max(0, {low})..min(9, {high}) {{ {draw(BODIES)} }}"
    between = draw(st.booleans())
    text = f"for t in 0..4 {{ {f'for m in 0..2 {{ {text} }}' if between else text} }}"
    names = dict(zip("ti", draw(st.sampled_from(["ti", "it", "an"])), strict=True))
    text = re.sub(r"\b[ti]\b", lambda found: names[found[0]], text)
    return kernel_of(text), draw(st.integers(-3, 3).filter(bool)), names["t"], names["i"]


BODIES = st.sampled_from([
    "out[i] = out[i] * 0.5 + x[i]", "out[2*i] = x[9 - i] + 1.0", "out[i + t] = out[i] + x[t]",
    "for j in 0..i { out[j] = out[i] + x[j] }", "for j in i..9 { out[i] = out[j] + x[i + j] }",
])  # fmt: skip


@checks("schedule.skewed", given=nests(), examples=40, what="random nests", spec=[NUMBERS, RUNS])
def random_nests(skewed, example):
    """The loop runs the same iterations in the same order, under the new numbers."""
    kernel, factor, outer, var = example
    skewed_well(skewed, kernel, factor, NUMBERS, outer, var)


def kernel_of(text: str) -> Kernel:
    return parse_kernel(f"kernel @nest(x: f32[24], out: f32[24]) {{ {text} }}")


def skewed_well(
    skewed: Any, kernel: Kernel, factor: int, spec: str, outer: str = "t", var: str = "i"
) -> None:
    """The loop over `var` in that over `outer`, skewed, is a loop that does the same."""
    *around, loop = nest_of(kernel.body, var)
    program = f'skewed(loop, "{outer}", {factor}), where loop is that over {var} in\n{kernel!r}'
    got = skewed(loop, outer, factor)
    if not isinstance(got, Loop):
        raise Wrong("The function must return a loop.", program=program, got=said(got), spec=KEPT)
    if (got.var, got.kind) != (loop.var, loop.kind):
        raise Wrong("The loop must keep its variable and its kind.", program=program,
                    got=f"{got.kind} {got.var}", expected=f"{loop.kind} {loop.var}",
                    spec=KEPT)  # fmt: skip
    if strange := {v for end in (*got.starts, *got.stops) for v in end.vars if v not in
                   [lo.var for lo in around]}:  # fmt: skip
        raise Wrong(f"The bounds of your loop contain {min(strange)}, but the loops around it "
                    f"run over {' and '.join(lo.var for lo in around)}.", program=program,
                    got=print_bounds(got), spec=AROUND)  # fmt: skip
    for at in _places(around):
        before = [number + factor * at[outer] for number in numbers(loop, at)]
        if numbers(got, at) != before:
            runs = f"the loop over {got.var} in {print_bounds(got)}"
            where = " and ".join(f"{name} = {value}" for name, value in at.items())
            raise Wrong(f"With {where}, {runs} runs through the wrong numbers.", program=program,
                        got=str(numbers(got, at)), expected=str(before),
                        spec=NUMBERS if spec == RUNS else spec)  # fmt: skip
    body = rewrite(kernel.body, lambda s: (got,) if getattr(s, "var", "") == var else (s,))
    _same_run(kernel, replace(kernel, body=body), program, spec)


def _places(around: Sequence[Loop]) -> Iterator[dict[str, int]]:
    """The values of the variables of loops that stand one in another."""
    places: list[dict[str, int]] = [{}]
    for loop in around:
        places = [{**at, loop.var: number} for at in places for number in numbers(loop, at)]
    yield from places


def numbers(loop: Loop, at: Mapping[str, int]) -> list[int]:
    """The values of a loop's variable, where those of the loops around it have these."""
    start = max(bound.evaluate(at) for bound in loop.starts)
    return [*range(start, min(bound.evaluate(at) for bound in loop.stops))]


def _same_run(kernel: Kernel, after: Kernel, program: str, spec: str) -> None:
    rng = np.random.default_rng(0)
    arrays = {b.name: rng.integers(-8, 9, b.type.dims).astype(np.float32) for b in kernel.params}
    copies = {name: array.copy() for name, array in arrays.items()}
    run_kernel(kernel, arrays)
    try:
        run_kernel(after, copies)
    except (ValueError, IndexError, KeyError) as error:
        lost = f"no loop around it is over {error.args[0]}" if type(error) is KeyError else error
        raise Wrong(f"The new loop cannot run: {lost}.", program=program, got=after,
                    spec=RUNS) from None  # fmt: skip
    if not np.array_equal(arrays["out"], copies["out"]):
        raise Wrong("The new loop must compute the same values.", program=program, got=after,
                    spec=INNER if "for j" in repr(kernel) else RUNS)  # fmt: skip


# ── schedules ──

# Rows, columns, steps, reach, and the bytes of the cache.
CASES = [(64, 64, 24, 1, 2048), (40, 64, 24, 1, 4096), (64, 32, 24, 2, 2048),
         (48, 64, 12, 3, 4096)]  # fmt: skip
GOOD = 0.24  # of the misses are left: from here on, all points
MORE = 4 / 3  # each time that so many times as many are left costs a quarter
NONE_BELOW = GOOD * MORE**4
STEPS_SPEC = "the steps, one per line, as `parse_schedule` reads them"
SAME_BITS = "The result must stay the same to the last bit"
OWN = "skew runs your own answer"
FEW = "A schedule for a plate, as text, with as few misses as possible"

background("u08.time_blocks", "Every step of the language is allowed", because="a permission")


@checks(
    "u08.time_blocks",
    spec=[
        STEPS_SPEC,
        SAME_BITS,
        "rows, columns, steps, reach ... the arguments of `plate`",
        "The rows are a multiple of 8, the columns of 16, and the steps",
        OWN,
    ],
)
def it_is_a_schedule_of_the_plate(time_blocks):
    """The steps apply, and the loops still compute the same values."""
    for rows, columns, steps, reach, size in ((16, 16, 12, 1, 1024), (24, 16, 12, 3, 1024)):
        kernel = applied(time_blocks, (rows, columns, steps, reach), size)
        differ = wrong(kernel, plate(rows, columns, steps, reach))
        if differ:
            raise Wrong(f"Every number must stay as it was, but {differ} differ.",
                        program=repr(kernel), spec=SAME_BITS)  # fmt: skip


@checks(
    "u08.time_blocks",
    spec=[
        FEW,
        "bytes of the cache, which has 4 ways",
        "of the misses divided by those of the plate as written",
        "the reach is 1, 2 or 3",
    ],
)
def few_misses_are_left(time_blocks):
    """The share of the misses that is left, in four plates."""
    return score(time_blocks, CASES)


def score(time_blocks: Any, cases: Sequence[tuple[int, int, int, int, int]]) -> Score:
    """All points from `GOOD`; a quarter less each time that a third more misses are left."""
    left = []
    for *sizes, size in cases:
        kernel = applied(time_blocks, sizes, size)
        with baselines("cost.cache.missed"):
            cache = Cache(size, 4)
            left.append(missing(kernel, cache) / missing(plate(*sizes), cache))
    mean = sum(left) / len(left)
    if mean >= NONE_BELOW:
        raise Wrong(f"Too many misses are left: a share of {mean:.3f}. Points begin below "
                    f"{NONE_BELOW:.2f}.", program=f"time_blocks{cases[0]}",
                    got=time_blocks(*cases[0]), spec=FEW)  # fmt: skip
    each = ", ".join(f"{r} × {c}, reach {reach}: {share:.3f}" for (r, c, _, reach, _), share in
                     zip(cases, left, strict=True))  # fmt: skip
    fraction = min(1.0, max(0.0, 1 - math.log(mean / GOOD) / math.log(MORE) / 4))
    return Score(fraction, f"{mean:.3f} of the misses are left ({each}); all points from {GOOD}")


def applied(time_blocks: Any, sizes: Sequence[int], size: int) -> Kernel:
    """The plate after the steps that the answer gives; Wrong if they do not fit."""
    program = f"time_blocks({', '.join(map(str, (*sizes, size)))})"
    text = time_blocks(*sizes, size)
    if not isinstance(text, str):
        raise Wrong("The function must return the steps as one string.", program=program,
                    got=said(text), spec=STEPS_SPEC)  # fmt: skip
    try:
        with exercises.using(_beside(time_blocks)):
            return parse_schedule(text).apply(plate(*sizes))
    except NotAnswered:
        raise Wrong("The step skew needs your answer to schedule.skewed first.", program=program,
                    got=text, spec=OWN) from None  # fmt: skip
    except ValueError as error:
        raise Wrong(f"The steps must apply to the plate, but: {error}.", program=program, got=text,
                    spec=STEPS_SPEC) from None  # fmt: skip
    except Exception as error:
        if not _beside(time_blocks):
            raise
        raise Wrong("The step skew runs your answer to schedule.skewed, but the loops that come "
                    'out cannot be used: check("schedule.skewed") says more.', program=program,
                    got=error_text(error), spec=OWN) from None  # fmt: skip


def _beside(answer: Any) -> dict[str, Any]:
    """The student's answers that this one stands on. Without them skew has nothing to run."""
    plugs = Answer.of(answer).plugs
    return {name: plugs[name] for name in slot("u08.time_blocks").uses if name in plugs}


# ── a nest as text ──

CHANGE = "with two nested loops that may change places although neither may run in parallel"
TWO = "There are exactly two loops, one in the other, and nothing stands beside the inner one"
ONLY = "The kernel writes `out` with `=` only"
AFFINE = "All indices are affine, and each loop has at least three iterations"

background("u08.one_thread", "because the order of a sum may be changed", because="the reason")


@checks("u08.one_thread", spec=[CHANGE, TWO, ONLY, AFFINE, "Write a kernel, as loop text"])
def the_loops_change_places_and_are_not_parallel(one_thread):
    """The compiler may reorder the two loops, and finds that each of them carries a dependence."""
    text = one_thread()
    if not isinstance(text, str):
        raise Wrong("The function must return loop text.", got=said(text), spec=CHANGE)
    try:
        kernel = parse_kernel(text)
    except ValueError as error:
        raise Wrong(f"The text must be a kernel, but: {error}.", program=text,
                    spec="Write a kernel, as loop text") from None  # fmt: skip
    outer, inner = _two_loops(kernel)
    if not (answer := may_reorder(kernel, (inner.var, outer.var), exact=True)):
        raise Wrong("The two loops may not change places.", program=kernel, got=str(answer),
                    spec=CHANGE)  # fmt: skip
    for loop in (outer, inner):
        if may_parallelize(kernel, loop.var):
            raise Wrong(f"The loop over {loop.var} may run in parallel: its iterations are "
                        "independent.", program=kernel, spec=CHANGE)  # fmt: skip


def _two_loops(kernel: Kernel) -> tuple[Loop, Loop]:
    found = loops(kernel.body)
    nested = len(kernel.body) == 1 and len(found) == 2 and found[0].body == (found[1],)
    if not nested:
        raise Wrong("There must be two loops, one in the other.", program=kernel,
                    got=f"{len(found)} loops", spec=TWO)  # fmt: skip
    writes = found[1].body
    if any(not isinstance(w, Store) or w.buffer != "out" for w in writes) or not writes:
        raise Wrong("Every statement must be `out[...] = ...`.", program=kernel, spec=ONLY)
    for access in accesses(kernel.body):
        if not all(isinstance(index, Affine) for index in access.indices):
            raise Wrong(f"An index of {access.buffer} comes from data and is not affine.",
                        program=kernel, spec=AFFINE)  # fmt: skip
    for around, loop in (((), found[0]), (found[:1], found[1])):
        for at in _places(around):
            if (long := len(numbers(loop, at))) < 3:
                where = "".join(f" with {name} = {value}" for name, value in at.items())
                raise Wrong(f"The loop over {loop.var} must have at least three iterations, but it "
                            f"has {long}{where}.", program=kernel, spec=AFFINE)  # fmt: skip
    return found[0], found[1]
