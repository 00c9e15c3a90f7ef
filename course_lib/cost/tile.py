"""What a tile costs: how many vector instructions each multiply-add of a kernel takes.

    instructions(lanes=16, vectors=2, rows=14)   ->   (1 + 1/14 + 1/2) / 16

A tile keeps `rows` x `vectors` accumulators in vector registers. One step of the reduction loads
`vectors` vectors of one operand and `rows` numbers of the other, and multiplies each with each: the
more accumulators, the more often a load is used. `schedule/choose.py` takes the tile with the
smallest price of those that fit the registers. Next room: `blocks.py`.
"""

from __future__ import annotations

import math

SPARE = 4  # vector registers that hold operands; the others hold accumulators
WAITING = 12  # vector instructions that begin while a sum waits for an addition: in four clocks
WRITTEN_OUT = 96  # multiply-adds up to which LLVM writes out the loops of a window, in whose lanes
# both operands are vectors. It splits longer vectors into registers later.


def instructions(lanes: float, vectors: int, rows: float, vector_loads: float = 1.0) -> float:
    """Vector instructions for each multiply-add of one element.

    lanes         elements of a vector that do work: fewer than it has, if it is not full
    vectors       vectors side by side
    rows          results of each lane, on average: as often is a loaded vector used
    vector_loads  instructions that load one vector: more if its elements lie apart
    """
    return (1 + vector_loads / rows + 1 / vectors) / lanes


def waiting(sums: int) -> float:
    """Vector instructions for each multiply-add in so few vectors of sums that they wait for their
    additions: 3 for four sums, when `instructions` would say 2."""
    return WAITING / sums


def filled(extent: int, width: int, lanes: int) -> tuple[float, int]:
    """(elements that work on average, vectors side by side) for a loop cut into pieces of `width`.

    The last piece may be shorter: 20 elements in pieces of 16 are two runs, 10 elements on average.
    """
    vectors = math.ceil(width / lanes)
    return extent / (math.ceil(extent / width) * vectors), vectors


def spread(vectors: int) -> float:
    """As how many multiply-adds of `WRITTEN_OUT` it counts to multiply a number by so many vectors.

    The number has to be spread over the lanes first. Measured with loops of 2 to 8 numbers and 1 to
    3 vectors of 256 bits: the longest that LLVM 22 writes out has 81 to 99 for one vector, 86 to 99
    for two and 72 to 81 for three.
    """
    return 0.75 * (1 + vectors)


def alive_in_sums(count: int, vectors: int, steps: int, beside: int, step: int, span: int) -> int:
    """Registers for a tile that multiplies numbers of one operand by vectors of the other.

    count, vectors  the accumulators are `count` for each of so many vectors
    steps           of the reduction that LLVM writes out: if there are several, it loads the
                    operands of the next one ahead
    step, span      the windows of neighbouring results begin `step` apart and are `span` long; what
                    several of them read stays in registers,
    beside          and so many numbers at each place of a window
    """
    operands = (vectors + 1) * min(steps, 2)
    shared = min((count - 1) * (span - step), step * (count - 1) + span) if span > step else 0
    return count * vectors + operands + beside * shared


def alive_in_windows(count: int, weights: int, beside: int, step: int, span: int) -> int:
    """Registers for each vector of a tile in which both operands are vectors, as in a depthwise
    convolution: `count` sums, and by the order in which LLVM takes the windows that it writes out

        all together          whatever they read along the unrolled loop
        one after the other   the weights, what a window shares with the next one, and a vector

    It finds about the better of the two. In machine code for 16 registers, 3 x 3 windows and one
    vector, 7 results along a row need no stack, or 6 with stride 2, and 3 down a column; this
    says 7, 5, and 2, or 3 with stride 2.
    """
    if span <= step:
        return count + 2
    together = beside * (step * (count - 1) + span)
    one_by_one = weights + beside * (span - step) + 1
    return count + min(together, one_by_one)
