"""Visible checks of u14.chosen: plans of six programs, beside the best that there are.

`scored` is used by the hidden check, too. Next room: autograder/units/u14/hidden/__init__.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.ir.graph.node import Node
from lessons.u14.offload import FEWEST, Case, programs, total

SOME = "some of the operations in `chip`, each once, in any order"
CLOCKS = ["the clocks of each operation that the chip can do",
          "the clocks of each operation on the processor"]  # fmt: skip
POINTS = ["What counts is `total(graph, chip, host, plan)`",
          "Your points depend on the fewest possible clocks divided by yours, averaged over "
          "several programs",
          "A mean of 0.99 or more earns all points, and each hundredth below that costs 10 % of "
          "them, down to nothing",
          "so that the whole program takes few clocks"]  # fmt: skip
GOOD = 0.99

background("u14.chosen", "graph    a program", because="what the argument is")


def plan_of(chosen: Any, case: Case) -> list[Node]:
    """The plan of an answer; Wrong if the chip cannot have it."""
    graph, chip, host = case
    got = chosen(graph, dict(chip), dict(host))
    wrong = partial(Wrong, program=graph, spec=SOME)
    try:
        plan = list(got)
    except TypeError:
        answer = returned(got)
        raise wrong("The answer must be a list or another collection of operations.",
                    got=answer) from None  # fmt: skip
    for node in plan:
        if not isinstance(node, Node) or node not in chip:
            problem = "Each entry must be a node of the graph."
            problem = "The chip cannot do this operation." if isinstance(node, Node) else problem
            raise wrong(problem, got=repr(node)[:200], expected="an operation in `chip`")
    if len(set(plan)) < len(plan):
        answer = f"{len(plan)} entries for {len(set(plan))} nodes"
        raise wrong("Each operation must be in the list once.", got=answer)
    return plan


def scored(chosen: Any, cases: Sequence[Case], fewest: Sequence[int]) -> Score:
    """The fewest clocks divided by those of the answer: the mean, and the points for it."""
    ratios = [
        least / total(*case, set(plan_of(chosen, case)))
        for case, least in zip(cases, fewest, strict=True)
    ]
    mean = float(np.mean(ratios))
    worst = int(np.argmin(ratios))
    summary = f"fewest / yours: {mean:.3f} over {len(ratios)} programs; all points from {GOOD}"
    if mean < GOOD:
        took = round(fewest[worst] / ratios[worst])
        summary += f". Program {worst} takes {took:,} clocks with your plan; "
        summary += f"{fewest[worst]:,} are enough"
    return Score(min(1.0, max(0.0, 1 - 10 * (GOOD - mean))), summary)


@checks("u14.chosen", spec=[SOME, *POINTS, *CLOCKS])
def few_clocks(chosen):
    """Clocks of six programs with your plans."""
    return scored(chosen, programs(), FEWEST)
