"""Hidden checks of unit 2: other seeds, larger programs, and the answers that have one value."""

from __future__ import annotations

import functools

from autograder.check.framework import Wrong, hidden
from autograder.check.properties import number
from autograder.units.u02.hidden.programs import anything
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph
from course_lib.passes.clean.cse import cse
from course_lib.passes.clean.dce import dce
from course_lib.passes.clean.fixpoint import same_program
from course_lib.passes.clean.fold import fold
from course_lib.passes.clean.simplify import simplify

SEED = 20_641
PASSES = [fold, simplify, cse, dce]


@hidden("passes.fixpoint", seed=SEED)
def fixpoint_of_our_passes(fixpoint, rng):
    """Random programs, brought to rest by the passes of this unit."""
    for seed in rng.integers(2**48, size=2):
        graph = anything(int(seed), 40)
        after, ours = fixpoint(graph, PASSES), _at_rest(graph)
        if not same_program(after, ours):
            raise Wrong("The passes fold, simplify, cse and dce come to rest at another program.",
                        program=graph, got=after, expected=ours)  # fmt: skip
    return "programs brought to rest"


@functools.lru_cache(maxsize=64)
def _at_rest(graph: Graph) -> Graph:
    return slot("passes.fixpoint").reference(graph, PASSES)


@hidden("u02.sevenths", seed=SEED)
def is_the_right_percentage(sevenths):
    """The share of the 2**23 numbers for which the two results differ."""
    number(sevenths(), _percentage(), unit="percent", rtol=0.005)


@functools.cache
def _percentage() -> float:
    return slot("u02.sevenths").reference()


@hidden("u02.broken", seed=SEED)
def is_the_broken_pass(broken):
    """The broken pass and the value that it lost."""
    answer = broken()
    parts = answer if isinstance(answer, (list, tuple)) else []
    got = tuple(str(part).strip().lstrip("%") for part in parts)
    if got != slot("u02.broken").reference():
        raise Wrong("This is not the pass, or not the value.", got=repr(got))
