"""Level 0: every register of every cell at every clock.

    for state in registers(a, b, SystolicArray(2, 2, dataflow="ws")):
        state.right, state.down, state.stay      # [2, 2] each

A cell has four registers and a few control bits:

    right   the operand that came from the left; the neighbour on the right gets it next
    down    the operand ("os") or the partial sum ("ws", "is") that came from above
    stay    what stays: the sum of its result, or the weight (the input)
    spare   a second one: the weight that will stay next ("shadow"), or, in an "os" array whose
            drain is not counted, the last fold's result on its way out

Where weights stay, `down = down above + right * stay`; where outputs stay, `stay += right * down`.
The control bits enter on the left and move right with the operands, so column j does everything j
clocks after column 0, and cell (i, j) needs no counter of its own:

    BUSY    an operand comes: multiply         FIRST  ... the first of a fold: start from 0, or
    SHIFT   take the upper neighbour's weight         let the spare weight stay
            (or result, on its way out)        TAKE   keep the finished result in `spare`

Integers wrap at 32 bits. Next room: `wavefront.py`, the same without registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib.accelerator.array.dataflow import Folding, Tiles, joined, tiles
from course_lib.accelerator.array.timing import Fold, streaming, timing
from course_lib.accelerator.systolic import Run, SystolicArray

BUSY, FIRST, SHIFT, TAKE = 1, 2, 4, 8
CLOCKS, PEAK = 1 << 20, 1 << 25  # clocks; numbers that enter: about a minute


@dataclass(frozen=True, eq=False)
class Registers:
    """All registers at the end of a clock, [rows, cols] each; clocks are numbered from 1.

    counted   is this clock part of the cycles, or do results only leave behind the last fold?
    """

    number: int
    counted: bool
    right: np.ndarray
    down: np.ndarray
    stay: np.ndarray
    spare: np.ndarray
    control: np.ndarray

    @property
    def busy(self) -> np.ndarray:
        """Did the cell multiply in this clock?"""
        return (self.control & BUSY) != 0


@dataclass(frozen=True, eq=False)
class Feed:
    """What enters at the edges, clock by clock.

    right, control   [clocks, rows], from the left
    down, load       [clocks, cols], from above: operands, and what will stay
    counted          so many of the clocks are part of the cycles
    """

    right: np.ndarray
    control: np.ndarray
    down: np.ndarray
    load: np.ndarray
    counted: int


def registers(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Iterator[Registers]:
    """Multiply `a` [m, k] by `b` [k, n], one fold after another, one clock after another."""
    yield from _states(feed_of(*tiles(a, b, array)), array)


def simulate(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Run:
    """The same as a result: the values that left the array at the bottom, and the clocks it took.

    ValueError if there are too many clocks for this level.
    """
    folding, parts = tiles(a, b, array)
    feed = feed_of(folding, parts)
    left, leaves, counted = [], [], 0
    before = empty(feed, array)
    for state in _states(feed, array):
        counted += state.counted
        values, some = _leaving(before, state, array)
        left.append(values)
        leaves.append(some)
        before = state
    # Each column gives the same number of values, in the order of the folds.
    column = np.array(left).T[np.array(leaves).T].reshape(array.cols, folding.folds, -1)
    sums = column.transpose(1, 2, 0)
    if folding.flow.stays == "c":
        sums = sums[:, ::-1]  # the lowest row leaves first
    return Run(array, joined(sums, folding), counted, folding.macs, folding.folds)


def affordable(folding: Folding) -> None:
    """ValueError if a product takes too long at this level."""
    clocks = folding.folds * streaming(folding)
    if clocks > CLOCKS or clocks * (folding.array.rows + folding.array.cols) > PEAK:
        raise ValueError(f"at least {clocks:,} clocks are too many for level 0, use 1 or 2")


def feed_of(folding: Folding, parts: Tiles) -> Feed:
    """All that will enter, at every clock; ValueError if there are too many clocks."""
    array = folding.array
    affordable(folding)
    folds = timing(folding)
    counted = folds[-1].end
    # The last results of an array with a second accumulator leave after the count has ended.
    last = counted + (array.rows + 1 if array.dataflow == "os" and not array.drain else 0)
    kind = parts.right.dtype
    feed = Feed(
        np.zeros((last, array.rows), kind),
        np.zeros((last, array.rows), np.uint8),
        np.zeros((last, array.cols), kind),
        np.zeros((last, array.cols), kind),
        counted,
    )
    for fold in folds:
        _place(feed, fold, folding, parts)
    return feed


def _place(feed: Feed, fold: Fold, folding: Folding, parts: Tiles) -> None:
    """One fold enters: row i is i clocks late, column j is j clocks late."""
    array = folding.array
    rows, cols, time = np.arange(array.rows), np.arange(array.cols), np.arange(folding.time)
    at = fold.start + time[:, None] + rows
    feed.right[at, rows] = parts.right[fold.row].T
    feed.control[at, rows] |= BUSY
    feed.control[fold.start + rows, rows] |= FIRST
    if parts.down is not None:
        feed.down[fold.start + time[:, None] + cols, cols] = parts.down[fold.col].T
        done = fold.start + folding.time + array.rows - 1  # of all rows of column 0
        if not array.drain:
            feed.control[done] |= TAKE
            done += 1
        feed.control[done : done + array.rows] |= SHIFT
    if parts.stays is not None and fold.load is not None:
        kept = parts.stays[fold.row, fold.col]  # the weights of the lowest row enter first
        feed.load[fold.load + rows[:, None] + cols, cols] = kept[::-1]
        shifts = rows[:, None] >= rows  # row i shifts when the first weight has reached it
        feed.control[fold.load : fold.load + array.rows] |= SHIFT * shifts.astype(np.uint8)


def _states(feed: Feed, array: SystolicArray) -> Iterator[Registers]:
    held = empty(feed, array)
    for _ in range(len(feed.right)):
        held = after(held, feed, array)
        yield held


def after(held: Registers, feed: Feed, array: SystolicArray) -> Registers:
    """All registers one clock later. `held.number` says which line of `feed` enters."""
    number = held.number
    right = _east(held.right, feed.right[number])
    control = _east(held.control, feed.control[number])
    down = _south(held.down, feed.down[number])
    clock = _outputs_stay if array.dataflow == "os" else _operands_stay
    down, stay, spare = clock(held, right, control, down, feed.load[number], array)
    return Registers(number + 1, number < feed.counted, right, down, stay, spare, control)


def empty(feed: Feed, array: SystolicArray) -> Registers:
    """All registers before the first clock."""
    nothing = np.zeros((array.rows, array.cols), feed.right.dtype)
    return Registers(0, True, nothing, nothing, nothing, nothing, nothing.astype(np.uint8))


Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # down, stay, spare


def _outputs_stay(
    held: Registers,
    right: np.ndarray,
    control: np.ndarray,
    down: np.ndarray,
    load: np.ndarray,
    array: SystolicArray,
) -> Cells:
    stay = np.where(control & FIRST, 0, held.stay) + np.where(control & BUSY, right * down, 0)
    if array.drain:
        return down, np.where(control & SHIFT, _south(held.stay, load), stay), held.spare
    spare = np.where(control & SHIFT, _south(held.spare, load), held.spare)
    return down, stay, np.where(control & TAKE, held.stay, spare)


def _operands_stay(
    held: Registers,
    right: np.ndarray,
    control: np.ndarray,
    down: np.ndarray,
    load: np.ndarray,
    array: SystolicArray,
) -> Cells:
    stay = np.where(control & FIRST, held.spare, held.stay) if array.shadow else held.stay
    down = down + np.where(control & BUSY, right * stay, 0)
    if array.shadow:
        return down, stay, np.where(control & SHIFT, _south(held.spare, load), held.spare)
    return down, np.where(control & SHIFT, _south(held.stay, load), stay), held.spare


def _leaving(
    before: Registers, state: Registers, array: SystolicArray
) -> tuple[np.ndarray, np.ndarray]:
    """What the lowest row gives away in this clock, and in which columns that is a result."""
    control = state.control[-1]
    if array.dataflow != "os":
        return state.down[-1], (control & BUSY) != 0
    return (before.stay if array.drain else before.spare)[-1], (control & SHIFT) != 0


def _east(held: np.ndarray, entering: np.ndarray) -> np.ndarray:
    """Every value moves one cell to the right; the last column's leave the array."""
    moved = np.empty_like(held)
    moved[:, 0] = entering
    moved[:, 1:] = held[:, :-1]
    return moved


def _south(held: np.ndarray, entering: np.ndarray) -> np.ndarray:
    """Every value moves one cell down."""
    moved = np.empty_like(held)
    moved[0] = entering
    moved[1:] = held[:-1]
    return moved
