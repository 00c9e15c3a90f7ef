"""Visible checks of unit 5 on counts that follow from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NoReturn

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks

SUM = "If all edges of a side are known, their sum is the block's count"
LAST = "If the block and all but one of its edges are known, the last edge is the difference"
ENDS = "a side without edges says nothing"
KEEPS = "all of `known`, and every count that the two rules below give"
ON = "Go on until neither rule gives anything new"
OUT = "leave out what they do not give"
BOTH = "and runs as often as the edges of either side are taken in total"

NAME = "llvm.control.balanced"
background(NAME, "How often do blocks run ... a few counts tell?", because="the question")
background(NAME, "edges pairs (from, to)", because="what is given")
background(NAME, "known counts of some", because="what is given")

LONG = [17 * k % 40 for k in range(40)]  # blocks one after another, numbered in no order

# (the rule, edges, known, all that follows)
CASES: list[tuple[str, list[tuple[int, int]], dict[Any, int], dict[Any, int]]] = [
    (SUM, [(0, 1), (0, 2)], {(0, 1): 3, (0, 2): 4}, {0: 7, 1: 3, 2: 4}),
    (LAST, [(0, 1), (0, 2)], {0: 9, (0, 2): 4}, {(0, 1): 5, 1: 5, 2: 4}),
    (ENDS, [(0, 1), (1, 2)], {1: 6}, {(0, 1): 6, (1, 2): 6, 0: 6, 2: 6}),
    (BOTH, [(0, 1), (1, 1), (1, 2)], {0: 1, 1: 100}, {(0, 1): 1, (1, 1): 99, (1, 2): 1, 2: 1}),
    (OUT, [(0, 1), (0, 2), (1, 3), (2, 3)], {0: 5}, {}),
    (ON, [(4, 5), (3, 4), (2, 3), (1, 2), (0, 1)], {0: 2},
     {(0, 1): 2, 1: 2, (1, 2): 2, 2: 2, (2, 3): 2, 3: 2, (3, 4): 2, 4: 2, (4, 5): 2, 5: 2}),
    (BOTH, [(0, 1), (1, 2), (2, 1), (1, 3)], {0: 1, 1: 101},
     {(0, 1): 1, (2, 1): 100, 2: 100, (1, 2): 100, (1, 3): 1, 3: 1}),
    (LAST, [(0, 1), (0, 2)], {0: 4, (0, 1): 4}, {(0, 2): 0, 1: 4, 2: 0}),
    (ON, sorted(pairwise(LONG)), {0: 3}, dict.fromkeys([*LONG[1:], *pairwise(LONG)], 3)),
]  # fmt: skip

Example = tuple[list[tuple[int, int]], dict[Any, int], dict[Any, int]]


@st.composite
def calls(draw: DrawFn, blocks: int = 4) -> Example:
    """(edges, what is known, the truth): some walks from block 0 to the last one, and how many of
    their counts are told."""
    inner = st.lists(st.integers(1, blocks), max_size=2 * blocks)
    walks = draw(st.lists(st.tuples(inner, st.integers(1, 50)), min_size=1, max_size=3))
    truth: Counter[Any] = Counter()
    for middle, times in walks:
        path = [0, *middle, blocks + 1]
        for block in path:
            truth[block] += times
        for edge in pairwise(path):
            truth[edge] += times
    edges = draw(st.permutations(sorted(key for key in truth if isinstance(key, tuple))))
    keys = sorted(truth, key=str)
    told = draw(st.lists(st.sampled_from(keys), max_size=len(keys), unique=True))
    return list(edges), {key: truth[key] for key in told}, dict(truth)


@checks("llvm.control.balanced", spec=[KEEPS, *(spec for spec, *_ in CASES)])
def small_programs(balanced):
    """A few blocks, each about one rule."""
    for spec, edges, known, more in CASES:
        same(balanced, edges, known, {**known, **more}, spec)
    return f"{len(CASES)} small programs"


@checks("llvm.control.balanced", given=calls(), examples=60, what="random calls",
        spec=[KEEPS, SUM, LAST, ON])  # fmt: skip
def all_that_follows(balanced, example):
    """On random calls, every count is the true one, and none is missing that a rule gives."""
    edges, known, truth = example
    got = result_of(balanced, edges, known)
    for key in known:
        if key not in got:
            told(f"{key} was known, so it must be in the result.", edges, known, got, KEEPS)
    for key, count in got.items():
        if truth.get(key) != count:
            told(
                f"{key} must be {truth.get(key, 'left out')}, not {count}.", edges, known, got, SUM
            )
    for block in {b for edge in edges for b in edge}:
        for side in (0, 1):
            around = [edge for edge in edges if edge[side] == block]
            missing = [edge for edge in around if edge not in got]
            if around and not missing and block not in got:
                words = f"The count of block {block} follows from {around}."
                told(words, edges, known, got, _broken(balanced, block, edges, got, SUM))
            if len(missing) == 1 and block in got:
                words = f"The count of edge {missing[0]} follows."
                told(words, edges, known, got, _broken(balanced, missing[0], edges, got, LAST))


def result_of(balanced: Any, edges: list, known: dict) -> dict:
    """A dict of whole numbers."""
    got = balanced(list(edges), dict(known))
    if not isinstance(got, Mapping):
        told("The result must be a dict.", edges, known, got, KEEPS)
    try:
        whole = {key: int(count) for key, count in got.items()}
    except (TypeError, ValueError):
        told("The counts must be whole numbers.", edges, known, got, KEEPS)
    if whole != dict(got):
        told("The counts must be whole numbers.", edges, known, got, KEEPS)
    return whole


def same(balanced: Any, edges: list, known: dict, expected: dict, spec: str) -> None:
    """Exactly these counts."""
    got = result_of(balanced, edges, known)
    if got == expected:
        return
    key = next(k for k in {**expected, **got} if got.get(k) != expected.get(k))
    problem = f"{key} must be {expected.get(key)}; here it is {got.get(key, 'left out')}."
    if key not in expected:
        problem = f"{key} must be left out: neither rule gives it. Here it is {got[key]}."
    elif key in known and spec:
        spec = KEEPS
    elif got.get(key) == 0 and spec:
        spec = ENDS
    elif key not in got and spec:
        spec = _broken(balanced, key, edges, got, spec)
    raise Wrong(problem, program=text_of(edges, known), got=repr(got), expected=repr(expected),
                spec=spec)  # fmt: skip


def _broken(balanced: Any, key: Any, edges: list, got: dict, spec: str) -> str:
    """The sentence that an answer breaks which leaves a count out: if it finds it when it is asked
    again, with all that it found, it stopped too early."""
    return ON if key in result_of(balanced, edges, got) else spec


def told(problem: str, edges: list, known: dict, got: object, spec: str) -> NoReturn:
    raise Wrong(problem, program=text_of(edges, known), got=repr(got), spec=spec)


def text_of(edges: list, known: dict) -> str:
    return f"balanced({edges}, {known})"
