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

Reading path of the chip, 10 of 12; next: `accelerator/core/simulate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import ACCS, ACTS, DRAM, SRAMS, WEIGHTS, Chip
from course_lib.accelerator.isa.instruction import ENGINES, Instruction, columns
from course_lib.accelerator.isa.region import Region

BANKED = (WEIGHTS, ACTS, ACCS)
GRAIN = 16  # elements that share an entry: neighbours may wait for each other without need


def synchronize(program: Sequence[Instruction], chip: Chip, dram: int) -> list[Instruction]:
    """The same instructions with `wait` and `signal`; those that stood there are replaced. `dram`
    is its size in bytes."""
    touched = _Touched(chip, dram)
    taken = {(a, b): -1 for a in ENGINES for b in ENGINES}  # the giver of the last token
    waits: list[list[str]] = [[] for _ in program]
    signals: list[list[str]] = [[] for _ in program]
    for number, (i, (before, marks)) in enumerate(
        zip(program, _stretches(program, chip), strict=True)
    ):
        for other in ENGINES:
            known = taken[other, i.engine]
            giver = touched.last_of(other, before, known) if other != i.engine else -1
            if giver > known:
                taken[other, i.engine] = giver
                waits[number].append(other)
                signals[giver].append(i.engine)
        touched.note(number, i.engine, marks)
    return [
        i.with_tokens(tuple(w), tuple(s)) if w or s or i.wait or i.signal else i
        for i, w, s in zip(program, waits, signals, strict=True)
    ]


# A memory, "were they written?" (else read), the first of some grains of it, the one behind them
Stretch = tuple[str, bool, int, int]
Stretches = tuple[Stretch, ...]


def _stretches(program: Sequence[Instruction], chip: Chip) -> list[tuple[Stretches, Stretches]]:
    """For each instruction whose writers and readers must be done before it, and what it reads and
    writes itself. All instructions of one kind are worked out at once, in numpy."""
    kinds: dict[type[Instruction], list[int]] = {}
    for number, i in enumerate(program):
        kinds.setdefault(type(i), []).append(number)
    stretches: list[tuple[Stretches, Stretches]] = [((), ())] * len(program)
    for numbers in kinds.values():
        table, count = columns([program[n] for n in numbers]), len(numbers)
        reads, writes = table.reads(chip), table.writes(chip)
        written = [_grains(region, True, count) for region in writes]
        before = [_grains(region, True, count) for region in reads] + written
        before += [_grains(region, False, count, _bank(region, chip)) for region in writes]
        marks = [_grains(region, False, count) for region in reads] + written
        if marks:
            pairs = zip(zip(*before, strict=True), zip(*marks, strict=True), strict=True)
            for number, pair in zip(numbers, pairs, strict=True):
                stretches[number] = pair
    return stretches


def _grains(region: Region, wrote: bool, count: int, bank: int = 1) -> list[Stretch]:
    """All between the first element and the last, gaps too, for each of `count` instructions;
    rounded to whole banks of so many grains."""
    size = GRAIN * bank
    starts = np.broadcast_to(region.start // size * bank, count)
    stops = np.broadcast_to(((region.end - 1) // size + 1) * bank, count)
    return [
        (region.memory, wrote, *ends) for ends in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


def _bank(region: Region, chip: Chip) -> int:
    """How many grains a bank of this memory has; 1 where the whole memory is one bank."""
    memory = region.memory
    return max(1, chip.size(memory) // chip.bank_count(memory) // GRAIN) if memory in BANKED else 1


class _Touched:
    """The last instruction of each engine that read, and that wrote, each grain of a memory."""

    def __init__(self, chip: Chip, dram: int) -> None:
        self.sizes = {memory: chip.size(memory) for memory in SRAMS} | {DRAM: dram}
        self.last: dict[tuple[str, str, bool], np.ndarray] = {}
        self.latest: dict[tuple[str, str, bool], int] = {}  # of all grains together

    def last_of(self, engine: str, before: Stretches, known: int) -> int:
        """The last instruction of `engine` that touched one of these; at least `known`."""
        for memory, wrote, start, stop in before:
            key = memory, engine, wrote
            if self.latest.get(key, -1) > known:
                known = max(known, int(self.last[key][start:stop].max()))
        return known

    def note(self, number: int, engine: str, marks: Stretches) -> None:
        for memory, wrote, start, stop in marks:
            key = memory, engine, wrote
            if key not in self.last:
                self.last[key] = np.full(-(-self.sizes[memory] // GRAIN), -1, np.int32)
            self.last[key][start:stop] = number
            self.latest[key] = number
