"""What a program can see: the memories, and the weights in the array (the architectural state).

    state = State(chip, dram)
    state.view(Region("acts", 0, (2, 3), (16, 1)))   ->   int8[2, 3], which can be written

Next room: `instruction.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, PARAMS, WEIGHTS, Chip
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.region import Region

UNITS = {ACCS: "words", PARAMS: "words"}


@dataclass(eq=False)
class State:
    """Everything that instructions read and write. `dram` is a flat int8 array, changed in place.

    memories  name -> flat array: int8 bytes; int32 words of accs (a row is `cols` of them) and of
              params (an entry is `cols` biases, then `cols` scales, which are float32 bits)
    held      the weights in the cells, float32[rows, cols]: int8 values, ready for a product
    overflows how many sums of int32 have wrapped
    """

    chip: Chip
    dram: np.ndarray
    memories: dict[str, np.ndarray] = field(init=False)
    held: np.ndarray = field(init=False)
    overflows: int = 0

    def __post_init__(self) -> None:
        if self.dram.dtype != np.int8 or self.dram.ndim != 1 or not self.dram.flags.c_contiguous:
            given = f"{self.dram.dtype}{list(self.dram.shape)}"
            raise ValueError(f"DRAM is a flat, contiguous int8 array, got {given}")
        chip = self.chip
        self.held = np.zeros((chip.rows, chip.cols), np.float32)
        self.memories = {
            DRAM: self.dram,
            WEIGHTS: np.zeros(chip.weights, np.int8),
            ACTS: np.zeros(chip.acts, np.int8),
            ACCS: np.zeros(chip.size(ACCS), np.int32),
            PARAMS: np.zeros(chip.size(PARAMS), np.int32),
        }

    def view(self, region: Region) -> np.ndarray:
        """The elements of a region; a Fault if any of them is not there."""
        array = self.memories[region.memory]
        check_bounds(region, len(array))
        return region.view(array)

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Two int32 arrays added in 32 bits (shapes broadcast); sums that wrap are counted."""
        total = a + b
        self.overflows += int(((a ^ total) & (b ^ total) < 0).sum())
        return total


def check_bounds(region: Region, size: int) -> None:
    """A Fault if a region does not lie inside a memory of `size` elements."""
    if region.end > size:
        unit = UNITS.get(region.memory, "bytes")
        raise Fault(
            "out of bounds",
            f"{region.memory} holds {size:,} {unit}, "
            f"but {unit} {region.start:,} to {region.end - 1:,} are touched",
            "the address and the sizes of this instruction",
        )
