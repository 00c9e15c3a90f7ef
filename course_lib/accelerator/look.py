"""Pictures of the chip at work.

    wavefront_steps(a, b)      # a stepper: one tile, clock by clock

Next room: `course_lib/llvm`, the other target.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.systolic import Clock, clocks
from course_lib.draw.base.picture import Picture
from course_lib.draw.base.stepper import stepper
from course_lib.draw.plots.cells import Cell, cells


def wavefront_steps(a: np.ndarray, b: np.ndarray) -> Picture:
    """Walk through one tile: `a` [rows, k] times `b` [k, cols] on an array of rows x cols."""
    (rows, k), cols = a.shape, b.shape[1]
    nothing = np.zeros((rows, cols), a.dtype)
    states = [Clock(0, nothing, nothing, nothing, nothing.astype(bool)), *clocks(a, b)]
    total = len(states) - 1
    letters = max(len(line) for s in states for row in _grid(s) for c in row for line in c.lines)
    shown = [(f"clock {s.number}", _picture(s, a, b, letters)) for s in states]
    return stepper(shown, f"{rows} x {cols} cells, k = {k}: {total} clocks")


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
        summary="thick frame: multiplies and adds in this clock; dashed: waits",
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
