"""Visible checks of unit 8 about loops: schedules for a plate, and a nest as text.

A schedule passes if its steps apply and every bit of the result stays; its points depend on the
misses of a simulated cache. Next room: ../hidden.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from autograder.check.answer import Answer
from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import error_text, returned
from autograder.units.u08.checks.skewing import ends
from course_lib import exercises
from course_lib.cost.cache import Cache
from course_lib.exercises import NotAnswered, baselines, slot
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Store
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import accesses, loops
from course_lib.schedule.legality import may_parallelize, may_reorder
from course_lib.schedule.script import parse_schedule
from lessons.u08.stencils import missing, plate, wrong

# ── schedules ──

# Rows, columns, steps, reach, and the bytes of the cache.
CASES = [(64, 64, 24, 1, 2048), (40, 64, 24, 1, 4096), (64, 32, 24, 2, 2048),
         (48, 64, 12, 3, 4096)]  # fmt: skip
GOOD = 0.24  # of the misses are left: from here on, all points
MORE = 4 / 3  # each time that so many times as many are left costs a quarter
NONE_BELOW = GOOD * MORE**4
STEPS_SPEC = "the steps, one per line, as `parse_schedule` reads them"
SAME_BITS = "The result must stay the same to the last bit"
OWN = "the step skew runs your answer to schedule.skewed"
PLATE = "rows, columns, steps, reach ... the arguments of `plate`"
SIZES = "The rows are a multiple of 8, the columns of 16, and the steps"
SHARE = "of the misses divided by those of the plate as written"
REACH = "the reach is 1, 2 or 3"
FEW = "A schedule for a plate, as text, with as few misses as possible"

background("u08.time_blocks", "Every step of the language is allowed", because="a permission")


@checks("u08.time_blocks", spec=[STEPS_SPEC, SAME_BITS, PLATE, SIZES, OWN])
def it_is_a_schedule_of_the_plate(time_blocks):
    """The steps apply, and the loops still compute the same values."""
    for rows, columns, steps, reach, size in ((16, 16, 12, 1, 1024), (24, 16, 12, 3, 1024)):
        kernel = applied(time_blocks, (rows, columns, steps, reach), size)
        differ = wrong(kernel, plate(rows, columns, steps, reach))
        if differ:
            raise Wrong(f"Every number must stay as it was, but {differ} differ.",
                        program=repr(kernel), spec=SAME_BITS)  # fmt: skip


@checks("u08.time_blocks", spec=[FEW, "bytes of the cache, which has 4 ways", SHARE, REACH])
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
    text = time_blocks(*sizes, size)
    wrong = partial(Wrong, program=f"time_blocks{(*sizes, size)}", got=returned(text), spec=OWN)
    if not isinstance(text, str):
        raise wrong("The function must return the steps as one string.", spec=STEPS_SPEC)
    plugs = Answer.of(time_blocks).plugs  # the student's answers: without them skew runs nothing
    beside = {name: plugs[name] for name in slot("u08.time_blocks").uses if name in plugs}
    try:
        with exercises.using(beside):
            return parse_schedule(text).apply(plate(*sizes))
    except NotAnswered:
        raise wrong("The step skew needs your answer to schedule.skewed first.", got=text) from None
    except ValueError as error:
        raise wrong(f"The steps must apply to the plate, but: {error}.", got=text,
                    spec=STEPS_SPEC) from None  # fmt: skip
    except Exception as error:
        if not beside:
            raise
        raise wrong("The step skew runs your answer to schedule.skewed, but the loops that come "
                    'out cannot be used: check("schedule.skewed") says more.',
                    got=error_text(error)) from None  # fmt: skip


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
        raise Wrong("The function must return loop text.", got=returned(text), spec=CHANGE)
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
    nested, wrong = loops(kernel.body), partial(Wrong, program=kernel, spec=TWO)
    if len(nested) != 2:
        raise wrong("There must be exactly two loops.", got=f"{len(nested)} loops")
    outer, inner = nested
    if inner not in outer.body:
        raise wrong("One of the two loops must stand in the other.")
    if len(kernel.body) > 1 or len(outer.body) > 1:
        beside = "outer" if len(kernel.body) > 1 else "inner"
        raise wrong(f"Something stands beside the {beside} loop.")
    if any(not isinstance(w, Store) or w.buffer != "out" for w in inner.body) or not inner.body:
        raise wrong("Every statement must be `out[...] = ...`.", spec=ONLY)
    for access in accesses(kernel.body):
        if not all(isinstance(index, Affine) for index in access.indices):
            raise wrong(f"An index of {access.buffer} comes from data and is not affine.",
                        spec=AFFINE)  # fmt: skip
    _long_enough(kernel, outer, {})
    start, stop = ends(outer, {})
    for at in (start, stop - 1):  # between its ends, the inner loop runs no less often
        _long_enough(kernel, inner, {outer.var: at})
    return outer, inner


def _long_enough(kernel: Kernel, loop: Loop, at: Mapping[str, int]) -> None:
    start, stop = ends(loop, at)
    if stop - start < 3:
        where = "".join(f" with {name} = {value}" for name, value in at.items())
        raise Wrong(f"The loop over {loop.var} must have at least three iterations, but it has "
                    f"{max(stop - start, 0)}{where}.", program=kernel, spec=AFFINE)  # fmt: skip
