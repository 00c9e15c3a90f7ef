"""Level 1: the wavefront of many folds at once, clock by clock but without registers.

    wavefront(a, b, SystolicArray(32, 32, dataflow="ws"))   ->   the same values and cycles, fast

Operand t of row i meets cell (i, j) at clock t + i + j. So what a cell holds needs not be moved: it
is read where it stands, `clock - i - j` numbers into the row. One view of the operands with strides
(row, -1 column) shows all cells of all folds at a clock, and a clock is a multiplication and an
addition of numpy. Only partial sums that move down are moved. Sums are made in the order of the
registers, so that floats agree to the last bit too. Next room: `closed.py`.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from course_lib.accelerator.array.dataflow import Folding, Tiles, joined, tiles
from course_lib.accelerator.array.timing import streaming, timing
from course_lib.accelerator.systolic import Run, SystolicArray

CELLS = 1 << 15  # so many cells at once: their numbers stay in a cache
WORK, PEAK = 1 << 34, 1 << 27  # cells times clocks; numbers that leave: about a minute
WAITING = 1 << 22  # and not more operands than that


def wavefront(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Run:
    """Multiply `a` [m, k] by `b` [k, n]: values and cycles of level 0.

    ValueError if there is too much to do for this level.
    """
    folding, parts = tiles(a, b, array)
    affordable(folding)
    long = folding.time + 2 * (array.rows + array.cols)
    most = max(1, min(CELLS // (array.rows * array.cols), WAITING // (array.rows * long)))
    some = _outputs_stay if folding.flow.stays == "c" else _operands_stay
    left = [
        some(folding, parts, np.arange(first, min(first + most, folding.folds)))
        for first in range(0, folding.folds, most)
    ]
    values = joined(np.concatenate(left), folding)
    return Run(array, values, timing(folding)[-1].end, folding.macs, folding.folds)


def affordable(folding: Folding) -> None:
    """ValueError if a product takes too long, or too much memory, at this level."""
    clocks, array = folding.folds * streaming(folding), folding.array
    work = clocks * array.rows * array.cols
    if work > WORK or clocks * (array.rows + array.cols) > PEAK:
        raise ValueError(f"{work:,} cells times clocks are too many for level 1, use level 2")


def _outputs_stay(folding: Folding, parts: Tiles, folds: np.ndarray) -> np.ndarray:
    """What the cells have added up in these folds: [folds, R, C]."""
    assert parts.down is not None
    array = folding.array
    cols, rows = np.divmod(folds, folding.folds_down)
    right = _Diagonals(parts.right[rows], array)
    down = _Diagonals(parts.down[cols], array, turned=True)
    stay = np.zeros((len(folds), array.rows, array.cols), parts.right.dtype)
    product = np.empty_like(stay)
    for clock in range(streaming(folding)):
        np.multiply(right.at(clock), down.at(clock), out=product)
        stay += product
    return stay


def _operands_stay(folding: Folding, parts: Tiles, folds: np.ndarray) -> np.ndarray:
    """The partial sums that have left at the bottom in these folds: [folds, time, C]."""
    assert parts.stays is not None
    array = folding.array
    cols, rows = np.divmod(folds, folding.folds_down)
    right = _Diagonals(parts.right[rows], array)
    stay = np.ascontiguousarray(parts.stays[rows, cols])
    down, product = np.zeros_like(stay), np.empty_like(stay)
    bottom = np.empty((streaming(folding), len(folds), array.cols), stay.dtype)
    for clock in range(streaming(folding)):
        np.multiply(right.at(clock), stay, out=product)
        product[:, 1:] += down[:, :-1]
        down, product = product, down
        bottom[clock] = down[:, -1]
    times = np.arange(folding.time)[:, None] + array.rows - 1 + np.arange(array.cols)
    return bottom[times, :, np.arange(array.cols)].transpose(2, 0, 1)


class _Diagonals:
    """`lines` [folds, lines, time] as the cells see them: cell (i, j) is i + j clocks late."""

    def __init__(self, lines: np.ndarray, array: SystolicArray, turned: bool = False) -> None:
        self.late = array.rows + array.cols
        self.padded = np.pad(lines, ((0, 0), (0, 0), (self.late, self.late)))
        fold, line, one = self.padded.strides
        self.shape = (len(lines), array.rows, array.cols)
        self.strides = (fold, -one, line - one) if turned else (fold, line - one, -one)

    def at(self, clock: int) -> np.ndarray:
        """[folds, R, C]: a view, nothing is copied."""
        return as_strided(self.padded[:, :, self.late + clock :], self.shape, self.strides)
