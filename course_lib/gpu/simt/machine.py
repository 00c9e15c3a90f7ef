"""A SIMT machine: a grid of blocks, warps of 32 threads that share a place in the program.

    run = launch(module.entry("copy"), grid=(4,), block=(256,), arguments=[x, y, np.int32(1024)])

All warps that stand at the same place do the next piece in one go, so that each instruction is one
operation of numpy for all their lanes. Where the lanes of a warp part, one side goes first, with
the other one on a stack, until both are where they meet (`ptx/flow.py`). Which warps go first is
free, as on a card, and changes no result of a right program: `order` draws one warp at a time.

Next room: `../count/lines.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.gpu.ptx.flow import ENDS, is_barrier
from course_lib.gpu.ptx.parts import Entry, Instruction
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, GLOBAL_BASE, PARAM, Memory
from course_lib.gpu.simt.stack import Stack
from course_lib.gpu.simt.steps import guard_of
from course_lib.gpu.simt.wave import Shape, Size, Watch, Wave

THREADS = 1 << 14  # of a wave: its registers stay in a processor's cache
MOST_THREADS, WAITING = 1024, "a barrier that not all threads of its warp come to"


@dataclass(frozen=True)
class Empty:
    """An argument: so many bytes of global memory that nothing has been written to."""

    nbytes: int


@dataclass(frozen=True)
class Run:
    """What a launch leaves: `arrays` are the arguments that were arrays, as they are now."""

    arrays: list[Array | None]
    shape: Shape


def launch(entry: Entry, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any],
           watches: Sequence[Watch] = (), dynamic: int = 0,
           order: np.random.Generator | None = None) -> Run:  # fmt: skip
    """Run a kernel.

    arguments  one for each parameter: an array, which is copied into global memory and whose
               address is handed over; `Empty`; or a number of numpy
    dynamic    bytes of `.extern .shared`
    order      draws which warp is next, one at a time; None: all that can go together

    Fault for what a kernel must not do, with line, thread and block. PtxError for what is not
    supported. ValueError for arguments that do not fit.
    """
    kernel = Kernel(entry, dynamic)
    shape = _shape(grid, block, entry)
    memory = Memory(GLOBAL, GLOBAL_BASE)
    kernel.fill(memory)
    parameters, places = _handed(kernel, arguments, memory)
    memories = {GLOBAL: memory, PARAM: parameters}
    for watch in watches:
        watch.begin(kernel, shape, memories)
    together = max(1, THREADS // (shape.warps * LANES))
    for first in range(0, shape.blocks, together):
        blocks = range(first, min(first + together, shape.blocks))
        _Machine(Wave(kernel, shape, blocks, memories, watches), order).run()
    arrays: list[Array | None] = [
        None if at is None else memory.content(at).view(a.dtype).reshape(a.shape).copy()
        if isinstance(a, np.ndarray) else memory.content(at).copy()
        for a, at in zip(arguments, places, strict=True)
    ]  # fmt: skip
    return Run(arrays, shape)


def _shape(grid: Sequence[int], block: Sequence[int], entry: Entry) -> Shape:
    def three(sizes: Sequence[int], what: str) -> Size:
        if not 1 <= len(sizes) <= 3 or any(int(n) < 1 for n in sizes):
            raise ValueError(f"{what} is one to three sizes of at least 1, got {tuple(sizes)}")
        x, y, z = (*map(int, sizes), 1, 1)[:3]
        return x, y, z

    shape = Shape(three(grid, "grid"), three(block, "block"))
    if shape.threads > MOST_THREADS:
        raise ValueError(f"a block has at most {MOST_THREADS:,} threads, not {shape.threads:,}")
    if entry.threads and np.prod(entry.threads) != shape.threads:
        raise ValueError(f"{entry.name} needs blocks of {entry.threads} threads (.reqntid), got "
                         f"{shape.block}")  # fmt: skip
    return shape


def _handed(kernel: Kernel, arguments: Sequence[Any], memory: Memory
            ) -> tuple[Memory, list[int | None]]:  # fmt: skip
    """Param memory with the arguments in it, and where the arrays were put."""
    wanted = kernel.entry.parameters
    if len(arguments) != len(wanted):
        raise ValueError(f"{kernel.entry.name} has {len(wanted)} parameters, got "
                         f"{len(arguments)} arguments")  # fmt: skip
    data = np.zeros(max(kernel.parameter_bytes, 1), np.uint8)
    places: list[int | None] = []
    for parameter, argument in zip(wanted, arguments, strict=True):
        at = None
        if isinstance(argument, Empty):
            at = memory.add(parameter.name, argument.nbytes)
        elif isinstance(argument, np.ndarray) and argument.ndim:
            at = memory.add(parameter.name, argument.nbytes, argument)
        value = np.asarray(argument if at is None else np.uint64(at))
        raw = value.reshape(1).view(np.uint8)
        if len(raw) != parameter.nbytes:
            raise ValueError(f"{parameter.name} has {parameter.nbytes} bytes ({parameter.type}), "
                             f"got {argument!r} of {len(raw)}")  # fmt: skip
        start = kernel.parameters[parameter.name]
        data[start : start + len(raw)] = raw
        places.append(at)
    handed = Memory(PARAM, 0, gap=0)
    handed.add("the parameters", len(data), data)
    return handed, places


class _Machine:
    """Runs a wave to its end. By warp: the piece that it is at, where its lanes meet those on the
    stack, the lanes that are active, and those that have not ended."""

    def __init__(self, wave: Wave, order: np.random.Generator | None) -> None:
        self.wave, self.kernel, self.order = wave, wave.kernel, order
        self.end = wave.kernel.flow.end
        self.at = np.zeros(wave.count, np.int64)
        self.meets = np.full(wave.count, self.end)
        self.lanes = wave.exist.copy()
        self.alive = wave.exist.copy()
        self.waiting = np.zeros(wave.count, bool)
        self.stack = Stack(wave.count)

    def run(self) -> None:
        while True:
            ready = (self.at < self.end) & ~self.waiting
            if not ready.any():
                if not self.waiting.any():
                    return
                self._release()
                continue
            piece, warps = self._next(ready)
            self._do(piece, warps)

    def _next(self, ready: Array) -> tuple[int, Array]:
        """The piece that comes first in the program, and all warps that are there."""
        if self.order is not None:
            warp = self.order.choice(np.flatnonzero(ready))
            return int(self.at[warp]), np.array([warp])
        piece = int(self.at[ready].min())
        return piece, np.flatnonzero(ready & (self.at == piece))

    def _release(self) -> None:
        """All warps that are not done wait: every barrier is complete."""
        self.waiting[:] = False
        for watch in self.wave.watches:
            watch.barrier(self.wave)

    def _do(self, number: int, warps: Array) -> None:
        lanes = self.lanes[:, warps]
        mine, others = int(lanes.sum()), int(self.alive.sum())
        whole = mine == others and 2 * len(warps) > self.wave.count
        if whole:
            warps = np.arange(self.wave.count)
            lanes = self.lanes & self.alive
        frame = Frame(self.wave, warps, None if lanes.all() else lanes, whole)
        frame.count = mine
        piece = self.kernel.flow.pieces[number]
        for watch in self.wave.watches:
            watch.piece(frame, number)
        with np.errstate(all="ignore"):
            for _, step in self.kernel.steps[number]:
                step(frame)
        frame.keep(self.kernel.keeps[number])
        if whole:
            warps = np.flatnonzero(self.at == number)
        self._go_on(piece, self.kernel.entry.instructions[piece.stop - 1], frame, warps, number)

    def _go_on(self, piece: Any, last: Instruction, frame: Frame, warps: Array, number: int
               ) -> None:  # fmt: skip
        if last.name == "bra" or last.name in ENDS:
            self._branch(piece, last, frame, warps)
        else:
            if is_barrier(last):
                self._wait(last, piece.stop - 1, frame, warps)
            self.at[warps] = piece.follows[0]
        self._settle(warps)

    def _holds(self, last: Instruction, frame: Frame, warps: Array) -> Array | bool:
        """For which lanes of these warps the guard of the last instruction holds."""
        guard = guard_of(last)
        if guard is None:
            return True
        holds = guard(frame)
        return holds[:, warps] if frame.whole and holds.shape[1] > 1 else holds

    def _wait(self, last: Instruction, number: int, frame: Frame, warps: Array) -> None:
        lanes = self.lanes[:, warps] & self._holds(last, frame, warps)
        comes = lanes.any(axis=0)
        apart = comes & (lanes != self.alive[:, warps]).any(axis=0)
        if apart.any():
            k = int(np.argmax(apart))
            frame = Frame(self.wave, warps, lanes, False)
            lane = int(np.argmax(lanes[:, k]))
            raise self.wave.fault(WAITING, number, frame, (lane, k))
        self.waiting[warps[comes]] = True

    def _branch(self, piece: Any, last: Instruction, frame: Frame, warps: Array) -> None:
        """Those for which the guard holds go to the first place, the others to the second one."""
        lanes = self.lanes[:, warps]
        goes = lanes & self._holds(last, frame, warps)
        stays = lanes & ~goes
        some, rest = goes.any(axis=0), stays.any(axis=0)
        if last.name in ENDS:
            self.alive[:, warps] &= ~goes
            self.lanes[:, warps] = stays
            self.at[warps] = np.where(rest, piece.follows[-1], self.meets[warps])
            return
        target, below = piece.follows[0], piece.follows[-1]
        self.at[warps] = np.where(some, target, below)
        if (both := some & rest).any() and target != below:
            self._part(piece.meets, target, below, warps[both], goes[:, both], stays[:, both])

    def _part(self, meets: int, target: int, below: int, warps: Array, goes: Array, stays: Array
              ) -> None:  # fmt: skip
        """Some lanes of these warps go one way, some the other."""
        for watch in self.wave.watches:
            watch.parted(self.wave, warps)
        anew = self.meets[warps] != meets
        if anew.any():  # where they meet, all go on together
            w = warps[anew]
            self.stack.push(w, np.full(len(w), meets), self.meets[w], (goes | stays)[:, anew])
        sides = [(target, goes), (below, stays)]
        first, *later = [side for side in sides if side[0] != meets]
        for place, lanes in later:
            self.stack.push(warps, np.full(len(warps), place), np.full(len(warps), meets), lanes)
        self.at[warps], self.meets[warps] = first[0], meets
        self.lanes[:, warps] = first[1]

    def _settle(self, warps: Array) -> None:
        """Who has come to where its lanes meet, or has no lanes left, goes on with what lies on
        top of its stack."""
        while True:
            done = (self.at[warps] == self.meets[warps]) & (self.stack.depth[warps] > 0)
            warps = warps[done]
            if not len(warps):
                return
            at, meets, lanes = self.stack.pop(warps)
            lanes &= self.alive[:, warps]
            empty = ~lanes.any(axis=0)
            self.at[warps] = np.where(empty, meets, at)
            self.meets[warps], self.lanes[:, warps] = meets, lanes
