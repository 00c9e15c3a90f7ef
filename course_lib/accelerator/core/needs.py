"""What each instruction needs of the chip: its engine, clocks, tokens, banks.

    found = find_needs(program, npu)
    found.busy[7], found.tail[7], found.banks[7]     ->   64, 62, 0b100000100000

A bank belongs to one engine at a time, from the start of an instruction until it is done; within
an engine it has as many ports as its instructions need. A real SRAM is shared clock by clock. So
our banks are an interlock that real chips lack: whoever starts second waits until the first is
done. A program without its tokens often computes the right bytes, for it goes wrong only where the
reader starts first. It is the hazard check (`hazards.py`) that finds every missing token.

Bank 0 is no bank but the port to DRAM. All instructions of one kind are worked out at once, in
numpy. Next room: `clockwork.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.accelerator.chip import DRAM, SRAMS, Chip
from course_lib.accelerator.isa.check import check, where
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.region import Region
from course_lib.accelerator.isa.state import check_bounds

PORT = 1  # the bit of the port in a set of banks
LOADS, STORES, PRELOAD, MATMUL, MATMUL_OS = range(5)  # units that wait for themselves
UNITS = {"preload": PRELOAD, "matmul": MATMUL, "matmul_os": MATMUL_OS}
FREE = ("dma", "weights", "drain", "output", "banks", "fetch")


@dataclass(frozen=True, eq=False)
class Needs:
    """A list each, by number of instruction. engine, wait and signal are places in ENGINES; busy
    and tail are clocks; banks are the bits of a number, named by `bank_names`."""

    engine: list[int]
    unit: list[int]
    busy: list[int]
    tail: list[int]
    wait: list[tuple[int, ...]]
    signal: list[tuple[int, ...]]
    banks: list[int]


def find_needs(
    program: Sequence[Instruction], chip: Chip, dram: int | None = None, free: Sequence[str] = ()
) -> Needs:
    """Of every instruction but `halt`. A Fault if an address leaves its memory; that of DRAM is
    checked if its size, `dram` bytes, is known. What is `free` takes no clocks (see FREE)."""
    engine, unit, busy, tail, banks = np.zeros((5, max(0, len(program) - 1)), np.int64)
    for numbers, table in check(program, chip):
        regions = *table.reads(chip), *table.writes(chip)
        _check_all(program, numbers, chip, regions, dram)
        engine[numbers] = ENGINES.index(table.engine)
        unit[numbers] = UNITS.get(table.name, STORES if table.engine == "store" else LOADS)
        busy[numbers], tail[numbers] = table.clocks(chip)
        for region in regions:
            banks[numbers] |= _banks(region, chip)
    _set_free(free, unit, busy, tail, banks)
    tokens: dict[tuple[str, ...], tuple[int, ...]] = {}
    for i in program:
        for names in (i.wait, i.signal):
            if names not in tokens:
                tokens[names] = tuple(ENGINES.index(e) for e in names)
    wait = [tokens[i.wait] for i in program]
    signal = [tokens[i.signal] for i in program]
    return Needs(
        engine.tolist(), unit.tolist(), busy.tolist(), tail.tolist(),
        wait[:-1], signal[:-1], banks.tolist(),
    )  # fmt: skip


def bank_names(chip: Chip) -> list[str]:
    """The name of each bank by its bit."""
    names = ["DMA port"]
    for memory in SRAMS:
        names += [f"{memory} bank {b}" for b in range(chip.bank_count(memory))]
    return names


def _banks(region: Region, chip: Chip) -> Any:
    """The bits of the banks that a region lies in; its fields are arrays."""
    if region.memory == DRAM:
        return PORT
    bit = 1 + sum(chip.bank_count(m) for m in SRAMS[: SRAMS.index(region.memory)])
    size = chip.size(region.memory) // chip.bank_count(region.memory)
    low, high = bit + region.start // size, bit + (region.end - 1) // size
    return (np.int64(2) << high) - (np.int64(1) << low)


def _check_all(
    program: Sequence[Instruction],
    numbers: Sequence[int],
    chip: Chip,
    regions: Sequence[Region],
    dram: int | None,
) -> None:
    """A Fault for the first instruction of a kind that leaves a memory."""
    sizes = {memory: chip.size(memory) for memory in SRAMS} | {
        DRAM: 1 << 62 if dram is None else dram
    }
    for place, region in enumerate(regions):
        outside = np.atleast_1d(region.end > sizes[region.memory])
        if outside.any():
            number = numbers[int(outside.argmax())]
            i = program[number]
            try:
                check_bounds((*i.reads(chip), *i.writes(chip))[place], sizes[region.memory])
            except Fault as fault:
                raise fault.at(*where(number, i)) from None


def _set_free(
    free: Sequence[str], unit: np.ndarray, busy: np.ndarray, tail: np.ndarray, banks: np.ndarray
) -> None:
    """Change the clocks to those of a chip on which some things take no time."""
    moves = banks & PORT > 0
    if "output" in free:
        busy[(unit == STORES) & ~moves] = 0
    if "weights" in free:
        busy[unit == PRELOAD] = 0
    if "drain" in free:
        tail[unit >= MATMUL] = 0
    if "dma" in free:
        busy[moves] = tail[moves] = 0
        banks &= ~PORT
    if "banks" in free:
        banks &= PORT
