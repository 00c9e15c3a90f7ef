"""Unit 13, A custom backend: its exercises.

What the compiler runs stands in `course_lib/accelerator/compile`: `chip.products`, `chip.slots`,
`chip.tile`, `chip.dataflow`. The bodies of the exercises here are our answers and never ship. Next
room: lessons/u13/words.py.
"""

from __future__ import annotations

from autograder.check.rubrics import Rubric, Sample
from course_lib.accelerator.compile.products import products as products
from course_lib.accelerator.compile.search import choose_dataflow as choose_dataflow
from course_lib.accelerator.compile.search import choose_tile as choose_tile
from course_lib.accelerator.compile.slots import slots as slots
from course_lib.exercises import exercise


@exercise("u13.mend", unit=13, points=3, kind="evidence", further=True)
def mend() -> dict[str, dict[int, str]]:
    """Mend the tokens of STUCK and RACE.

    Return a dict with the keys "stuck" and "race". Each value is a dict from the number of each
    instruction that you change to all tokens that it then has, written as in the listing:
    {8: "wait=execute signal=load,execute"}, or "" for none. All other instructions stay unchanged.

    A mended program never deadlocks, and the hazard check finds no race in it. It leaves the same
    bytes in DRAM as running its instructions one by one, whether the latency of the DMA is 0 or 500
    clocks. Every token that is given is taken. With a latency of 100, it takes at most 354 clocks.
    Change at most two words of STUCK and four of RACE. A word is one engine that you add to a
    `wait` or `signal`, or take from it.
    """
    return {
        "stuck": {4: "signal=load,store", 9: "wait=load,store signal=store"},
        "race": {
            0: "",
            1: "signal=execute",
            4: "signal=load,store",
            6: "wait=execute signal=execute",
        },
    }


@exercise("u13.encode", unit=13, points=2, kind="implement", further=True)
def encode(values: list[int], fields: list[tuple[str, int, bool]]) -> int:
    """The word that holds these values.

    fields   (name, width, signed) for each value

    The first field takes the lowest `width` bits, and each field follows directly after the one
    before it. An unsigned field holds 0 to 2**width - 1. A signed field holds -2**(width - 1) to
    2**(width - 1) - 1, and stores a negative value as value + 2**width (two's complement). A value
    that its field cannot hold raises a ValueError, whose text names the field and no other one.
    Bits after the last field are 0.

    >>> hex(encode([5, -1], [("opcode", 4, False), ("fill", 8, True)]))
    '0xff5'
    """
    word = at = 0
    for value, (name, width, signed) in zip(values, fields, strict=True):
        low = -(1 << (width - 1)) if signed else 0
        if not low <= value < low + (1 << width):
            raise ValueError(f"{name} holds {low} to {low + (1 << width) - 1}, not {value}")
        word |= (value & ((1 << width) - 1)) << at
        at += width
    return word


@exercise("u13.decode", unit=13, points=1, kind="implement", further=True)
def decode(word: int, fields: list[tuple[str, int, bool]]) -> list[int]:
    """The values that stand in a word: the inverse of `encode`.

    fields   (name, width, signed) for each value

    The first field has the lowest `width` bits, and each field follows directly after the one
    before it. Return the value of each field, in order. In a signed field, a number from
    2**(width - 1) on stands for a negative value. A word with a bit set after its last field raises
    a ValueError: it was not made by `encode`.

    >>> decode(0xFF5, [("opcode", 4, False), ("fill", 8, True)])
    [5, -1]
    """
    values = []
    for _, width, signed in fields:
        value = word % (1 << width)
        word >>= width
        values.append(value - (1 << width) if signed and value >> (width - 1) else value)
    if word:
        raise ValueError(f"bits are set after the last field: {word:#x}")
    return values


@exercise("u13.limits", unit=13, points=2, kind="explain")
def limits() -> Rubric:
    """In the table above, `depthwise` takes more than twice its roofline and `expand` 1.4 times, in
    the best tiles that our search finds. For each of the two, say which engine limits it, and
    derive that engine's busy clocks from the shape of the layer. Then say what would have to change
    in the machine (a number of `Chip`, another unit, another wire), and why another tile would not
    help. Write four to six sentences.
    """
    return Rubric(
        criteria="1 point for `depthwise`: the array is busy, 9 pixels of the window x 5 blocks of "
        "32 channels x 3,136 pixels = 141,120 clocks, because the weights stand on a diagonal and "
        "32 of 1,024 cells do useful work; every tile sends the same pixels through. A remedy is a "
        "unit that gives each column operands of its own, such as a vector unit, or wiring that "
        "sums several pixels of the window of one channel in a column. 1 point for `expand`: the "
        "store engine is busy, act takes 5 blocks x 3,136 rows = 15,680 clocks and st 3,136 x 144 "
        "bytes / 16 = 28,224, one after the other, while the roofline counts the port alone; every "
        "tile has the same results. A remedy is an engine of its own for act (with two slots for "
        "results), more sums per clock in act, or a wider port. Half of each point is for the "
        "engine and its clocks, half for a remedy that fits.",
        samples=(
            Sample(2, "In `depthwise`, the array is busy for 141,120 of 142,914 clocks: for each "
                   "of 5 blocks of 32 channels, 3,136 pixels stream through once for each of the 9 "
                   "pixels of the window. Only the diagonal holds weights, so 1 cell in 32 is of "
                   "use, and another tile sends the same pixels through. A vector unit with one "
                   "multiplier per channel and pixel of the window would do it faster. In "
                   "`expand`, store is the bottleneck: 5 * 3,136 clocks of act and 3,136 * 144 / "
                   "16 of st make 43,904, and the two never overlap. With act on an engine of its "
                   "own, the port alone would be the limit, which is what the roofline says; tiles "
                   "change neither the number of sums nor of bytes."),
            Sample(1, "The depthwise layer uses only the diagonal of the array, so 32 of 1,024 "
                   "cells work and the array takes 9 * 5 * 3,136 clocks whatever the tile is. It "
                   "needs a unit that computes channels side by side, without sums across rows. "
                   "`expand` is limited by memory, so the port should be wider."),
            Sample(0, "Both layers have few channels, so the tiles are too small for double "
                   "buffering. With larger SRAMs, larger tiles would fit and the loads would be "
                   "hidden."),
        ),
    )  # fmt: skip
