"""A product on a line of time: loading, filling, streaming, draining, fold by fold.

    slices(Folding(SystolicArray(4, 4, dataflow="ws"), 8, 4, 4))
    ->  [load 0-4, fill 4-10, stream 10-18]

    load     what will stay enters, R clocks            fill    the first operands reach the last
    stream   the last cell multiplies, T clocks                 cell, R + C - 2 clocks
    drain    results leave, if that is counted          wait    shadow weights are not there yet

The slices of the lane "array" follow each other without a gap, so their lengths add up to the
cycles. With shadow registers only the first fold is loaded and filled there: later ones come right
behind it, and their loads have a lane of their own. Next room: `vcd.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.timing import Fold, streaming, timing
from course_lib.trace.chrome import Span, Trace

LANES = ("array", "shadow load")
MOST = 200_000  # folds that a viewer of traces can still show


@dataclass(frozen=True)
class Slice:
    """`name` from clock `start` on, for `length` clocks, in one of the LANES."""

    name: str
    lane: str
    start: int
    length: int
    row: int
    col: int


def slices(folding: Folding) -> list[Slice]:
    """All slices, in order; ValueError if there are too many folds to draw."""
    if folding.folds > MOST:
        raise ValueError(f"{folding.folds:,} folds are too many to draw, {MOST:,} at most")
    array, skew = folding.array, streaming(folding) - folding.time
    drawn: list[Slice] = []
    clock = 0  # how far the lane "array" is drawn
    for fold in timing(folding):
        behind = array.shadow and clock > 0
        first = fold.start + skew  # the clock of the last cell's first product
        steps = [("wait", first)] if behind else [("load", fold.start), ("fill", first)]
        for name, end in [*steps, ("stream", first + folding.time), ("drain", fold.end)]:
            if end > clock:
                drawn.append(Slice(name, LANES[0], clock, end - clock, fold.row, fold.col))
                clock = end
        if behind and fold.load is not None:
            drawn.append(_hidden(fold, array.rows))
    return drawn


def _hidden(fold: Fold, rows: int) -> Slice:
    assert fold.load is not None
    return Slice("load", LANES[1], fold.load, rows, fold.row, fold.col)


def trace_of(folding: Folding) -> Trace:
    """The same for a viewer of traces, which draws a cycle as a microsecond."""
    spans = [
        Span(one.name, one.lane, one.start, one.length, "fold",
             {"fold row": one.row, "fold column": one.col, "cycles": one.length})
        for one in slices(folding)
    ]  # fmt: skip
    return Trace(str(folding.array), LANES, spans, about={"unit": "1 us = 1 cycle"})
