"""What the lanes of a warp want of memory at once, drawn: sectors as rows, banks as columns.

    watch = FirstAccess()
    launch(entry, grid, block, arguments, watches=[watch])
    accesses(entry, watch)      a stepper: each load and store, as the first warp does it

Next room: `stepping.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.draw.base.picture import MARGIN, Picture, sketch
from course_lib.draw.base.stepper import stepper
from course_lib.draw.base.svg import label, squares
from course_lib.gpu.count.lines import BANKS, SECTOR, WORD, sectors, wavefronts
from course_lib.gpu.ptx.parts import Entry
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, SHARED, Memory
from course_lib.gpu.simt.wave import Shape, Watch

CELL = 19.0
HEAD = 62.0
Square = tuple[str, str | int]


@dataclass(frozen=True)
class Access:
    """One request: what the lanes of a warp want, at addresses in bytes."""

    space: str
    kind: str
    address: Array  # of 32 lanes
    lanes: Array  # which take part
    nbytes: int

    @property
    def cost(self) -> int:
        """Sectors of global memory, wavefronts of shared memory."""
        address, lanes = self.address[:, None], self.lanes[:, None]
        if self.space == GLOBAL:
            return int(sectors(address, self.nbytes, lanes)[0])
        return int(wavefronts(address, self.nbytes, lanes, self.kind == "load")[0])


class FirstAccess(Watch):
    """Of each instruction that touches global or shared memory, the first request."""

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        self.found: dict[int, Access] = {}

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        if number in self.found or space not in (GLOBAL, SHARED):
            return
        takes = np.ones(frame.shape, bool) if lanes is None else np.broadcast_to(lanes, frame.shape)
        busy = np.flatnonzero(takes.any(axis=0))
        if len(busy):
            where = np.broadcast_to(address, frame.shape)[:, busy[0]]
            self.found[number] = Access(space, kind, where, takes[:, busy[0]], nbytes)


def accesses(entry: Entry, watch: FirstAccess) -> Picture:
    """Walk through the loads and stores of a kernel, each as the first warp does it. ValueError if
    it has none."""
    states = []
    for number, access in sorted(watch.found.items()):
        i = entry.instructions[number]
        states.append((f"line {i.line}", drawn(access, str(i))))
    return stepper(states, f"{entry.name}: what the first warp wants of memory")


def drawn(access: Access, title: str) -> Picture:
    """One request."""
    rows, names, words = (_sectors if access.space == GLOBAL else _banks)(access)
    left = MARGIN + 84
    content = squares(left, HEAD, CELL, rows)
    content += [
        label(left - 8, HEAD + (k + 0.7) * CELL, name, "cl-s cl-m cl-e")
        for k, name in enumerate(names)
    ]
    right, low = left + len(rows[0]) * CELL, HEAD + len(rows) * CELL
    plain = [f"{n:>12}  {_plain(row)}" for n, row in zip(names, rows, strict=True)]
    text = "\n".join([f"{title}: {words}", *plain])
    return sketch(title, words, content, right, low, text)


def _plain(row: list[Square]) -> str:
    return " ".join(f"{words!s:>2}" if words != "" else " ·" for _, words in row)


def _sectors(access: Access) -> tuple[list[list[Square]], list[str], str]:
    """A row for each sector, a square for each word; in it the lane that wants it."""
    first = int(access.address[access.lanes].min()) // SECTOR
    grid: dict[int, list[Square]] = {}
    for lane in np.flatnonzero(access.lanes):
        for byte in range(0, max(access.nbytes, WORD), WORD):
            address = int(access.address[lane]) + byte
            row = grid.setdefault(address // SECTOR, [("cl-n", "")] * (SECTOR // WORD))
            word = address % SECTOR // WORD
            row[word] = (
                "cl-region" if row[word][1] == "" else "cl-marked",
                _more(row[word], int(lane)),
            )
    names = [f"sector {n - first:+d}" if n != first else "sector 0" for n in sorted(grid)]
    words = (f"{access.cost} sectors for {int(access.lanes.sum())} lanes; a row is one of 32 B, a "
             "square a word of 4 B with the lane that wants it, + for several")  # fmt: skip
    return [grid[n] for n in sorted(grid)], names, words


def _banks(access: Access) -> tuple[list[list[Square]], list[str], str]:
    """A column for each bank; below each other the different words that are wanted of it."""
    wanted: dict[int, Square] = {}
    for lane in np.flatnonzero(access.lanes):
        for byte in range(0, max(access.nbytes, WORD), WORD):
            word = (int(access.address[lane]) + byte) // WORD
            old = wanted.get(word, ("", ""))
            wanted[word] = ("cl-region" if old[1] == "" else "cl-marked", _more(old, int(lane)))
    columns: list[list[Square]] = [[] for _ in range(BANKS)]
    for word in sorted(wanted):
        columns[word % BANKS].append(wanted[word])
    deep = max(map(len, columns))
    rows = [[c[k] if k < len(c) else ("cl-n", "") for c in columns] for k in range(deep)]
    words = (f"{access.cost} wavefronts for {int(access.lanes.sum())} lanes; a column is a bank, "
             "in it the lanes that want different words of it")  # fmt: skip
    return rows, [f"word {k + 1}" for k in range(deep)], words


def _more(old: Square, lane: int) -> str | int:
    return int(lane) if old[1] == "" else f"{str(old[1]).rstrip('+')}+"


assert LANES == BANKS
