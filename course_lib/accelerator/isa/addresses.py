"""What several instructions have in common: pixels, rows of accumulators, bursts on the port.

    pixels(matmul, 8)   ->   Region("acts", 0, (h, w, 8), (line, step, 1))

Next room: `load.py`.
"""

from __future__ import annotations

from typing import Any

from course_lib.accelerator.chip import ACCS, ACTS, Chip
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.region import Region
from course_lib.accelerator.isa.state import State


def pixels(i: Any, channels: int) -> Region:
    """`channels` bytes at each pixel that the fields acts, h, w, step and line of `i` describe."""
    return Region(ACTS, i.acts, (i.h, i.w, channels), (i.line, i.step, 1))


def sums(i: Any, chip: Chip, times: int = 1) -> Region:
    """The rows of accumulators that belong to the h * w pixels of `i`, n sums each; if `times` is
    0, none of them."""
    return Region(ACCS, i.accs * chip.cols, (i.h * i.w * times, i.n), (chip.cols, 1))


def transfer(chip: Chip, region: Region) -> tuple[int, int]:
    """Clocks on the port to DRAM, and the latency behind them. What lies side by side is one
    burst; each burst takes whole clocks."""
    burst, bursts, gapless = 1, 1, True
    for many, stride in zip(reversed(region.counts), reversed(region.strides), strict=True):
        gapless = gapless & ((stride == burst) | (many == 1))
        burst, bursts = burst * many**gapless, bursts * many ** (1 - gapless)
    return bursts * -(-burst // chip.dma_bytes), chip.dma_latency


def copy(i: Instruction, state: State) -> None:
    """The first region that `i` reads goes to the first that it writes."""
    source = state.view(i.reads(state.chip)[0])
    state.view(i.writes(state.chip)[0])[...] = source
