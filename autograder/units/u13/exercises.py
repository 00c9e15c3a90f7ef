"""Unit 13, A custom backend: its exercises.

What the compiler runs stands in `course_lib/accelerator/compile`: `chip.products`, `chip.slots`,
`chip.tile`, `chip.dataflow`. The bodies of the exercises here are our answers and never ship. Next
room: lessons/u13/words.py.
"""

from __future__ import annotations

import numpy as np

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
    race = {0: "", 1: "signal=execute", 4: "signal=load,store", 6: "wait=execute signal=execute"}
    return {"stuck": {4: "signal=load,store", 9: "wait=load,store signal=store"}, "race": race}


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


@exercise("u13.kept", unit=13, points=3, kind="budget", further=True)
def kept() -> str:
    """The text of a program that keeps the result between two layers on the chip.

    It computes what DETOUR computes, but with ReLU6 between the layers: the bytes there go from
    0 to the one for 6.0, and each stands for 0.05 times its value. The result is at byte 224 of
    DRAM, and no other byte of DRAM changes. All this holds for any values in DRAM and for any
    latency of the DMA. The program never deadlocks, the hazard check finds no race in it, and every
    token that is given is taken. Your points depend on its clocks on the teaching chip. At most 100
    earn all points, and each clock above that costs 1 %, down to a quarter.
    """
    return """
        ldw dram=64 weights=0 rows=4 bytes=4 pitch=4 signal=execute
        lda dram=0 acts=0 h=1 w=16 bytes=4 step=4 line=64 signal=execute
        ldb dram=96 params=0 count=2 signal=store
        ldw dram=80 weights=512 rows=4 bytes=4 pitch=4 signal=execute
        preload weights=0 k=4 n=4 pitch=4 wait=load
        matmul acts=0 h=1 w=8 step=4 line=64 k=4 n=4 accs=0 wait=load signal=store
        act accs=0 n=4 params=0 acts=256 h=1 w=8 step=4 line=64 low=0 high=120 \
            wait=load,execute signal=execute
        matmul acts=32 h=1 w=8 step=4 line=64 k=4 n=4 accs=32 signal=store
        act accs=32 n=4 params=0 acts=512 h=1 w=8 step=4 line=64 low=0 high=120 \
            wait=execute signal=execute
        preload weights=512 k=4 n=4 pitch=4 wait=load
        matmul acts=256 h=1 w=8 step=4 line=64 k=4 n=4 accs=0 wait=store signal=store
        act accs=0 n=4 params=1 acts=768 h=1 w=8 step=4 line=64 wait=execute
        st acts=768 dram=224 h=1 w=8 bytes=4 step=4 line=64
        matmul acts=512 h=1 w=8 step=4 line=64 k=4 n=4 accs=32 wait=store signal=store
        act accs=32 n=4 params=1 acts=800 h=1 w=8 step=4 line=64 wait=execute
        st acts=800 dram=256 h=1 w=8 bytes=4 step=4 line=64
        halt
    """


@exercise("u13.scales", unit=13, points=2, kind="implement", further=True)
def scales(
    x: float, weights: np.ndarray, y: float, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """What `act` needs to finish a layer with ReLU6: biases, scales, and the two limits.

    x, y      what a byte with the value 1 stands for, in the layer's input and in its result
    weights   [channels], the same for the weights of each output channel
    bias      [channels], the biases as real numbers

    Every byte stands for its value times such a number. `act` turns the sum of a channel into
    round((sum + bias) * scale), and then limits it to low and high. Return (biases, scales, low,
    high). The biases are int32, rounded to the nearest number, and the scales float32. The limits
    are 0.0 and 6.0 as bytes of the result, rounded, and at most 127.

    >>> scales(0.5, np.array([0.25]), 0.0625, np.array([1.0]))
    (array([8], dtype=int32), array([2.], dtype=float32), 0, 96)
    """
    one = x * weights
    biases = np.rint(bias / one).astype(np.int32)
    return biases, (one / y).astype(np.float32), 0, min(127, round(6 / y))


@exercise("u13.limits", unit=13, points=2, kind="explain")
def limits() -> Rubric:
    """In the table above, `depthwise` takes more than twice its roofline and `expand` 1.4 times.
    For each of the two, say which engine limits it, and derive that engine's busy clocks from the
    shape of the layer. Then say what would have to change in the machine (a number of `Chip`,
    another unit, another wire), and why another tile would not help. Write four to six sentences.
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
