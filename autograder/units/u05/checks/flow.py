"""Visible checks of unit 5 on counts that follow from others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks

SUM = "If all edges of a side are known, their sum is the block's count"
LAST = "If the block and all but one edge of a side are known, that edge is the difference"
ENDS = "a side without edges says nothing"
KEEPS = "all of `known`, and every count that the two rules below give"
ON = "Go on until neither rule gives anything new"
OUT = "leave out what the rules do not give"
BOTH = "A block runs as often as all edges of a side together are taken"

NAME = "llvm.control.balanced"
background(NAME, "How often do blocks run ... a few counts tell?", because="the question")
background(NAME, "edges pairs (from, to)", because="what is given")
background(NAME, "known counts of some", because="what is given")
background(NAME, "The edges into a block are one side of it", because="a definition")


Edges = list[tuple[int, int]]


def in_no_order(count: int) -> Edges:
    """Blocks one after another, neither numbered nor listed in their order."""
    rng = random.Random(count)
    blocks = rng.sample(range(10 * count), count)
    return rng.sample([*pairwise(blocks)], count - 1)


LONG = 240  # blocks
SHOWN = 20  # edges of a call, or counts of a result, that a message shows
# (the rule, edges, known, all that follows)
CASES: list[tuple[str, Edges, dict[Any, int], dict[Any, int]]] = [
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
    (SUM, [(0, 2), (1, 2)], {(0, 2): 0, 1: 0}, {0: 0, (1, 2): 0, 2: 0}),
    (OUT, [(0, 1), (0, 2), (0, 3)], {0: 4, (0, 1): 4}, {1: 4}),
    (KEEPS, [], {7: 3}, {}),
    (KEEPS, [(0, 1)], {5: 3}, {}),
    (SUM, [(0, 1), (0, 2)], {(0, 1): 2**53, (0, 2): 1}, {0: 2**53 + 1, 1: 2**53, 2: 1}),
    *((KEEPS, row, {row[0][0]: 3}, dict.fromkeys([*{b for e in row for b in e}, *row], 3))
      for row in map(in_no_order, (4, 8, 16, LONG))),
]  # fmt: skip

Example = tuple[Edges, dict[Any, int], dict[Any, int]]


@st.composite
def calls(draw: DrawFn, blocks: int = 4) -> Example:
    """(edges, what is known, the truth): some walks, none of which ends where one begins or goes
    on, and how many of their counts are told. A walk that is taken 0 times leaves ways that are
    there and never taken. The blocks have any numbers; one may have no edges at all."""
    inner = st.lists(st.integers(2, 1 + blocks), max_size=2 * blocks)
    times = st.one_of(st.integers(0, 50), st.sampled_from([0, 0, 1, 10**6, 2**53 + 1]))
    walks = draw(st.lists(st.tuples(inner, times, st.booleans()), min_size=1, max_size=3))
    first = draw(st.integers(0, 300))
    numbers = draw(st.permutations(range(first, first + 3 * blocks + 15)))
    truth: Counter[Any] = Counter()
    for middle, often, other in walks:
        path = [numbers[k] for k in (0 if other else 1, *middle, blocks + (2 if other else 3))]
        for key in (*path, *pairwise(path)):
            truth[key] += often
    edges = draw(st.permutations(sorted(key for key in truth if isinstance(key, tuple))))
    keys = sorted(truth, key=str)
    told = draw(st.lists(st.sampled_from(keys), max_size=len(keys), unique=True))
    alone = {numbers[-1]: draw(st.integers(0, 9))} if draw(st.integers(0, 3)) == 3 else {}
    truth.update(alone)
    return list(edges), {key: truth[key] for key in told} | alone, dict(truth)


@checks("llvm.control.balanced", spec=[KEEPS, ENDS, *(spec for spec, *_ in CASES)])
def small_programs(balanced):
    """A few blocks, each about one rule."""
    for spec, edges, known, more in CASES:
        same(balanced, edges, known, {**known, **more}, spec)
    return f"{len(CASES)} small programs"


@checks("llvm.control.balanced", given=calls(), examples=60, what="random calls",
        spec=[KEEPS, SUM, LAST, ON, OUT, BOTH])  # fmt: skip
def all_that_follows(balanced, example):
    """On random calls, every count is the true one, and none is missing that a rule gives."""
    edges, known, truth = example
    call = Call(balanced, edges, known)
    for key, count in known.items():
        if key not in call.got:
            words = f"{named(key).capitalize()} was known, so it must be in the result."
            raise call.wrong(words, KEEPS)
        if call.got[key] != count:
            words = f"{named(key).capitalize()} was known to be {count}, not {call.got[key]}."
            raise call.wrong(words, KEEPS)
    _adds_up(call)
    for key, count in call.got.items():
        if truth.get(key) != count:
            other = f"with these counts it may also be {truth[key]}" if key in truth else (
                "there is no such block or edge")  # fmt: skip
            raise call.wrong(f"Neither rule gives {named(key)} the count {count}: {other}.", OUT)
    for block, _, around in sides(edges):
        missing = [edge for edge in around if edge not in call.got]
        if not missing and block not in call.got:
            words = f"The count of block {block} follows from {around}."
            raise call.wrong(words, call.left_out(block, SUM))
        if len(missing) == 1 and block in call.got:
            words = f"The count of edge {missing[0]} follows."
            raise call.wrong(words, call.left_out(missing[0], LAST))


def _adds_up(call: Call) -> None:
    """Wrong if a block and all edges of one of its sides are there, and one is not the sum of the
    others."""
    for block, way, around in sides(call.edges):
        flow = sum(call.got.get(edge, 0) for edge in around)
        if {block, *around} <= set(call.got) and flow != call.got[block]:
            raise call.wrong(f"The edges {way} it are taken {flow} times in total, but "
                             f"{named(block)} runs {call.got[block]} times here.",
                             BOTH)  # fmt: skip


def sides(edges: Edges) -> Iterator[tuple[int, str, Edges]]:
    """Each block with the edges into it, and with those out of it, where there are some."""
    for block in sorted({b for edge in edges for b in edge}):
        for side, way in ((1, "into"), (0, "out of")):
            if around := [edge for edge in edges if edge[side] == block]:
                yield block, way, around


def named(key: Any) -> str:
    return f"edge {key}" if isinstance(key, tuple) else f"block {key}"


class Call:
    """A call of the answer, which gave a dict of whole numbers: `got`."""

    def __init__(self, balanced: Any, edges: Edges, known: dict[Any, int]):
        self.balanced, self.edges, self.known = balanced, edges, known
        self.got = balanced(list(edges), dict(known))
        if not isinstance(self.got, Mapping):
            raise self.wrong("The result must be a dict.", KEEPS)
        try:
            whole = {key: int(count) for key, count in self.got.items()}
        except (TypeError, ValueError):
            whole = {}
        if whole != dict(self.got):
            raise self.wrong("The counts must be whole numbers.", KEEPS)
        self.got = whole

    def wrong(self, problem: str, spec: str, expected: Any = None) -> Wrong:
        program = f"balanced({shown(self.edges)}, {self.known})"
        right = "" if expected is None else shown(expected)
        return Wrong(problem, program=program, got=shown(self.got), expected=right, spec=spec)

    def left_out(self, key: Any, spec: str) -> str:
        """The sentence that an answer breaks which leaves a count out: if it finds it when it is
        asked again, with all that it found, it stopped too early."""
        return ON if key in Call(self.balanced, self.edges, self.got).got else spec


def shown(things: Any) -> str:
    """The list of edges or the dict of counts; the first ones of many."""
    if not isinstance(things, (list, Mapping)) or len(things) <= SHOWN:
        return repr(things)
    first = list(things.items() if isinstance(things, Mapping) else things)[:SHOWN]
    text = repr(dict(first) if isinstance(things, Mapping) else first)
    return f"{text[:-1]}, ... {len(things)} in all{text[-1]}"


def same(balanced: Any, edges: Edges, known: dict, expected: dict, spec: str) -> None:
    """Exactly these counts."""
    call = Call(balanced, edges, known)
    got = call.got
    if got == expected:
        return
    key = next(k for k in {**expected, **got} if got.get(k) != expected.get(k))
    name = named(key).capitalize()
    problem = f"{name} must be {expected.get(key)}; here it is {got.get(key, 'left out')}."
    if key not in expected:
        problem = f"{name} must be left out: neither rule gives it. Here it is {got[key]}."
    elif key in known and spec:
        spec = KEEPS
    elif got.get(key) == 0 and spec and any(key not in side for side in zip(*edges, strict=True)):
        spec = ENDS
    elif key not in got and spec:
        spec = call.left_out(key, spec)
    raise call.wrong(problem, spec, expected)
