"""Tokens: which engine has to wait for which, from what the instructions touch.

    lda acts=0 ...                lda acts=0 ... signal=execute
    matmul acts=0 ...      ==>    matmul acts=0 ... wait=load signal=load
    lda acts=0 ...                lda acts=0 ... wait=execute

The program must be right in the order of its text. Then two instructions on different engines need
an order only if both touch the same bytes and one writes. For each memory we keep which
instruction of each engine read and wrote a byte last. A token is a promise about all that its giver
did before, too: so a new one is needed only if the last token that was taken is too old, and the
tokens of two engines are taken in the order in which they are given. It cannot come to a deadlock:
every giver stands before its taker.

What overwrites waits for all readers of the bank, not of the bytes alone: a bank belongs to one
engine at a time, so an early load would stop the array in the middle of its tile. VTA's compiler
leaves the same work to TVM's passes. Next room: `estimate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, SRAMS, WEIGHTS, Chip
from course_lib.accelerator.isa.instruction import ENGINES, Instruction
from course_lib.accelerator.isa.region import Region

GRAIN = 16  # elements that share an entry: neighbours may wait for each other without need


def synchronize(program: Sequence[Instruction], chip: Chip, dram: int) -> list[Instruction]:
    """The same instructions with `wait` and `signal`; those that stood there are replaced. `dram`
    is its size in bytes."""
    touched = _Touched(chip, dram)
    taken = {(a, b): -1 for a in ENGINES for b in ENGINES}  # the giver of the last token
    waits: list[list[str]] = [[] for _ in program]
    signals: list[list[str]] = [[] for _ in program]
    for number, i in enumerate(program):
        reads, writes = i.reads(chip), i.writes(chip)
        for other in ENGINES:
            known = taken[other, i.engine]
            giver = touched.needed(other, reads, writes, known) if other != i.engine else -1
            if giver > known:
                taken[other, i.engine] = giver
                waits[number].append(other)
                signals[giver].append(i.engine)
        touched.note(number, i.engine, reads, writes)
    return [
        replace(i, wait=tuple(w), signal=tuple(s)) if w or s or i.wait or i.signal else i
        for i, w, s in zip(program, waits, signals, strict=True)
    ]


Regions = Sequence[Region]


class _Touched:
    """The last instruction of each engine that read, and that wrote, each grain of a memory."""

    def __init__(self, chip: Chip, dram: int) -> None:
        sizes = {m: chip.size(m) // chip.bank_count(m) for m in (WEIGHTS, ACTS, ACCS)}
        self.banks = {memory: max(1, size // GRAIN) for memory, size in sizes.items()}
        self.sizes = {memory: chip.size(memory) for memory in SRAMS} | {DRAM: dram}
        self.last: dict[tuple[str, str, bool], np.ndarray] = {}
        self.latest: dict[tuple[str, str, bool], int] = {}  # of all grains together

    def needed(self, engine: str, reads: Regions, writes: Regions, known: int) -> int:
        """The last instruction of `engine`, after `known`, that must be done first; or -1."""
        cases = [(region, True) for region in (*reads, *writes)]
        cases += [(region, False) for region in writes]
        found = -1
        for region, wrote in cases:
            key = region.memory, engine, wrote
            if self.latest.get(key, -1) > max(known, found):
                grains = _grains(region) if wrote else self.bank(region)
                found = max(found, int(self.last[key][grains].max()))
        return found

    def bank(self, region: Region) -> slice:
        """The whole banks that a region lies in; of a memory of one bank, the region."""
        grains, bank = _grains(region), self.banks.get(region.memory, 1)
        return slice(grains.start // bank * bank, -(-grains.stop // bank) * bank)

    def note(self, number: int, engine: str, reads: Regions, writes: Regions) -> None:
        for regions, wrote in ((reads, False), (writes, True)):
            for region in regions:
                key = region.memory, engine, wrote
                if key not in self.last:
                    size = -(-self.sizes[region.memory] // GRAIN)
                    self.last[key] = np.full(size, -1, np.int32)
                self.last[key][_grains(region)] = number
                self.latest[key] = number


def _grains(region: Region) -> slice:
    """All between the first element and the last: gaps count, too."""
    return slice(region.start // GRAIN, (region.end - 1) // GRAIN + 1)
