"""The load engine: from DRAM to the chip.

    lda  dram=0 acts=0 h=4 w=4 bytes=8 step=8 line=32 top=1 left=1 signal=execute
         ->  acts[0:200] = a row and a column of zeros, then 4 x 4 pixels of 8 bytes

Next room: `execute.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.chip import ACTS, DRAM, PARAMS, WEIGHTS, Chip
from course_lib.accelerator.isa.addresses import copy, transfer
from course_lib.accelerator.isa.instruction import LOAD, Instruction, bits, count, row
from course_lib.accelerator.isa.region import Region, packed
from course_lib.accelerator.isa.state import State


@row(LOAD)
class Ldw(Instruction):
    """weights[rows, bytes] = dram[rows, bytes]: `pitch` bytes from a row to the next in DRAM, no
    gap in SRAM."""

    dram: int = bits(32)
    weights: int = bits(24)
    rows: int = count(16)
    bytes: int = count(16)
    pitch: int = bits(24)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return (Region(DRAM, self.dram, (self.rows, self.bytes), (self.pitch, 1)),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        return (packed(WEIGHTS, self.weights, self.rows, self.bytes),)

    def run(self, state: State) -> None:
        copy(self, state)

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return transfer(chip, *self.reads(chip))


@row(LOAD)
class Lda(Instruction):
    """acts[top + h + bottom, left + w + right, bytes] = an image of DRAM with a border of `fill`:
    no gap in SRAM. The border costs no time on the port."""

    dram: int = bits(32)
    acts: int = bits(24)
    h: int = count(12)
    w: int = count(12)
    bytes: int = count(16)
    step: int = bits(24)
    line: int = bits(24)
    top: int = bits(4, default=0)
    bottom: int = bits(4, default=0)
    left: int = bits(4, default=0)
    right: int = bits(4, default=0)
    fill: int = bits(8, signed=True, default=0)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        counts = self.h, self.w, self.bytes
        return (Region(DRAM, self.dram, counts, (self.line, self.step, 1)),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        height, width = self.top + self.h + self.bottom, self.left + self.w + self.right
        return (packed(ACTS, self.acts, height, width, self.bytes),)

    def run(self, state: State) -> None:
        image = state.view(self.writes(state.chip)[0])
        source = state.view(self.reads(state.chip)[0])
        if image.shape != source.shape:
            image[...] = self.fill
        image[self.top : self.top + self.h, self.left : self.left + self.w] = source

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return transfer(chip, *self.reads(chip))


@row(LOAD)
class Ldb(Instruction):
    """params[count] = dram: each entry is `cols` int32 biases, then `cols` float32 scales."""

    dram: int = bits(32)
    params: int = bits(12)
    count: int = count(12)

    def reads(self, chip: Chip) -> tuple[Region, ...]:
        return (packed(DRAM, self.dram, self.count * chip.cols * 8),)

    def writes(self, chip: Chip) -> tuple[Region, ...]:
        entry = 2 * chip.cols
        return (packed(PARAMS, self.params * entry, self.count * entry),)

    def run(self, state: State) -> None:
        source = state.view(self.reads(state.chip)[0])
        state.view(self.writes(state.chip)[0])[...] = np.frombuffer(source.tobytes(), "<i4")

    def clocks(self, chip: Chip) -> tuple[int, int]:
        return transfer(chip, *self.reads(chip))
