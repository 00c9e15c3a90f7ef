"""Races between engines: two touch the same bytes, one writes, and no token orders them.

    hazard: instruction 5 reads 64 bytes of acts that instruction 4 writes, and no token ...

Whether bytes are right by luck of the timing is not the question. A token says: whoever takes it
starts after its giver was done. So each instruction knows, for each engine, the last instruction
that was surely done before it (a vector clock: Fidge and Mattern, 1988; race detectors such as
ThreadSanitizer do the same with threads). For every byte of an SRAM we keep who wrote and who read
it last, in the order of the program, and compare. DRAM is large: there GRAIN bytes share an entry,
and where two instructions share one, their own addresses are compared.

An instruction can also be its own hazard, if its strides let it write a byte twice. Next room:
`simulate.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.accelerator.chip import DRAM, SRAMS, Chip
from course_lib.accelerator.core.clockwork import Times
from course_lib.accelerator.core.needs import Needs
from course_lib.accelerator.isa.check import where
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.region import Region
from course_lib.accelerator.isa.state import UNITS

Clock = tuple[int, int, int]  # for each engine: so many instructions of the program, at most
Key = tuple[str, str, int]  # memory, action, engine
READ, WRITE = "reads", "writes"
GRAIN = 16  # bytes of DRAM that share an entry


def check_hazards(
    program: Sequence[Instruction], needs: Needs, times: Times, chip: Chip, dram: int
) -> None:
    """Raise a Fault for the first instruction that another engine's tokens do not order behind
    what it depends on, that reads what nothing has written yet, or that writes an element twice.
    `dram` in bytes."""
    known = vector_clocks(needs, times)
    shadow = _Shadow(chip, dram)
    for number, i in enumerate(program[:-1]):
        engine, reads, writes = needs.engine[number], i.reads(chip), i.writes(chip)
        for region in writes:
            if _covers_itself(region):
                raise _twice(program, number, region)
        touched = [*((READ, region) for region in reads), *((WRITE, region) for region in writes)]
        for action, region in touched:
            conflict = shadow.conflict(engine, known[number], action, region)
            if conflict:
                raise _hazard(program, number, action, region, *conflict, times.givers[number])
        for action, region in touched:
            shadow.note(number, engine, action, region)


def vector_clocks(needs: Needs, times: Times) -> list[Clock]:
    """For each instruction and each engine: every instruction of that engine with a number below
    this one was done when the instruction started."""
    before: list[Clock] = [(0, 0, 0)] * len(needs.engine)
    last = [(0, 0, 0)] * 3  # what the last instruction of each engine knew
    for number in times.order:
        engine = needs.engine[number]
        known = list(last[engine])
        for giver in times.givers[number]:
            known = [max(pair) for pair in zip(known, before[giver], strict=True)]
            known[needs.engine[giver]] = max(known[needs.engine[giver]], giver + 1)
        last[engine] = before[number] = (known[0], known[1], known[2])
    return before


class _Shadow:
    """For each memory, engine and action: for each byte (of DRAM: GRAIN bytes) 1 + the last
    instruction that did it."""

    def __init__(self, chip: Chip, dram: int) -> None:
        self.sizes = {memory: chip.size(memory) for memory in SRAMS} | {DRAM: -(-dram // GRAIN)}
        self.last: dict[Key, np.ndarray] = {}
        self.latest: dict[Key, int] = {}  # of all bytes together
        self.moved: dict[Key, list[tuple[int, Region]]] = {}  # the same of DRAM, in order
        self.written = {m: np.zeros(self.sizes[m], bool) for m in SRAMS}

    def conflict(
        self, engine: int, known: Clock, action: str, region: Region
    ) -> tuple[int, str] | None:
        """Another engine's instruction that touches the region and is not known to be done; or -1
        if the region is read and nothing has written it."""
        for other in (0, 1, 2):
            for theirs in (WRITE, READ) if action == WRITE else (WRITE,):
                key = region.memory, theirs, other
                if other == engine or self.latest.get(key, 0) <= known[other]:
                    continue
                last = int(self.entries(key, region).max(initial=0))
                if last > known[other] and region.memory == DRAM:
                    last = self.exact(key, region, known[other])
                if last > known[other]:
                    return last - 1, theirs
        written = self.written.get(region.memory)
        if action == READ and written is not None and not region.view(written).all():
            return -1, WRITE
        return None

    def entries(self, key: Key, region: Region) -> np.ndarray:
        if region.memory == DRAM:
            return self.last[key][region.start // GRAIN : (region.end - 1) // GRAIN + 1]
        return region.view(self.last[key])

    def exact(self, key: Key, region: Region, known: int) -> int:
        """1 + the last instruction, after those known to be done, that shares a byte with the
        region; else 0."""
        for last, other in reversed(self.moved[key]):
            if last <= known:
                break
            if _overlap(region, other):
                return last
        return 0

    def note(self, number: int, engine: int, action: str, region: Region) -> None:
        key = region.memory, action, engine
        if key not in self.last:
            self.last[key] = np.zeros(self.sizes[region.memory], np.int32)
        self.entries(key, region)[...] = number + 1
        self.latest[key] = number + 1
        if region.memory == DRAM:
            self.moved.setdefault(key, []).append((number + 1, region))
        elif action == WRITE:
            region.view(self.written[region.memory])[...] = True


def _covers_itself(region: Region) -> bool:
    """Do two elements of a region lie at one address?"""
    reach = 0  # how far the elements of the shorter strides go
    for stride, count in sorted(zip(region.strides, region.counts, strict=True)):
        if count > 1 and stride <= reach:  # too short, or rows that interlock: count the addresses
            all_here = region._replace(start=0).view(np.arange(region.end - region.start))
            return len(np.unique(all_here)) < all_here.size
        reach += (count - 1) * stride
    return False


def _overlap(one: Region, other: Region) -> bool:
    """Have two regions of a memory an element in common?"""
    low, end = min(one.start, other.start), max(one.end, other.end)
    if max(one.start, other.start) >= min(one.end, other.end):
        return False
    touched = np.zeros(end - low, bool)
    one._replace(start=one.start - low).view(touched)[...] = True
    return bool(other._replace(start=other.start - low).view(touched).any())


def _twice(program: Sequence[Instruction], number: int, region: Region) -> Fault:
    what = f"instruction {number} writes {_place(region)}, some of them twice"
    look = "its strides (step, line, pitch), which are shorter than what lies between them"
    return Fault("hazard", what, look, *where(number, program[number]))


def _place(region: Region) -> str:
    unit = UNITS.get(region.memory, "bytes")
    return f"{unit} {region.start:,} to {region.end - 1:,} of {region.memory}"


def _hazard(
    program: Sequence[Instruction],
    number: int,
    action: str,
    region: Region,
    other: int,
    theirs: str,
    givers: Sequence[int],
) -> Fault:
    place, i = _place(region), program[number]
    if other < 0:
        look = "the load, the matmul or the act that should have written them"
        what = f"instruction {number} {action} {place}, which nothing has written yet"
        return Fault("hazard", what, look, *where(number, i))
    them = program[other]
    kind = {(READ, WRITE): "read before write", (WRITE, READ): "overwritten in use"}
    name = kind.get((action, theirs), "two writes")
    what = (
        f"{name}: instruction {number} {action} {place}, which instruction {other} {theirs}, "
        "and no token says that it is done"
    )
    look = f"signal={i.engine} in {them.name} {other} or one behind it, and wait={them.engine} here"
    for giver in givers:
        if program[giver].engine == them.engine:
            look = f"the token that {i.name} {number} takes from {them.engine} is that of {giver}"
            look += f", given before {other} is done; tokens are taken in the order they are given"
    return Fault("hazard", what, look, *where(number, i), *where(other, them))
