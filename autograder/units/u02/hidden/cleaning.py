"""Hidden checks of dce, fold and cse: on large random programs, exactly what ours make of them.

Each of the three has one right result but for the order of its nodes. The programs come from the
seed of the task. Next room: rules.py.
"""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import Wrong, hidden
from autograder.units.u02.checks.compare import same_program_as, smallest
from autograder.units.u02.hidden.programs import anything, told_once
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify

SEED = 20_641
SEEDS = st.integers(0, 2**48)
PASSES = (fold, simplify, cse, dce)


@functools.lru_cache(maxsize=256)
def _ours(name: str, *given: Any) -> Graph:
    return slot(name).reference(*given)


def _does_what_is_said(name: str, examples: int, seen: str, words: str) -> None:
    """Register the check of a pass: `seen` is what it looks at, in large random programs."""

    def as_ours(answer: Any, graph: Graph) -> None:
        same_program_as(graph, answer(graph), _ours(name, graph), spec=words)

    def check(answer: Any, seed: int) -> None:
        smallest(functools.partial(as_ours, answer), anything(seed))

    check.__name__ = f"{name.rpartition('.')[2]}_does_what_is_said"
    check.__doc__ = f"{seen} in a large random program."
    what, seed = "large random programs", SEED + examples
    hidden(name, seed=seed, given=SEEDS, examples=examples, what=what)(told_once(check))


for _row in (
    ("passes.dce", 2, "Exactly what no output needs is gone",
     "The result holds the live nodes of `graph` and all of its inputs"),
    ("passes.fold", 3, "Exactly what can be computed is computed",
     "Replace every node whose operands are all constants by a constant"),
    ("passes.cse", 4, "Exactly what is equal is merged", "Merge nodes that compute the same value"),
):  # fmt: skip
    _does_what_is_said(*_row)


@hidden("passes.fixpoint", seed=SEED)
def fixpoint_of_our_passes(fixpoint, rng):
    """Random programs, brought to rest by the passes of this unit."""
    for seed in rng.integers(2**48, size=2):
        graph = anything(int(seed), 40)
        after, ours = fixpoint(graph, [*PASSES]), _ours("passes.fixpoint", graph, PASSES)
        if not same_program(after, ours):
            raise Wrong("The passes fold, simplify, cse and dce come to rest at another program.",
                        program=graph, got=after, expected=ours)  # fmt: skip
    return "programs brought to rest"
