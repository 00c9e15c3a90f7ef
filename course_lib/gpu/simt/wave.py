"""Some blocks of a launch, run at the same time: who is where, and what they have.

    wave = Wave(launch, blocks=range(0, 64))
    wave.special("%tid.x", frame)      what each thread knows of itself

As many blocks as fit into a processor's cache as arrays. Next room: `machine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.gpu.ptx.parts import Instruction
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, LOCAL, SHARED, AccessError, Memory

Size = tuple[int, int, int]


class Fault(ValueError):
    """Something that a kernel must not do: what, in which line, by which thread of which block."""

    def __init__(self, problem: str, i: Instruction, block: Size, thread: Size) -> None:
        self.problem, self.instruction, self.block, self.thread = problem, i, block, thread
        where = f"thread {told(thread)} of block {told(block)}"
        super().__init__(f"line {i.line}: {problem}, by {where} in `{i}`")


def told(place: Sequence[int]) -> str:
    """(3, 0, 0) -> 3; (3, 1, 0) -> (3, 1)."""
    last = max((k for k, n in enumerate(place) if n), default=0)
    return f"({', '.join(map(str, place[: last + 1]))})" if last else str(place[0])


@dataclass(frozen=True)
class Shape:
    """The sizes of a launch: blocks, and threads of a block."""

    grid: Size
    block: Size

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        return -(-self.threads // LANES)


class Watch:
    """Whoever looks on while a kernel runs: counters, a finder of races, a stepper. Is told of what
    happens, in the order in which it does; every method does nothing here."""

    stepping = False  # is it to be told of each instruction?

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        """A launch begins."""

    def piece(self, frame: Frame, number: int) -> None:
        """These warps do this piece."""

    def instruction(self, frame: Frame, number: int) -> None:
        """These warps have done this instruction."""

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        """An instruction loads ("load"), stores ("store") or does both at once ("atomic").

        address  as the program has it; place is the same as a position in the memory's bytes
        lanes    those that take part; None means all
        """

    def barrier(self, wave: Wave) -> None:
        """Every barrier at which warps waited is complete."""

    def warp_barrier(self, frame: Frame) -> None:
        """The lanes of these warps have waited for each other."""

    def parted(self, wave: Wave, warps: Array) -> None:
        """The lanes of these warps go two ways."""


class Wave:
    """The state of some blocks. Warps are numbered block after block."""

    def __init__(self, kernel: Kernel, shape: Shape, blocks: Sequence[int],
                 memories: dict[str, Memory], watches: Sequence[Watch]) -> None:  # fmt: skip
        self.kernel, self.shape, self.watches = kernel, shape, watches
        self.register_types = kernel.register_types
        self.block_numbers = np.asarray(blocks)
        per_block = shape.warps
        self.count = per_block * len(blocks)
        self.block_of = np.repeat(np.arange(len(blocks)), per_block)
        self.registers: dict[str, Array] = {}
        warp = np.tile(np.arange(per_block), len(blocks))
        self.thread = warp[None, :] * LANES + np.arange(LANES)[:, None]  # within its block
        self.exist = self.thread < shape.threads
        self.memories = memories | {SHARED: self._shared(), LOCAL: self._local()}
        self.specials: dict[str, Array] = {}

    def _shared(self) -> Memory:
        memory = Memory(SHARED, 0, gap=0)
        each = -(-self.kernel.shared_bytes // 128) * 128  # all blocks begin in bank 0
        self.shared_stride = each + 128
        for number in self.block_numbers:
            block = told(self.position(int(number)))
            memory.add(f"the shared memory of block {block}", self.kernel.shared_bytes, align=128)
            memory.size = -(-memory.size // 128) * 128 + 128
        return memory

    def _local(self) -> Memory:
        memory = Memory(LOCAL, 0, gap=0)
        self.local_stride = -(-self.kernel.local_bytes // 16) * 16
        memory.add("local memory", self.local_stride * self.count * LANES)
        return memory

    def memory(self, space: str) -> Memory:
        return self.memories[space]

    def position(self, block: int) -> Size:
        x, y, _ = self.shape.grid
        return block % x, block // x % y, block // (x * y)

    def place(self, space: str, frame: Frame, address: Array, nbytes: int, lanes: Array | None,
              number: int, kind: str) -> Array:  # fmt: skip
        """Where in its memory each lane's access lies. Whoever watches is told of it."""
        real = address
        if space == SHARED:
            real = address + frame.blocks * self.shared_stride
        elif space == LOCAL:
            real = address + self._threads(frame) * self.local_stride
        memory = self.memories[space]
        try:
            place = memory.place(real, nbytes, lanes)
            if kind != "store":
                memory.check_written(place, nbytes, lanes, real)
        except AccessError as error:
            raise self.fault(error.problem, number, frame, error.lane) from None
        if space in (GLOBAL, SHARED):
            for watch in self.watches:
                watch.access(frame, number, kind, space, address, place, nbytes, lanes)
        return place

    def _threads(self, frame: Frame) -> Array:
        return frame.warps[None, :] * LANES + np.arange(LANES)[:, None]

    def fault(self, problem: str, number: int, frame: Frame, lane: tuple[int, ...]) -> Fault:
        """The error about an instruction, for one of its lanes: an index into lanes x warps."""
        warp = frame.warps[lane[1] if len(frame.warps) > lane[1] else 0]
        if frame.lanes is not None and not frame.lanes[lane[0], lane[1]]:
            lane = (int(np.argmax(frame.lanes[:, lane[1]])), lane[1])
        thread = int(self.thread[lane[0], warp])
        x, y, _ = self.shape.block
        place = thread % x, thread // x % y, thread // (x * y)
        block = self.position(int(self.block_numbers[self.block_of[warp]]))
        return Fault(problem, self.kernel.entry.instructions[number], block, place)

    # ── what a thread knows of itself ──

    def special(self, name: str, frame: Frame) -> Array:
        if name not in self.specials:
            self.specials[name] = _narrowed(np.asarray(self._special(name), np.uint32))
        value = self.specials[name]
        return value[:, frame.warps] if value.shape[1] > 1 and not frame.whole else value

    def _special(self, name: str) -> Array:
        what, _, axis = name[1:].partition(".")
        if axis:
            return self._in_grid(what, "xyz".index(axis))
        lane, warp = np.arange(LANES)[:, None], self.thread[:1] // LANES
        bit = np.uint32(1) << lane.astype(np.uint32)
        several: dict[str, Callable[[], Array]] = {
            "laneid": lambda: lane, "warpid": lambda: warp,
            "nwarpid": lambda: np.full((1, 1), self.shape.warps),
            "smid": lambda: np.zeros((1, 1)), "nsmid": lambda: np.ones((1, 1)),
            "lanemask_eq": lambda: bit, "lanemask_lt": lambda: bit - 1,
            "lanemask_le": lambda: bit | (bit - 1), "lanemask_ge": lambda: ~(bit - 1),
            "lanemask_gt": lambda: ~(bit | (bit - 1)),
        }  # fmt: skip
        return several[what]()

    def _in_grid(self, what: str, axis: int) -> Array:
        if what in ("ntid", "nctaid"):
            return np.full((1, 1), (self.shape.block if what == "ntid" else self.shape.grid)[axis])
        sizes = self.shape.block if what == "tid" else self.shape.grid
        number = self.thread if what == "tid" else self.block_numbers[self.block_of][None, :]
        before = int(np.prod(sizes[:axis], dtype=np.int64))
        return number // before % sizes[axis]


def _narrowed(value: Array) -> Array:
    """The same with one row where all rows are alike, and one column where all columns are."""
    if value.shape[0] > 1 and (value == value[:1]).all():
        value = value[:1]
    if value.shape[1] > 1 and (value == value[:, :1]).all():
        value = value[:, :1]
    return np.ascontiguousarray(value)
