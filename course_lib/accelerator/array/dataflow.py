"""What a dataflow is: which axis of the product lies along the rows, the columns, and in time.

    DATAFLOWS["ws"]                    ->  rows k, columns n, time m
    DATAFLOWS["ws"].stays, .right, .down   ->  b, a, c

[m, k] times [k, n] has three axes and three matrices: a has m and k, b has k and n, c has m and n.
Each lacks one axis, and that decides how it moves. The matrix without the axis of *time* stays in
the cells. The one without the axis of the *columns* is the same in all of them: it moves right,
from column to column. The one without the axis of the *rows* moves down. Nothing else tells the
dataflows apart, so every other file here is written once:

         rows  columns  time    stays  right  down
    os    m       n       k       c      a      b      each cell adds up one result
    ws    k       n       m       b      a      c      results add up on their way down
    is    k       m       n       a      b      c      the same of the transposed product

The mapping is that of Kung, "Why systolic architectures?" (1982), in the words of SCALE-Sim
(Samajdar et al., 2018), whose term for a tile is *fold*. Next room: `timing.py`, when each begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.accelerator.systolic import SystolicArray, operands

AXES = {"a": "mk", "b": "kn", "c": "mn"}


@dataclass(frozen=True)
class Dataflow:
    """The axis, "m", "k" or "n", that lies along the rows, along the columns, and in time."""

    rows: str
    cols: str
    time: str

    @property
    def stays(self) -> str:
        return _without(self.time)

    @property
    def right(self) -> str:
        return _without(self.cols)

    @property
    def down(self) -> str:
        return _without(self.rows)


DATAFLOWS = {
    "os": Dataflow(rows="m", cols="n", time="k"),
    "ws": Dataflow(rows="k", cols="n", time="m"),
    "is": Dataflow(rows="k", cols="m", time="n"),
}


def _without(axis: str) -> str:
    return next(matrix for matrix, axes in AXES.items() if axis not in axes)


@dataclass(frozen=True)
class Folding:
    """The product [m, k] x [k, n] cut into folds: one for each array-full of rows and columns.

    Folds are numbered down the rows first, so that with "ws" and "is" the partial sums of one block
    of results follow each other. ValueError if a size is not a whole number of at least 1.
    """

    array: SystolicArray
    m: int
    k: int
    n: int

    def __post_init__(self) -> None:
        for axis in "mkn":
            size = getattr(self, axis)
            if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
                raise ValueError(f"{axis} is a whole number of at least 1, got {size!r}")

    @property
    def flow(self) -> Dataflow:
        return DATAFLOWS[self.array.dataflow]

    @property
    def rows(self) -> int:
        """How long the axis is that lies along the rows (not how many rows the array has)."""
        return getattr(self, self.flow.rows)

    @property
    def cols(self) -> int:
        return getattr(self, self.flow.cols)

    @property
    def time(self) -> int:
        return getattr(self, self.flow.time)

    @property
    def folds_down(self) -> int:
        return -(-self.rows // self.array.rows)

    @property
    def folds_across(self) -> int:
        return -(-self.cols // self.array.cols)

    @property
    def folds(self) -> int:
        return self.folds_down * self.folds_across

    @property
    def macs(self) -> int:
        return self.m * self.k * self.n


@dataclass(frozen=True, eq=False)
class Tiles:
    """The operands of every fold, with zeros where it hangs over the edge of the product.

    right   [folds_down, R, time]     what enters from the left
    down    [folds_across, C, time]   what enters from above ("os"), or None
    stays   [folds_down, folds_across, R, C]   what is loaded ("ws" and "is"), or None
    """

    right: np.ndarray
    down: np.ndarray | None
    stays: np.ndarray | None


def tiles(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> tuple[Folding, Tiles]:
    """Cut `a` [m, k] and `b` [k, n]; integers become int32, floats keep their type.

    ValueError if the shapes do not multiply.
    """
    a, b = operands(a, b)
    (m, k), n = a.shape, b.shape[1]
    folding = Folding(array, m, k, n)
    flow, given = folding.flow, {"a": a, "b": b}
    right = _padded(_turned(given[flow.right], flow.right, flow.rows + flow.time), array.rows)
    right = right.reshape(folding.folds_down, array.rows, folding.time)
    if flow.stays == "c":
        down = _padded(_turned(given[flow.down], flow.down, flow.cols + flow.time), array.cols)
        down = down.reshape(folding.folds_across, array.cols, folding.time)
        return folding, Tiles(right, down, None)
    kept = _padded(_turned(given[flow.stays], flow.stays, flow.rows + flow.cols), array.rows)
    kept = _padded(kept.T, array.cols).T
    kept = kept.reshape(folding.folds_down, array.rows, folding.folds_across, array.cols)
    return folding, Tiles(right, None, kept.swapaxes(1, 2))


def joined(left: np.ndarray, folding: Folding) -> np.ndarray:
    """The product from what left the array in each fold: [folds, R or time, C] -> c [m, n].

    Where outputs stay, a fold gives its own block of results. Otherwise folds below each other give
    partial sums, which accumulators beside the array add up in their order.
    """
    blocks = left.reshape(folding.folds_across, folding.folds_down, *left.shape[1:])
    if folding.flow.stays == "c":
        blocks = blocks.transpose(1, 2, 0, 3)
        whole = blocks.reshape(folding.folds_down * folding.array.rows, -1)
        return np.ascontiguousarray(whole[: folding.rows, : folding.cols])
    sums = np.zeros_like(blocks[:, 0])
    for row in range(folding.folds_down):
        sums += blocks[:, row]
    whole = sums.swapaxes(0, 1).reshape(folding.time, -1)[:, : folding.cols]
    return np.ascontiguousarray(_turned(whole, "c", folding.flow.time + folding.flow.cols))


def _turned(matrix: np.ndarray, name: str, axes: str) -> np.ndarray:
    """The matrix with its axes in that order; and the other way round, which is the same."""
    return matrix if AXES[name] == axes else matrix.T


def _padded(matrix: np.ndarray, multiple: int) -> np.ndarray:
    """Zeros below, up to a whole number of folds."""
    return np.pad(matrix, ((0, -len(matrix) % multiple), (0, 0)))
