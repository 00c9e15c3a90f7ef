"""More offloaded, and slower: the exercise that is answered in words.

Next room: autograder/units/u14/checks/__init__.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise


@exercise("u14.more", unit=14, points=2, kind="explain")
def more() -> Rubric:
    """You connect your chip to a new compiler. Its report says that 100 % of the
    multiply-accumulates are offloaded; before, it was 92 %, and the chip needed 40 % fewer clocks.
    Your manager wants to advertise the 100 %. Say what that share does not count, and which two
    numbers in the report show why the chip got slower. Then name one change in the compiler and one
    in the chip that would lower the clocks with all products still on the chip. Write four to six
    sentences; each of the four answers is worth half a point.
    """
    return Rubric(
        criteria="0.5 points: the share counts products alone, neither the values that cross nor "
        "the number of crossings (nor the work of the host). "
        "0.5 points: bytes over the port, and clocks layer by layer (or the type of what crosses): "
        "the same layers have more bytes, because sums leave as i32, 4 bytes instead of 1, and "
        "the port is busy nearly all the time (2,949,120 / 16 = 184,320 of 205,104 clocks). "
        "0.5 points: in the compiler, a border around whole layers (bias, rescaling and rounding "
        "go to the chip with their product), or neighbours joined, if the answer says that the "
        "compiler must also keep the value between them in the chip's SRAMs. "
        "0.5 points: in the chip, a wider port, or the output pipeline (bias, rescaling, rounding) "
        "behind every product, including that of two computed operands. A table of 256 bytes or a "
        "softmax counts with the change of the compiler that brings i8 there: behind a border "
        "around products, it takes no byte off the port. Half of each of these for a change that "
        "would not lower the bytes, with a reason.",
        samples=(
            Sample(2, "The share counts multiply-accumulates, so it says nothing about the bytes "
                   "that cross for them. The report has 2.9 million bytes over the port instead "
                   "of 1.7, and the six products that were offloaded before need 54,000 clocks "
                   "more than they did: their sums leave as i32, and mlp.0 needs at least 51,200 "
                   "clocks of port for 32,768 of arithmetic. The compiler should hand over the "
                   "product with its bias and rescaling, so that i8 leaves. A chip that also "
                   "rescales products of two computed operands could do the same for attention; "
                   "with 32 bytes a clock, even the border around products would be cheap."),
            Sample(1, "100 % is only the multiplications. More data is transferred between the "
                   "processor and the chip, which one sees in the DRAM bytes, and that takes "
                   "longer than what the multiplications save. The compiler should fuse more."),
            Sample(0, "The two products of attention are too small for a 32 × 32 array, so its "
                   "cells idle. They should stay on the processor, and the share is then 92 %."),
        ),
    )  # fmt: skip
