"""Visible checks of unit 4, Memory and layout.

Here are the checks of the exercises that are evidence, lives and numbers; those of the allocator
are in allocator.py, those of the library's functions in liveness.py, offsets.py, steps.py, order.py
and layout.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from autograder.check.framework import Wrong, background, checks, ours
from autograder.units.u04.checks.shared import arena, sequence_of, told_plan, whole
from autograder.units.u04.exercises import BROKEN
from course_lib.ir.graph.parse import parse_graph
from course_lib.lower.lower import lower
from course_lib.memory.liveness import ALIGNMENT, Interval
from course_lib.memory.offsets import lower_bound
from course_lib.memory.planners import best_fit, first_fit

# Windows (first column, last column), and the lines in each layout.
LINES = {(14, 16): (320, 36, 36), (0, 55): (704, 672, 672), (10, 20): (320, 132, 132)}
LAYOUTS = ("nchw", "nhwc", "nchw16c")
PLACES = (
    ("The first name is not the value that loses its bytes", "Which value loses its bytes"),
    ("The second name is not the value that takes them first", "which value takes them first"),
    ("The third name is not what the first wrong step writes",
     "the first to compute wrong numbers"),
)  # fmt: skip
THREE = "Three names without the %, in this order"
OWNER, STEP = "Name values by the owner of the", "and the step by what it writes"
OFTEN = {  # what a wrong count for nchw may come from
    192: "In nchw a row of the window can lie across the end of a line.",
    576: "In nchw neighbours in a row share lines.",
    768: "In nchw the rows 10 to 12 of a channel touch each other: they may share a line.",
}


def names(answer: object) -> tuple[str, ...]:
    """Names as the specification writes them: without %, without blanks."""
    parts = answer if isinstance(answer, (list, tuple)) else [answer]
    return tuple(str(part).strip().lstrip("%") for part in parts)


@checks("u04.clash", spec=[*(spec for _, spec in PLACES), THREE, OWNER, STEP])
def is_the_clash(clash):
    """The value that loses its bytes, who takes them, and the first wrong step."""
    got = names(clash())
    if len(got) != 3:
        raise Wrong("The answer must be three names.", got=repr(got), spec=THREE)
    views = lower(parse_graph(BROKEN)).views
    for k, name in enumerate(got):
        if name in views:
            why = "no step computes it" if k == 2 else "it has no bytes of its own"
            which = ("first", "second", "third")[k]
            problem = f"The {which} name, %{name}, is that of a view: {why}."
            raise Wrong(problem, got=repr(got), spec=STEP if k == 2 else OWNER)
    for k, (right, (problem, spec)) in enumerate(zip(ours("u04.clash"), PLACES, strict=True)):
        if got[k] != right:
            before = "; the names before it are right" if k else ""
            raise Wrong(f"{problem}{before}.", got=repr(got), spec=spec)
    return "a value, who takes its bytes, and a step"


WINS = "`first_fit` meets the lower bound, and `best_fit` does not"
SIZES = "Sizes are multiples of 64 bytes and at least 64, 0 <= first <= last"


@checks("u04.first_fit_wins", spec=[WINS, "At most 10 intervals", SIZES])
def first_fit_meets_the_bound(first_fit_wins):
    """First fit needs as much as the bound says, best fit more."""
    intervals = sequence_of(Interval, first_fit_wins(), "a list of Interval", ordered=True)
    sound = all(
        whole(i.size) and whole(i.first) and whole(i.last)
        and i.size >= 64 and i.size % ALIGNMENT == 0 and 0 <= i.first <= i.last
        for i in intervals
    )  # fmt: skip
    called = {i.name for i in intervals}
    if not (sound and 0 < len(intervals) <= 10 and len(called) == len(intervals)):
        problem = "The answer must be at most 10 intervals with valid sizes and steps, each with a"
        raise Wrong(f"{problem} name of its own.", got=told_plan(intervals), spec=SIZES)
    bound, plans = lower_bound(intervals), [plan(intervals) for plan in (first_fit, best_fit)]
    first, best = (arena(intervals, plan) for plan in plans)
    if first != bound or best == bound:
        problem = f"First fit must need the bound of {bound} bytes and best fit more, but they need"
        shown = [f"{name}, {arena(intervals, plan)} bytes:\n{told_plan(intervals, plan)}"
                 for name, plan in zip(("first fit", "best fit"), plans, strict=True)]  # fmt: skip
        raise Wrong(f"{problem} {first} and {best}.", got="\n".join(shown), spec=WINS)
    return f"bound {bound} bytes, first fit {first}, best fit {best}"


background("u04.lines", "The image is f32[1,64,56,56] ... at the start of a line of 64 bytes.",
           because="given")  # fmt: skip

SLIDES = "The window of a 3x3 convolution lies on the rows 10 to 12 and slides along them"
ONCE, MANY = "A line that is touched twice counts once", "How many cache lines of its image"
DICT = "Return a dict of exact"


@checks("u04.lines", spec=[MANY, SLIDES, ONCE, DICT])
def counts_the_lines(lines):
    """The cache lines that a window touches at one place, and sliding along a row."""
    for (first, last), right in LINES.items():
        counts = line_counts(lines(first, last), f"lines({first}, {last})")
        wrong = [k for k in range(len(LAYOUTS)) if counts[k] != right[k]]
        if wrong:
            often = OFTEN.get(counts[0], "") if 0 in wrong else ""
            others = "The other counts are right. " if len(wrong) < len(LAYOUTS) else ""
            named = ", ".join(LAYOUTS[k] for k in wrong)
            which = f"counts for {named} are" if len(wrong) > 1 else f"count for {named} is"
            raise Wrong(f"The {which} wrong. {others}{often}".strip(), spec=MANY,
                        program=f"lines({first}, {last})",
                        got=repr(dict(zip(LAYOUTS, counts, strict=True))))  # fmt: skip
    return f"{len(LINES)} windows, {len(LAYOUTS)} layouts"


def line_counts(answer: object, call: str) -> list[int]:
    """The three counts of an answer."""
    wrong = partial(Wrong, program=call, got=repr(answer), spec=DICT)
    if not isinstance(answer, Mapping) or not set(LAYOUTS) <= set(answer):
        raise wrong("The answer must be a dict with the three layouts as keys.")
    counts = [answer[name] for name in LAYOUTS]
    if not all(whole(n) or (isinstance(n, float) and n.is_integer()) for n in counts):
        raise wrong("The counts of lines must be whole numbers.")
    return [int(n) for n in counts]
