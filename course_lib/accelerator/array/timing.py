"""When each fold begins and ends: the rule that a controller of the array would follow.

    [(f.load, f.start, f.end) for f in timing(Folding(SystolicArray(4, 4, dataflow="ws"), 8, 4, 8))]
    ->  [(0, 4, 18), (18, 22, 36)]

Clocks are counted from 0 here; a fold starts when its first operand enters cell (0, 0), and it ends
after the last cell's last product (and its drain, if that is counted). Cell (i, j) is i + j clocks
behind cell (0, 0), so a fold whose operands enter for t clocks computes for t + R + C - 2.

    os              one fold after another
    ws, is          R clocks of loading before each one
    with shadow     the next fold is loaded while this one streams: it starts as soon as all
                    operands of this one have entered and its own weights are there

Next room: `registers.py`, which needs exactly so many clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.accelerator.array.dataflow import Folding


@dataclass(frozen=True)
class Fold:
    """One fold: which block it is, and its clocks. `load` is None where nothing is loaded."""

    row: int
    col: int
    load: int | None
    start: int
    end: int


def streaming(folding: Folding) -> int:
    """Clocks from the first product of a fold, in cell (0, 0), to its last one."""
    return folding.time + folding.array.rows + folding.array.cols - 2


def timing(folding: Folding) -> list[Fold]:
    """All folds, in order. The end of the last one is the number of cycles."""
    array, loads = folding.array, folding.flow.stays != "c"
    folds: list[Fold] = []
    free = 0  # the clock at which the registers to load into, or the whole array, are free
    for number in range(folding.folds):
        col, row = divmod(number, folding.folds_down)
        start = free + array.rows if loads else free
        if array.shadow and folds:
            start = max(start, folds[-1].start + folding.time)
        end = start + streaming(folding) + (array.rows if array.drain else 0)
        folds.append(Fold(row, col, free if loads else None, start, end))
        free = start if array.shadow else end
    return folds
