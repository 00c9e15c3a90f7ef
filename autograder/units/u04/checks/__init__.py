"""Visible checks of unit 4, Memory and layout.

Here are the checks of the exercises that are evidence, lives and numbers; those of the library's
functions are in liveness.py, offsets.py, steps.py, order.py and layout.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.check.framework import Wrong, background, checks
from autograder.check.properties import seal_of
from autograder.units.u04.answers import BROKEN
from autograder.units.u04.checks.shared import arena, sequence_of, told_plan, whole
from course_lib.ir.graph.parse import parse_graph
from course_lib.lower.lower import lower
from course_lib.memory.liveness import ALIGNMENT, Interval
from course_lib.memory.offsets import lower_bound
from course_lib.memory.planners import best_fit, first_fit

CLASH = ("8c987ae54e7d", "37facc95eb42", "b07c760f7371")  # a seal for each name
LINES = {"nchw": "b534051f7073", "nhwc": "a2110226bdaf", "nchw16c": "c2a2b95ea50c"}
LAYOUTS = tuple(LINES)
PLACES = (
    ("The first name is not the value that loses its bytes", "Which value loses its bytes"),
    ("The second name is not the value that takes them first", "which value takes them first"),
    ("The third name is not the first value that is wrong", "the first to come out wrong"),
)
OFTEN = {  # what a wrong count may come from
    192: "A row of three pixels can lie across the end of a line.",
    576: "Neighbours in a row share lines.",
}


def names(answer: object) -> tuple[str, ...]:
    """Names as the specification writes them: without %, without blanks."""
    parts = answer if isinstance(answer, (list, tuple)) else [answer]
    return tuple(str(part).strip().lstrip("%") for part in parts)


@checks(
    "u04.clash",
    spec=[
        *(spec for _, spec in PLACES),
        *("Three names without the %, in this order", "Name the first by the value that owns the"),
        "Name the first by the value that owns the bytes",
    ],
)
def is_the_clash(clash):
    """The value that loses its bytes, who takes them, and what comes out wrong."""
    got = names(clash())
    if len(got) != 3:
        raise Wrong(
            "The answer is three names.",
            got=repr(got),
            spec="Three names without the %, in this order",
        )
    views = lower(parse_graph(BROKEN)).views
    for k, (name, (problem, spec)) in enumerate(zip(got, PLACES, strict=True)):
        if name in views:
            why = f"%{name} is a view: it has no bytes of its own."
            raise Wrong(why, got=repr(got), spec="Name the first by the value that owns the bytes")
        if seal_of("u04.clash", (k, name)) != CLASH[k]:
            before = "; what stands before it is right" if k else ""
            raise Wrong(f"{problem}{before}.", got=repr(got), spec=spec)
    return "three names"


@checks(
    "u04.first_fit_wins",
    spec=[
        *("`first_fit` meets the lower bound, and `best_fit` does not", "At most 10 intervals"),
        "Sizes are multiples of 64 bytes and at least 64, 0 <= first <= last",
    ],
)
def first_fit_meets_the_bound(first_fit_wins):
    """First fit needs as much as the bound says, best fit more."""
    intervals = sequence_of(Interval, first_fit_wins(), "a list of Interval", ordered=True)
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
            got="\n".join(
                f"{name}, {arena(intervals, plan(intervals))} bytes:\n"
                + told_plan(intervals, plan(intervals))
                for name, plan in (("first fit", first_fit), ("best fit", best_fit))
            ),
            spec="`first_fit` meets the lower bound, and `best_fit` does not",
        )
    return f"bound {bound} bytes, first fit {first}, best fit {best}"


background("u04.lines", "The image is f32[1,64,56,56] ... all 64 channels there.", because="given")


@checks("u04.lines", spec=["How many cache lines of its image", "A dict with the keys"])
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
    wrong = [k for k in LAYOUTS if seal_of("u04.lines", (k, int(answer[k]))) != LINES[k]]
    if wrong:
        often = next((OFTEN[answer[k]] for k in wrong if answer[k] in OFTEN), "")
        others = "The other counts are right. " if len(wrong) < len(LAYOUTS) else ""
        raise Wrong(
            f"The count for {' and for '.join(wrong)} is another one. {others}{often}".strip(),
            got=repr(answer),
            spec="How many cache lines of its image",
        )
    return "three counts"
