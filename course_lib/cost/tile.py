"""What a tile costs: how many vector instructions each multiply-add of a kernel takes.

    instructions(lanes=16, vectors=2, rows=14)   ->   (1 + 1/14 + 1/2) / 16

A tile keeps `rows` x `vectors` accumulators in vector registers. One step of the reduction loads
`vectors` vectors of one operand and `rows` numbers of the other, and multiplies each with each: the
more accumulators, the more often a load is used. `schedule/choose.py` takes the tile with the
smallest price. Next room: `blocks.py`.
"""

from __future__ import annotations

import math

SPARE = 4  # vector registers that hold operands; the others hold accumulators


def instructions(lanes: float, vectors: int, rows: float, vector_loads: float = 1.0) -> float:
    """Vector instructions for each multiply-add of one element.

    lanes         elements of a vector that do work: fewer than it has, if it is not full
    vectors       vectors side by side
    rows          results of each lane, on average: as often is a loaded vector used
    vector_loads  instructions that load one vector: more if its elements lie apart
    """
    return (1 + vector_loads / rows + 1 / vectors) / lanes


def filled(extent: int, width: int, lanes: int) -> tuple[float, int]:
    """(elements that work on average, vectors side by side) for a loop cut into pieces of `width`.

    The last piece may be shorter: 20 elements in pieces of 16 are two runs, 10 elements on average.
    """
    vectors = math.ceil(width / lanes)
    return extent / (math.ceil(extent / width) * vectors), vectors
