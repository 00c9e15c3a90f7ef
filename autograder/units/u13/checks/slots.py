"""Visible checks of chip.slots: what the pairs say is followed, and a small model is compiled.

`followed` judges an answer, here and in the hidden checks. Next room: flows.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.plugs import in_the_compiler
from autograder.check.shown import returned
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.build import build
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.search import clocks
from course_lib.accelerator.compile.tiles import smallest
from course_lib.accelerator.isa.fault import Fault
from course_lib.exercises import baselines
from course_lib.ir.graph.build import const, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, apply

FORM = ("Return a pair (slot, load) for each step, in order", "Slots are numbered from 0",
        "The slot in which each step finds its piece of data, and whether that must be loaded",
        "wanted   for each step", "how many slots there are, at least 1; each holds one piece, and "
        "all are empty at first")  # fmt: skip
KEPT = "If a slot holds the piece, the pair names that slot, and `load` is False"
LOAD = "Otherwise `load` is True, and the piece replaces what was in the slot that the pair names"
FRONT = "a load never goes to the slot of the step before it"
FEW = ("In all, there are no more loads than if each load took an empty slot or, if none is left, "
       "replaced the piece whose latest use is longest ago")  # fmt: skip

LAYER = Product(1, (56, 56), 64, (28, 28), 128, (3, 3), (2, 2), low=(1, 1), high=(1, 1))


def lists(pieces: int, steps: int, slots: int) -> Any:
    """Pieces, how many slots, and how far the numbers of two pieces are apart."""
    numbers = st.lists(st.integers(0, pieces), max_size=steps)
    return st.tuples(numbers, st.integers(1, slots), st.sampled_from((1, 1000)))


def followed(slots: Any, wanted: Sequence[int], count: int) -> int:
    """The loads of an answer; Wrong if one of its pairs cannot be."""
    got = slots(list(wanted), count)

    def wrong(problem: str, spec: str, shown: Any = got, due: str = "") -> Wrong:
        case = f"wanted = {shortened(wanted)}, count = {count}"
        return Wrong(problem, program=case, got=returned(shown, 400), expected=due, spec=spec)

    if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
        raise wrong("The answer must be a list with a pair for each step.", FORM[0])
    held: dict[int, int] = {}  # slot -> piece
    place: dict[int, int] = {}  # piece -> slot
    before = None
    for k, (piece, pair) in enumerate(zip(wanted, got, strict=True)):
        if problem := _no_pair(pair, count):
            raise wrong(f"Step {k}: {problem}.", FORM["slot" in problem], pair)
        (at, load), where = pair, place.get(piece)
        if where is not None and (load or at != where):
            raise wrong(f"Step {k}: piece {piece} is already in slot {where}.", KEPT)
        if where is None and not load:
            raise wrong(f"Step {k}: piece {piece} is in no slot, so it must be loaded.", LOAD)
        if load and count > 1 and at == before:
            raise wrong(f"Step {k}: the load must not go to slot {at}, which step {k - 1} works "
                        "on.", FRONT)  # fmt: skip
        place.pop(held.get(at), None)  # type: ignore[arg-type]
        held[at], place[piece], before = piece, at, at
    loads, most = sum(bool(load) for _, load in got), longest_ago(wanted, count)
    if loads > most:
        due = f"at most {most} loads"
        raise wrong(f"{loads} loads are too many for these steps.", FEW, due=due)
    return loads


def shortened(wanted: Sequence[int]) -> str:
    """The list, or how a long one begins."""
    text = f"[{', '.join(map(str, wanted[:60]))}"
    return f"{text}]" if len(wanted) <= 60 else f"{text}, ...], {len(wanted):,} steps"


def _no_pair(pair: Any, count: int) -> str:
    """What is wrong with the form of a pair."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        return "the answer must be a pair (slot, load)"
    at, load = pair
    if load not in (True, False):
        return "`load` must be True or False"
    if not isinstance(at, (int, np.integer)) or isinstance(at, bool) or not 0 <= at < count:
        return f"the slot must be a number from 0 to {count - 1}"
    return ""


def longest_ago(wanted: Sequence[int], count: int) -> int:
    """Loads if each replaced what was not wanted for the longest time."""
    held: dict[int, int] = {}  # the piece that was wanted last stands at the end
    loads = 0
    for piece in wanted:
        loads += piece not in held
        held[piece] = held.pop(piece, piece)
        if len(held) > count:
            del held[next(iter(held))]
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
    for pieces in (2, 3, 5, 8):
        for count in (1, 2, 4, 7):
            followed(slots, [*range(pieces)] * 20, count)
            followed(slots, [k // 3 for k in range(40)], count)
            followed(slots, [0, *range(1, pieces), 0] * 10, count)
            # what was wanted often before is not wanted any more
            followed(slots, [0, 1] * 6 + [*range(2, 2 + pieces)] * 9, count)
    for pieces in (17, 90, 400, 1100):
        round_trips(slots, pieces)
    return "76 lists"


def round_trips(slots: Any, pieces: int) -> None:
    """So many pieces, which come back when all the others were wanted: all, one or few stay."""
    for count in (pieces, pieces - 1, min(4, pieces // 7)):
        followed(slots, [*range(pieces), 0, *range(pieces)], count)


def small_model() -> Graph:
    """Two convolutions, which the chip does in several steps each."""
    rng = np.random.default_rng(13)

    def conv(x: Node, out: int) -> Node:
        w = rng.integers(-9, 9, (out, x.type.dims[1], 3, 3)).astype(np.int8)
        y = apply("conv", x, const(w), groups=1, sums="i32", pads=[1, 1, 1, 1])
        return apply("requantize", y, const(np.full(out, 0.01, np.float32)), axis=1)

    return trace(lambda x: conv(conv(x, 12), 8), "i8[1,6,7,9]")


@checks("chip.slots", spec=[KEPT, LOAD, FRONT])
def a_model_stays_right(slots):
    """Two convolutions on the teaching chip: no race, and every number as it must be."""
    graph = small_model()
    x = np.random.default_rng(7).integers(-128, 128, (1, 6, 7, 9)).astype(np.int8)
    due = run(graph, [x])[0]
    wrong = partial(Wrong, program="two convolutions on the teaching chip", spec=LOAD)
    with in_the_compiler("chip.slots", slots):
        try:
            got, _ = build(graph, PRESETS["teaching"], smallest).checked([x])
        except Fault as fault:
            problem = "The chip must be able to run the model with these slots."
            raise wrong(problem, got=str(fault)) from None
    if not np.array_equal(got[0], due):
        differ = f"{int((got[0] != due).sum())} of {due.size} numbers differ"
        raise wrong("The model must compute the same numbers with these slots.", got=differ)
    tile, npu = smallest(LAYER, PRESETS["npu"]), PRESETS["npu"]
    with in_the_compiler("chip.slots", slots):
        mine = clocks(LAYER, tile, npu)
    return f"a layer of ResNet-18 in {mine:,} clocks instead of {with_one_slot():,}"


@cache
def with_one_slot() -> int:
    with baselines("chip.slots"):
        return clocks(LAYER, smallest(LAYER, PRESETS["npu"]), PRESETS["npu"])
