"""Pictures of the chip at work.

    wavefront_steps(a, b)               # a stepper: one tile, clock by clock
    dataflow_steps(a, b, array)         # the same for any dataflow, and for several tiles

Next room: `course_lib/llvm`, the other target.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.array.dataflow import tiles
from course_lib.accelerator.array.registers import (
    BUSY,
    SHIFT,
    Feed,
    Registers,
    empty,
    feed_of,
    registers,
)
from course_lib.accelerator.systolic import STAYS, Clock, SystolicArray, clocks
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.plots.cells import Cell, cells

AHEAD = 8  # clocks that an operand at the edge is shown before it enters
MOST = 60  # clocks in a stepper


def wavefront_steps(a: np.ndarray, b: np.ndarray) -> Picture:
    """Walk through one tile: `a` [rows, k] times `b` [k, cols] on an array of rows x cols."""
    (rows, k), cols = a.shape, b.shape[1]
    nothing = np.zeros((rows, cols), a.dtype)
    states = [Clock(0, nothing, nothing, nothing, nothing.astype(bool)), *clocks(a, b)]
    total = len(states) - 1
    letters = max(len(line) for s in states for row in _grid(s) for c in row for line in c.lines)
    shown = [(f"clock {s.number}", _picture(s, a, b, letters)) for s in states]
    return stepper(shown, f"{rows} x {cols} cells, k = {k}: {total} clocks")


def dataflow_steps(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Picture:
    """Walk through the product of `a` [m, k] and `b` [k, n] on an array of any dataflow.

    A cell shows its two factors while it multiplies, its sum (Σ) or the partial sum on its way
    down (Σ↓), and the weight that waits behind this one. ValueError if there are too many clocks.
    """
    folding, parts = tiles(a, b, array)
    feed = feed_of(folding, parts)
    if feed.counted > MOST:
        raise ValueError(f"a stepper shows {MOST} clocks at most, this product has {feed.counted}")
    states = [empty(feed, array), *registers(a, b, array)][: feed.counted + 1]
    grids = [_cells_of(state, array) for state in states]
    edges = [_edges(state.number, feed, array) for state in states]
    letters = max(len(line) for grid in grids for row in grid for c in row for line in c.lines)
    wide = max(len(" ".join(line)) for west, _ in edges for line in west)
    high = max(len(column) for _, north in edges for column in north)
    shown = []
    for state, grid, (west, north) in zip(states, grids, edges, strict=True):
        picture = cells(
            grid,
            title=f"{int(state.busy.sum())} of {state.busy.size} cells multiply",
            summary="thick frame: multiplies and adds in this clock; dashed: does not",
            west=[" ".join(reversed(line)).rjust(wide) for line in west],
            north=[[""] * (high - len(column)) + column[::-1] for column in north],
            letters=letters,
        )
        shown.append((f"clock {state.number}", picture))
    folds = f"{folding.folds} folds" if folding.folds > 1 else "one fold"
    kept = f"{array.rows} x {array.cols} cells, {STAYS[array.dataflow]}-stationary"
    return stepper(shown, f"{kept}: {folds}, {feed.counted} clocks")


def _edges(number: int, feed: Feed, array: SystolicArray) -> tuple[list[list[str]], ...]:
    """What enters at each row and above each column in the next clocks, the next one first."""
    outputs = array.dataflow == "os"
    above, bit = (feed.down, BUSY) if outputs else (feed.load, SHIFT)
    comes = [(feed.control & BUSY)[:, i] != 0 for i in range(array.rows)]
    west = [_coming(feed.right[number:, i], comes[i][number:]) for i in range(array.rows)]
    first = (feed.control[:, 0] & bit) != 0  # what is true of column j was of column 0 before
    late = [np.concatenate([np.zeros(j, bool), first])[number:] for j in range(array.cols)]
    north = [_coming(above[number:, j], late[j][: len(above) - number]) for j in range(array.cols)]
    return west, north


def _coming(values: np.ndarray, real: np.ndarray) -> list[str]:
    """A dot stands for a clock in which nothing enters; … says that more will enter later."""
    last = int(np.flatnonzero(real[:AHEAD]).max(initial=-1)) + 1
    shown = [str(v) if r else "·" for v, r in zip(values[:last], real[:last], strict=True)]
    return shown + ["…"] * bool(real[AHEAD:].any())


def _cells_of(state: Registers, array: SystolicArray) -> list[list[Cell]]:
    return [[_registers(state, array, i, j) for j in range(array.cols)] for i in range(array.rows)]


def _registers(state: Registers, array: SystolicArray, i: int, j: int) -> Cell:
    right, down, stay, spare = (
        getattr(state, name)[i, j] for name in ("right", "down", "stay", "spare")
    )
    busy = bool(state.busy[i, j])
    if array.dataflow == "os":
        lines = (f"{right} · {down}" if busy else "", f"Σ {stay}")
    else:
        lines = (f"{right} · {stay}" if busy else f"{stay}", f"Σ↓ {down}" if busy else "")
    lines += (f"next {spare}",) if array.shadow else ()
    return Cell(lines, "marked" if busy else "stall")


def _picture(state: Clock, a: np.ndarray, b: np.ndarray, letters: int) -> Picture:
    rows, cols = state.busy.shape
    west = [_waiting(a[i], i, state.number) for i in range(rows)]
    north = [_waiting(b[:, j], j, state.number) for j in range(cols)]
    # As much room as at clock 0, so that nothing moves but the numbers.
    wide = max(len(" ".join(_waiting(a[i], i, 0))) for i in range(rows))
    high = max(len(_waiting(b[:, j], j, 0)) for j in range(cols))
    return cells(
        _grid(state),
        title=f"{int(state.busy.sum())} of {rows * cols} cells multiply",
        summary="thick frame: multiplies and adds in this clock; dashed: does not",
        west=[" ".join(reversed(line)).rjust(wide) for line in west],
        north=[[""] * (high - len(column)) + column[::-1] for column in north],
        letters=letters,
    )


def _grid(state: Clock) -> list[list[Cell]]:
    rows, cols = state.busy.shape
    return [[_cell(state, i, j) for j in range(cols)] for i in range(rows)]


def _cell(state: Clock, i: int, j: int) -> Cell:
    total = f"Σ {state.acc[i, j]}"
    if not state.busy[i, j]:
        return Cell(("", total), "stall")
    return Cell((f"{state.a[i, j]} · {state.b[i, j]}", total), "marked")


def _waiting(line: np.ndarray, late: int, clock: int) -> list[str]:
    """The operands that have not entered yet, the next one first; a dot for a clock of waiting."""
    return ["·"] * max(0, late - clock) + [str(v) for v in line[max(0, clock - late) :]]
