"""What a run costs in energy, by a published table.

    energy(counters(run), run.chip)   ->   {"multiply-accumulate": 2.4e5, "dram": 8.1e6, ...}   (pJ)

Source: Horowitz, "Computing's energy problem (and what we can do about it)", ISSCC 2014, for 45 nm
and 0.9 V: an operation, and an access of 64 bits to memories of three sizes. An SRAM of another
size stands on the line between them, both axes logarithmic, with the size of one bank; one below
8 KiB costs what 8 KiB cost. DRAM is given as 1.3 to 2.6 nJ and counted as 1.95.

What is not in the table is not counted: registers of cells and wires between them, so that all
dataflows cost the same inside the array (`array/eyeriss.py` compares them there), fetching
instructions, comparisons of `vmax` and limits, clock, control, leakage. So this compares programs
and does not predict a chip. Next room: `lanes.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.accelerator.chip import DRAM, SRAMS, Chip
from course_lib.accelerator.trace.counters import WORD, Counters

PICOJOULE = {
    "int8 multiply": 0.2,
    "int32 add": 0.1,
    "float32 multiply": 3.7,
    "float32 add": 0.9,
    "dram 64 bits": 1950.0,
}
LEFT_OUT = "without registers and wires of the array, fetching, clock, leakage"
SRAM_64_BITS = {8 * 1024: 10.0, 32 * 1024: 20.0, 1024 * 1024: 100.0}  # bytes -> pJ


def energy(counted: Counters, chip: Chip) -> dict[str, float]:
    """pJ by what used it. A product with a zero costs what others cost."""
    mac = PICOJOULE["int8 multiply"] + PICOJOULE["int32 add"]
    rescale = PICOJOULE["int32 add"] + PICOJOULE["float32 multiply"]
    both = 2 * PICOJOULE["float32 multiply"] + PICOJOULE["float32 add"]
    used = {
        "multiply-accumulate": counted.issued * mac,
        "output pipeline": counted.rescaled * rescale + counted.summed * both,
    }
    for memory in SRAMS:
        bank = chip.size(memory) * WORD.get(memory, 1) // chip.bank_count(memory)
        moved = counted.read[memory] + counted.written[memory]
        used[memory] = moved / 8 * sram_access(bank)
    return used | {DRAM: counted.dram / 8 * PICOJOULE["dram 64 bits"]}


def sram_access(size: int) -> float:
    """pJ for 64 bits of an SRAM of `size` bytes; outside the table, its ends."""
    sizes, cost = zip(*SRAM_64_BITS.items(), strict=True)
    return float(np.exp(np.interp(np.log(size), np.log(sizes), np.log(cost))))
