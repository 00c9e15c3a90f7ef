"""Visible checks of unit 4, Memory and layout.

Here are the checks of the exercises that are evidence, lives and numbers; those of the library's
functions are in u04_memory.py, u04_steps.py and u04_layout.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.answers.u04 import BROKEN
from autograder.checks import u04_layout, u04_memory, u04_steps  # noqa: F401
from autograder.checks.u04_shared import arena, sequence_of, told_plan, whole
from autograder.framework import Wrong, checks
from autograder.properties import seal_of, sealed
from course_lib.schedule.memory import ALIGNMENT, Interval, lower_bound
from course_lib.schedule.planners import best_fit, first_fit

CLASH = "3fc958af377b"
LINES = "c34d9d97ea9e"
LAYOUTS = ("nchw", "nhwc", "nchw16c")


def names(answer: object) -> tuple[str, ...]:
    """Names as the specification writes them: without %, without blanks."""
    parts = answer if isinstance(answer, (list, tuple)) else [answer]
    return tuple(str(part).strip().lstrip("%") for part in parts)


@checks("u04.clash")
def is_the_clash(clash):
    """The value that loses its bytes, who takes them, and what comes out wrong."""
    got = names(clash())
    if len(got) != 3:
        raise Wrong(
            "The answer is three names.",
            program=BROKEN,
            got=repr(got),
            spec="Three names without the %, in this order",
        )
    if seal_of("u04.clash", got) != CLASH:
        raise Wrong("These are not the three.", program=BROKEN, got=repr(got))
    return "three names"


@checks("u04.first_fit_wins")
def first_fit_meets_the_bound(first_fit_wins):
    """First fit needs as much as the bound says, best fit more."""
    intervals = sequence_of(Interval, first_fit_wins(), "a list of Interval")
    text = told_plan(intervals)
    sound = all(
        whole(i.size) and whole(i.first) and whole(i.last)
        and i.size >= 64 and i.size % ALIGNMENT == 0 and 0 <= i.first <= i.last
        for i in intervals
    )  # fmt: skip
    if (
        not sound
        or not 0 < len(intervals) <= 10
        or len({i.name for i in intervals}) != len(intervals)
    ):
        raise Wrong(
            "At most 10 intervals with proper sizes, steps and names of their own.",
            program=text,
            spec="Sizes are multiples of 64 bytes and at least 64, 0 <= first <= last",
        )
    bound = lower_bound(intervals)
    first, best = (arena(intervals, plan(intervals)) for plan in (first_fit, best_fit))
    if first != bound or best == bound:
        raise Wrong(
            f"The bound is {bound} bytes; first fit needs {first}, best fit {best}.",
            program=text,
            got=told_plan(intervals, best_fit(intervals)),
            spec="`first_fit` meets the lower bound, and `best_fit` does not",
        )
    return f"bound {bound} bytes, first fit {first}, best fit {best}"


@checks("u04.lines")
def counts_the_lines(lines):
    """The cache lines of one window, in three layouts."""
    answer = lines()
    if not isinstance(answer, Mapping) or not set(LAYOUTS) <= set(answer):
        raise Wrong(
            "The answer is a dict with three keys.", got=repr(answer), spec="A dict with the keys"
        )
    counts = [answer[name] for name in LAYOUTS]
    if not all(whole(n) or (isinstance(n, float) and n.is_integer()) for n in counts):
        raise Wrong("Lines are counted in whole numbers.", got=repr(answer))
    sealed("u04.lines", tuple(int(n) for n in counts), LINES)
    return "three counts"
