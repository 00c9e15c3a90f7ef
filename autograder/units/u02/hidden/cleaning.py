"""Hidden checks of dce, fold and cse: on large random programs, exactly what ours make of them.

Each of the three has one right result but for the order of its nodes. The programs come from the
seed of the task. Next room: rules.py.
"""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from autograder.check.framework import hidden
from autograder.units.u02.checks.compare import same_program_as, smallest
from autograder.units.u02.hidden.programs import anything, told_once
from course_lib.exercises import slot
from course_lib.ir.graph.graph import Graph

SEED = 20_641
SEEDS = st.integers(0, 2**48)
QUOTED = {
    "passes.dce": "The result holds the live nodes of `graph` and all of its inputs",
    "passes.fold": "Replace every node whose operands are all constants by a constant",
    "passes.cse": "Merge nodes that compute the same value",
}


def _as_ours(name: str, answer: Any, seed: int) -> None:
    def one(graph: Graph) -> None:
        ours = _ours(name, graph)
        same_program_as(graph, answer(graph), ours, spec=QUOTED[name])

    smallest(one, anything(seed))


@functools.lru_cache(maxsize=64)
def _ours(name: str, graph: Graph) -> Graph:
    return slot(name).reference(graph)


@hidden("passes.dce", seed=SEED, given=SEEDS, examples=2, what="large random programs")
@told_once
def dce_does_what_is_said(dce, seed):
    """Exactly what no output needs is gone from a large random program."""
    _as_ours("passes.dce", dce, seed)


@hidden("passes.fold", seed=SEED + 1, given=SEEDS, examples=3, what="large random programs")
@told_once
def fold_does_what_is_said(fold, seed):
    """Exactly what can be computed is computed in a large random program."""
    _as_ours("passes.fold", fold, seed)


@hidden("passes.cse", seed=SEED + 2, given=SEEDS, examples=4, what="large random programs")
@told_once
def cse_does_what_is_said(cse, seed):
    """Exactly what is equal is merged in a large random program."""
    _as_ours("passes.cse", cse, seed)
