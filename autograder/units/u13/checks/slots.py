"""Visible checks of chip.slots: what the pairs say is followed, and a small model is compiled.

`followed` judges an answer, here and in the hidden checks. Next room: flows.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, background, checks
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.build import build
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.search import clocks
from course_lib.accelerator.compile.tiles import smallest
from course_lib.accelerator.isa.fault import Fault
from course_lib.exercises import baselines, plugged
from course_lib.ir.graph.build import const, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply

FORM = ("Return a pair (slot, load) for each step, in order", "Slots are numbered from 0",
        "The slot in which each step finds its piece of data, and whether that must be loaded",
        "wanted   for each step", "how many slots there are, at least 1; each holds one piece, and "
        "all are empty at first")  # fmt: skip
KEPT = "If a slot holds the piece, the pair names that slot, and `load` is False"
LOAD = ("Otherwise `load` is True, and from then on the piece is in the slot that the pair "
        "names, in place of what was there")  # fmt: skip
FRONT = "a load never goes to the slot of the step before it"
FEW = ("In all, there are no more loads than if each load took an empty slot or, if none is left, "
       "replaced the piece whose latest use is longest ago")  # fmt: skip

LAYER = Product(1, (56, 56), 64, (28, 28), 128, (3, 3), (2, 2), low=(1, 1), high=(1, 1))


def lists(pieces: int, steps: int, slots: int) -> Any:
    """Pieces, how many slots, and how far the numbers of two pieces are apart."""
    numbers = st.lists(st.integers(0, pieces), max_size=steps)
    return st.tuples(numbers, st.integers(1, slots), st.sampled_from((1, 1000)))


background("chip.slots", "because the chip still works on that one while the load runs",
           because="the reason")  # fmt: skip


def followed(slots: Any, wanted: Sequence[int], count: int) -> int:
    """The loads of an answer; Wrong if one of its pairs cannot be."""
    got = slots(list(wanted), count)
    case = f"wanted = {list(wanted)}, count = {count}"
    if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
        said = "nothing (is a `return` missing?)" if got is None else repr(got)[:300]
        raise Wrong("The answer must be a list with a pair for each step.", program=case, got=said,
                    spec=FORM[0])  # fmt: skip
    held: dict[int, int] = {}  # slot -> piece
    before = None
    for k, (piece, pair) in enumerate(zip(wanted, got, strict=True)):
        at, load = _pair(pair, k, count, case)
        where = [slot for slot, there in held.items() if there == piece]
        problem, spec = "", ""
        if where and (load or at != where[0]):
            problem, spec = f"piece {piece} is already in slot {where[0]}.", KEPT
        elif not where and not load:
            problem, spec = f"piece {piece} is in no slot, so it must be loaded.", LOAD
        elif load and count > 1 and at == before:
            problem = f"the load must not go to slot {at}, which step {k - 1} works on."
            spec = FRONT
        if problem:
            raise Wrong(f"Step {k}: {problem}", program=case, got=f"{got}"[:400], spec=spec)
        held[at] = piece
        before = at
    loads = sum(bool(load) for _, load in got)
    most = longest_ago(wanted, count)
    if loads > most:
        raise Wrong(f"{loads} loads are too many for these steps.", program=case,
                    got=f"{got}"[:400], expected=f"at most {most} loads", spec=FEW)  # fmt: skip
    return loads


def _pair(pair: Any, k: int, count: int, case: str) -> tuple[int, bool]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise Wrong(f"Step {k}: the answer must be a pair (slot, load).", program=case,
                    got=repr(pair)[:200], spec=FORM[0])  # fmt: skip
    at, load = pair
    if load not in (True, False):
        raise Wrong(f"Step {k}: `load` must be True or False.", program=case,
                    got=repr(pair)[:200], spec=FORM[0])  # fmt: skip
    if not isinstance(at, (int, np.integer)) or isinstance(at, bool) or not 0 <= at < count:
        raise Wrong(f"Step {k}: the slot must be a number from 0 to {count - 1}.", program=case,
                    got=repr(pair)[:200], spec=FORM[1])  # fmt: skip
    return int(at), bool(load)


def longest_ago(wanted: Sequence[int], count: int) -> int:
    """Loads if each replaced what was not wanted for the longest time: a piece is gone once
    `count` others were wanted since."""
    last: dict[int, int] = {}
    loads = 0
    for k, piece in enumerate(wanted):
        loads += piece not in last or len({*wanted[last[piece] + 1 : k]}) >= count
        last[piece] = k
    return loads


@checks("chip.slots", given=lists(5, 12, 4), examples=120, what="random lists",
        spec=[*FORM, KEPT, LOAD, FRONT, FEW])  # fmt: skip
def the_pairs_can_be_followed(slots, case):
    """Loaded where it must be, kept where it may be, and never into the slot in use."""
    wanted, count, apart = case
    followed(slots, [apart * piece for piece in wanted], count)


@checks("chip.slots", spec=[*FORM, KEPT, LOAD, FRONT, FEW])
def longer_layers(slots):
    """Steps as layers have them: round and round, and pieces that come back."""
    for round_trip in (2, 3, 5, 8):
        for count in (1, 2, 4, 7):
            followed(slots, [*range(round_trip)] * 20, count)
            followed(slots, [k // 3 for k in range(40)], count)
            followed(slots, [0, *range(1, round_trip), 0] * 10, count)
            # what was wanted often before is not wanted any more
            followed(slots, [0, 1] * 6 + [*range(2, 2 + round_trip)] * 9, count)
    return "64 lists"


def small_model() -> Graph:
    """Two convolutions, which the chip does in several steps each."""
    rng = np.random.default_rng(13)

    def conv(x: Node, out: int) -> Node:
        w = rng.integers(-9, 9, (out, x.type.dims[1], 3, 3)).astype(np.int8)
        y = apply("conv", x, const(w), groups=1, sums="i32", pads=[1, 1, 1, 1])
        return apply("requantize", y, const(np.full(out, 0.01, np.float32)), axis=1)

    return trace(lambda x: conv(conv(x, 12), 8), "i8[1,6,7,9]")


def from_outside(slots: Any) -> Any:
    """The answer for the compiler: a call of it does not count as one from itself."""

    def call(wanted: list[int], count: int) -> Any:
        return Context().run(slots, wanted, count)

    return call


@checks("chip.slots", spec=[KEPT, LOAD, FRONT])
def a_model_stays_right(slots):
    """Two convolutions on the teaching chip: no race, and every number as it must be."""
    graph = small_model()
    x = np.random.default_rng(7).integers(-128, 128, (1, 6, 7, 9)).astype(np.int8)
    due = run(graph, [x])[0]
    with plugged("chip.slots", from_outside(slots)):
        try:
            got, _ = build(graph, PRESETS["teaching"], smallest).checked([x])
        except Fault as fault:
            raise Wrong("The chip must be able to run the model with these slots.",
                        program="two convolutions on the teaching chip", got=str(fault),
                        spec=LOAD) from None  # fmt: skip
    if not np.array_equal(got[0], due):
        raise Wrong("The model must compute the same numbers with these slots.",
                    program="two convolutions on the teaching chip",
                    got=f"{int((got[0] != due).sum())} of {due.size} numbers differ",
                    spec=LOAD)  # fmt: skip
    tile, npu = smallest(LAYER, PRESETS["npu"]), PRESETS["npu"]
    with plugged("chip.slots", from_outside(slots)):
        mine = clocks(LAYER, tile, npu)
    return f"a layer of ResNet-18 in {mine:,} clocks instead of {with_one_slot():,}"


@cache
def with_one_slot() -> int:
    with baselines("chip.slots"):
        return clocks(LAYER, smallest(LAYER, PRESETS["npu"]), PRESETS["npu"])
