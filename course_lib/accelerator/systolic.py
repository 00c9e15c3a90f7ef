"""A systolic array: a grid of multipliers that hand their operands to their neighbours.

    run = wavefront(a, b, SystolicArray(rows=4, cols=4))      # every cell, clock by clock
    run.values == a @ b;  run.cycles == cycles(m, k, n, array)

Output-stationary: cell (i, j) keeps result (i, j) and adds one product per clock. Rows of `a` enter
from the left and move right, columns of `b` enter from above and move down. Each enters one clock
after its neighbour, so that the operands of a product meet. For 2 x 2 cells and k = 2:

    clock    cell (0,0)     cell (0,1)     cell (1,0)     cell (1,1)
      1      a00 * b00
      2      a01 * b10      a00 * b01      a10 * b00
      3                     a01 * b11      a11 * b10      a10 * b01
      4                                                   a11 * b11

Simulators differ in what they count as a cycle. Here the text of an array tells what it counts.
Next room: `workload.py`, the matrix products of a whole model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib.arguments import check_fields, fits, takes
from course_lib.exercises import exercise

STAYS = {"os": "output", "ws": "weight", "is": "input"}  # what a cell keeps, by dataflow


@dataclass(frozen=True)
class SystolicArray:
    """`rows` x `cols` cells of one multiply-accumulate per clock, output-stationary at first.

    drain      count the `rows` clocks in which the results of a tile move down and out. Without it,
               results leave while the next tile is computed (each cell has a second accumulator)
    dataflow   "os", "ws" or "is": what stays in the cells, outputs, weights or inputs
    shadow     weights or inputs of the next tile are loaded during this one, into second registers

    Always counted: the clocks until the operands have reached the last cell, and those in which
    the array waits for weights or inputs to be loaded. Never: memory. Simulated here is "os" only.
    """

    rows: int = 4
    cols: int = 4
    drain: bool = False
    dataflow: str = "os"
    shadow: bool = False

    def __post_init__(self) -> None:
        for size in (self.rows, self.cols):
            if not fits(size, int) or size < 1:
                got = f"{self.rows} x {self.cols}"
                raise ValueError(f"an array has a whole number of rows and columns, got {got}")
        check_fields(self)
        if self.dataflow not in STAYS:
            raise ValueError(f"a dataflow is one of {', '.join(STAYS)}, got {self.dataflow!r}")
        if self.shadow and self.dataflow == "os":
            raise ValueError(
                "shadow registers hold weights or inputs: an output-stationary array has none"
            )
        if self.drain and self.dataflow != "os":
            raise ValueError(
                "drain is a question of outputs that stay: where weights or inputs stay, outputs "
                "leave as they are computed"
            )

    def __str__(self) -> str:
        if self.dataflow == "os":
            counted = "fill and drain, not memory" if self.drain else "fill, not drain, not memory"
        else:
            counted = f"{'first load' if self.shadow else 'load of each tile'}, fill, not memory"
        kept = f"{STAYS[self.dataflow]}-stationary"
        shadow = " with shadow registers" if self.shadow else ""
        return f"{self.rows}×{self.cols} {kept} array{shadow} (counted: {counted}; whole tiles)"


@dataclass(frozen=True, eq=False)
class Clock:
    """What the cells hold at the end of one clock. All arrays are [rows, cols].

    a, b   the operands in the cells     busy  did the cell multiply in this clock?
    acc    the sums so far
    """

    number: int
    a: np.ndarray
    b: np.ndarray
    acc: np.ndarray
    busy: np.ndarray


@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation returned. `macs` are useful ones, `tiles` were computed one by one."""

    array: SystolicArray
    values: np.ndarray
    cycles: int
    macs: int
    tiles: int

    @property
    def utilization(self) -> float:
        """Part of all cell-clocks in which a cell did a useful multiply-accumulate."""
        return self.macs / (self.cycles * self.array.rows * self.array.cols)

    def __str__(self) -> str:
        return (
            f"{self.cycles:,} cycles for {self.macs:,} multiply-accumulates in {self.tiles} tiles, "
            f"utilization {self.utilization:.1%}\n{self.array}"
        )


@takes
def wavefront(a: np.ndarray, b: np.ndarray, array: SystolicArray) -> Run:
    """Multiply `a` [m, k] by `b` [k, n] on the simulated array, one tile after another.

    Integers are summed in 32 bits, as in hardware for int8; floats in their own type.
    """
    if array.dataflow != "os":
        raise ValueError(f"output-stationary arrays only, got {array}")
    a, b = operands(a, b)
    (m, _), n = a.shape, b.shape[1]
    values = np.zeros((m, n), a.dtype)
    total = macs = tiles = 0
    for top in range(0, m, array.rows):
        for left in range(0, n, array.cols):
            part = values[top : top + array.rows, left : left + array.cols]
            height, width = part.shape
            tile_a = np.zeros((array.rows, a.shape[1]), a.dtype)
            tile_a[:height] = a[top : top + height]
            tile_b = np.zeros((b.shape[0], array.cols), b.dtype)
            tile_b[:, :width] = b[:, left : left + width]
            for clock in clocks(tile_a, tile_b):
                total += 1
                macs += int(clock.busy[:height, :width].sum())
            result, drained = _drain(clock.acc)
            part[...] = result[:height, :width]
            total += drained if array.drain else 0
            tiles += 1
    return Run(array, values, total, macs, tiles)


def clocks(a: np.ndarray, b: np.ndarray) -> Iterator[Clock]:
    """One tile: `a` [rows, k] times `b` [k, cols], every cell at every clock until all are done."""
    a, b = operands(a, b)
    (rows, k), cols = a.shape, b.shape[1]
    held_a = np.zeros((rows, cols), a.dtype)
    held_b, acc = held_a.copy(), held_a.copy()
    has_a = np.zeros((rows, cols), bool)  # is there an operand in the cell, or is it empty yet?
    has_b = has_a.copy()
    done = np.zeros((rows, cols), int)
    enters_a, enters_b = _entering(a, rows + cols + k), _entering(b.T, rows + cols + k)
    valid_a, valid_b = (_entering(np.ones_like(x, bool), rows + cols + k) for x in (a, b.T))
    number = 0
    while (done < k).any():
        held_a, has_a = _right(held_a, enters_a[number]), _right(has_a, valid_a[number])
        held_b, has_b = _right(held_b.T, enters_b[number]).T, _right(has_b.T, valid_b[number]).T
        busy = has_a & has_b
        acc = acc + np.where(busy, held_a * held_b, acc.dtype.type(0))
        done += busy
        number += 1
        yield Clock(number, held_a, held_b, acc, busy)


@exercise("accelerator.systolic.cycles", unit=0, points=3)
def cycles(m: int, k: int, n: int, array: SystolicArray) -> int:
    """The clocks that `wavefront` takes for [m, k] times [k, n], without simulating them.

    The result is cut into tiles of `array.rows` x `array.cols`, computed one after
    another. A tile that hangs over the edge of the result costs as much as a whole one.
    In each tile, the first operands enter cell (0, 0) at clock 1. Those of row i enter i
    clocks later, those of column j enter j clocks later. Every cell does k
    multiplications, one per clock. The tile ends when the last cell is done.
    If `array.drain`, each tile then takes `array.rows` more clocks.

    >>> cycles(4, 8, 4, SystolicArray(rows=4, cols=4))
    14
    """
    if array.dataflow != "os":
        raise ValueError(f"output-stationary arrays only, got {array}")
    # Without the drain, SCALE-Sim v2 computes this number too; its report says one less per layer.
    tiles = -(-m // array.rows) * -(-n // array.cols)
    one = k + array.rows + array.cols - 2 + (array.rows if array.drain else 0)
    return tiles * one


def operands(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both as the cells compute with them: integers in 32 bits, floats in their own type.
    ValueError if the shapes do not multiply, or an integer does not fit."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or 0 in (*a.shape, *b.shape):
        raise ValueError(f"a [m, k] times b [k, n] expected, got {list(a.shape)}, {list(b.shape)}")
    kind = np.result_type(a, b)
    if kind.kind != "f":
        if any(not -(1 << 31) <= v < 1 << 31 for x in (a, b) for v in (int(x.min()), int(x.max()))):
            raise ValueError("integers of 32 bits expected: some of these are larger")
        kind = np.dtype(np.int32)
    return a.astype(kind), b.astype(kind)


def _entering(rows: np.ndarray, clocks: int) -> np.ndarray:
    """What enters at the edge at each clock: row i is `i` clocks late, with zeros around it."""
    edge = np.zeros((clocks, len(rows)), rows.dtype)
    for i, row in enumerate(rows):
        edge[i : i + len(row), i] = row
    return edge


def _right(held: np.ndarray, entering: np.ndarray) -> np.ndarray:
    """Every value moves one cell to the right; the last column's leave the array."""
    moved = np.empty_like(held)
    moved[:, 0], moved[:, 1:] = entering, held[:, :-1]
    return moved


def _drain(acc: np.ndarray) -> tuple[np.ndarray, int]:
    """Results move down one cell per clock and leave at the bottom: (results, clocks)."""
    left: list[np.ndarray] = []
    while len(left) < len(acc):
        left.append(acc[-1])
        acc = np.vstack([np.zeros_like(acc[:1]), acc[:-1]])
    return np.array(left[::-1]), len(left)
