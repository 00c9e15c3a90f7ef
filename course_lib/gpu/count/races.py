"""Races: two threads touch the same bytes, one of them writes, and nothing says who is first.

    races = Races()
    launch(entry, grid, block, arguments, watches=[races])
    for race in races.found: print(race)

Order comes from a barrier (within a block), from `bar.warp.sync` (within a warp), and from atomics:
a thread that did one after its access, and another one that did one before it touches the same
bytes, may have told each other. That is taken on trust, so a race that hides behind an atomic is
not seen. Of the threads that read a byte two are kept, which is enough to find a writer that is
neither. Next room: `cards.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.simt.frame import Array, Frame, Warps
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, SHARED, Memory
from course_lib.gpu.simt.wave import Shape, Watch, Wave, told

MOST = 1024  # threads of a block: their numbers are block * MOST + thread + 1
SHOWN = 20  # pairs of lines that are told


@dataclass(frozen=True)
class Race:
    """The first time that two lines of a kernel met at the same bytes."""

    lines: tuple[Instruction, Instruction]
    threads: tuple[str, str]
    where: str
    address: int

    def __str__(self) -> str:
        (a, b), (s, t) = self.lines, self.threads
        return (
            f"a race for {self.where} (address {self.address:#x}):\n"
            f"  line {a.line}: `{a}`, by {s}\n  line {b.line}: `{b}`, by {t}"
        )


class _Seen:
    """Who touched each grain of a memory last, as a table: thread, epoch, epoch of its warp, when,
    by which instruction."""

    def __init__(self, size: int) -> None:
        self.columns = [np.zeros(size, np.int32) for _ in range(5)]

    def get(self, grains: Array) -> tuple[Array, ...]:
        return tuple(column[grains] for column in self.columns)

    def put(self, grains: Array, values: tuple[Array, ...]) -> None:
        for column, value in zip(self.columns, values, strict=True):
            column[grains] = value


class Races(Watch):
    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        self.kernel, self.shape = kernel, shape
        self.found: list[Race] = []
        self.pairs: set[tuple[int, int, str]] = set()
        self.epoch = self.when = 1
        self.wave: Warps | None = None
        self.shift = _grain(kernel).bit_length() - 1
        self.seen = {GLOBAL: self._tables(memories[GLOBAL])}
        self.by_thread = np.zeros(shape.blocks * MOST + 1, np.int32)  # the last atomic of each
        self.by_block = np.zeros(shape.blocks, np.int32)
        self.warp_epoch = np.zeros(0, np.int32)

    def _tables(self, memory: Memory) -> dict[str, _Seen]:
        size = (len(memory.bytes) >> self.shift) + 1
        return {what: _Seen(size) for what in ("write", "atomic", "read", "other")}

    def piece(self, frame: Frame, number: int) -> None:
        if frame.wave is not self.wave:
            self.wave = frame.wave
            self.epoch += 1
            self.warp_epoch = np.zeros(frame.wave.count, np.int32)
            self.seen[SHARED] = self._tables(frame.wave.memory(SHARED))

    def barrier(self, wave: Wave) -> None:
        self.epoch += 1

    def warp_barrier(self, frame: Frame) -> None:
        self.warp_epoch[frame.warps] += 1

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        self.when += 1
        takes = np.ones(frame.shape, bool) if lanes is None else np.broadcast_to(lanes, frame.shape)
        wave = frame.wave
        block = wave.block_numbers[wave.block_of[frame.warps]]
        thread = (block * MOST + wave.thread[:, frame.warps] + 1)[takes].astype(np.int32)
        warp_epoch = np.broadcast_to(self.warp_epoch[frame.warps], frame.shape)[takes]
        grain = np.broadcast_to(place >> self.shift, frame.shape)[takes]
        for k in range(max(1, nbytes >> self.shift)):
            now = _Now(grain + k, thread, warp_epoch, number, space)
            (self._read if kind == "load" else self._write)(now, kind == "atomic")
        if kind == "atomic":
            self.by_thread[thread] = self.when
            self.by_block[(thread - 1) // MOST] = self.when

    def _read(self, now: _Now, _: bool) -> None:
        seen = self.seen[now.space]
        self._compare(now, seen["write"])
        self._compare(now, seen["atomic"])
        fresh = self._values(now)
        there = seen["read"].get(now.grains)
        other = (there[0] != 0) & (there[0] != now.threads) & ~self._in_order(now, there)
        seen["other"].put(now.grains[other], tuple(v[other] for v in fresh))
        seen["read"].put(now.grains[~other], tuple(v[~other] for v in fresh))
        lost = ~other & (seen["read"].get(now.grains)[0] != now.threads)  # several read it at once
        seen["other"].put(now.grains[lost], tuple(v[lost] for v in fresh))

    def _write(self, now: _Now, atomic: bool) -> None:
        seen = self.seen[now.space]
        kinds = ("write", "read", "other") if atomic else ("write", "atomic", "read", "other")
        for kind in kinds:
            self._compare(now, seen[kind])
        mine = seen["atomic" if atomic else "write"]
        mine.put(now.grains, self._values(now))
        if not atomic:
            self._compare(now, mine)  # several wrote it at once

    def _values(self, now: _Now) -> tuple[Array, ...]:
        count = len(now.grains)
        epoch, when, number = (
            np.full(count, value, np.int32) for value in (self.epoch, self.when, now.number)
        )
        return now.threads, epoch, now.warp_epochs, when, number

    def _compare(self, now: _Now, seen: _Seen) -> None:
        there = seen.get(now.grains)
        raced = (there[0] != 0) & (there[0] != now.threads)
        if not raced.any():
            return
        raced &= ~self._in_order(now, there)
        for at in np.flatnonzero(raced)[:SHOWN]:
            self._tell(now, int(at), int(there[0][at]), int(there[4][at]))

    def _in_order(self, now: _Now, there: tuple[Array, ...]) -> Array:
        """Did something come between what was there and now?"""
        thread, epoch, warp_epoch, when, _ = there
        same_block = (thread - 1) // MOST == (now.threads - 1) // MOST
        same_warp = same_block & ((thread - 1) // 32 == (now.threads - 1) // 32)
        by_barrier = same_block & (epoch != self.epoch)
        by_warp = same_warp & (warp_epoch != now.warp_epochs)
        alone = (self.by_thread[thread] > when) & (self.by_thread[now.threads] > when)
        blocks = np.maximum(thread - 1, 0) // MOST, (now.threads - 1) // MOST
        together = (self.by_block[blocks[0]] > when) & (self.by_block[blocks[1]] > when)
        return by_barrier | by_warp | np.where(same_block, alone, together)

    def _tell(self, now: _Now, at: int, thread: int, number: int) -> None:
        pair = (min(number, now.number), max(number, now.number), now.space)
        if pair in self.pairs or len(self.found) >= SHOWN:
            return
        self.pairs.add(pair)
        place = int(now.grains[at]) << self.shift
        assert self.wave is not None
        memory = self.wave.memory(now.space)
        address = place + memory.base
        where = memory.told(address)
        if now.space == SHARED:
            address %= self.wave.shared_stride
        text = self.kernel.entry.instructions
        threads = self._named(thread), self._named(int(now.threads[at]))
        self.found.append(Race((text[number], text[now.number]), threads, where, address))

    def _named(self, thread: int) -> str:
        block, number = divmod(thread - 1, MOST)
        x, y, _ = self.shape.block
        place = number % x, number // x % y, number // (x * y)
        gx, gy, _ = self.shape.grid
        position = block % gx, block // gx % gy, block // (gx * gy)
        return f"thread {told(place)} of block {told(position)}"


@dataclass(frozen=True)
class _Now:
    """An access by several threads: the grains, and who they are."""

    grains: Array
    threads: Array
    warp_epochs: Array
    number: int
    space: str


def _grain(kernel: Kernel) -> int:
    """The size of the smallest access, at most 4 bytes: two threads may write halves of a word."""
    sizes = [i.types[-1].nbytes for i in kernel.entry.instructions
             if i.name in ("ld", "st", "atom", "red") and i.types]  # fmt: skip
    return min([4, *sizes])
