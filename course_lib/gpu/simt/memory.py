"""The memories of a launch: bytes, where something lies in them, and whether it was ever written.

    memory = Memory("global", base=1 << 32)
    memory.add("x", 4096)              its address
    memory.place(address, 4)           where in `bytes`, for addresses of lanes x warps

An access outside everything that was allocated, at an address that its size does not divide, or of
bytes that nobody has written, is an `AccessError` that says which lane. Next room: `frame.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
GLOBAL, SHARED, LOCAL, PARAM = "global", "shared", "local", "param"
GLOBAL_BASE = 1 << 32  # addresses of global memory; those below it are nobody's
MOST = 1 << 32  # bytes of one allocation
GAP = 256  # bytes between two allocations that belong to none


class AccessError(ValueError):
    """What is wrong with an access, in words, and which of its lanes: an index into the address."""

    def __init__(self, problem: str, lane: tuple[int, ...]) -> None:
        self.problem, self.lane = problem, lane
        super().__init__(problem)


@dataclass
class Allocation:
    name: str
    start: int  # address
    nbytes: int
    whole: bool  # has all of it been written?

    @property
    def stop(self) -> int:
        return self.start + self.nbytes


class Memory:
    """One memory with allocations. Its bytes lie in one array, which any type looks at."""

    def __init__(self, name: str, base: int, gap: int = GAP) -> None:
        self.name, self.base, self.gap = name, base, gap
        self.allocations: list[Allocation] = []
        self.starts: list[int] = []
        self.size = gap
        self.bytes = np.zeros(0, np.uint8)
        self.written = np.zeros(0, bool)
        self.views: dict[np.dtype, Array] = {}

    def add(self, name: str, nbytes: int, data: Array | None = None, align: int = 256) -> int:
        """Room for so many bytes, with `data` if there are; its address."""
        if not 0 <= nbytes <= MOST:
            raise ValueError(f"{name} has {nbytes:,} bytes, and at most {MOST:,} bytes are given")
        start = self.base + -(-self.size // align) * align
        self.size = start - self.base + nbytes + self.gap
        self.allocations.append(Allocation(name, start, nbytes, data is not None or not nbytes))
        self.starts.append(start)
        self._grow()
        if data is not None:
            at = start - self.base
            self.bytes[at : at + nbytes] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
            self.written[at : at + nbytes] = True
        return start

    def _grow(self) -> None:
        if self.size > len(self.bytes):
            room = -(-max(self.size, 2 * len(self.bytes)) // 16) * 16
            self.bytes = np.concatenate([self.bytes, np.zeros(room - len(self.bytes), np.uint8)])
            more = np.zeros(room - len(self.written), bool)
            self.written = np.concatenate([self.written, more])
            self.views = {}

    def content(self, start: int) -> Array:
        """The bytes of the allocation that begins there."""
        found = self.allocations[self.starts.index(start)]
        return self.bytes[start - self.base :][: found.nbytes]

    def as_type(self, type: np.dtype) -> Array:
        if type not in self.views:
            self.views[type] = self.bytes.view(type)
        return self.views[type]

    def place(self, address: Array, nbytes: int, lanes: Array | None) -> Array:
        """Where in `bytes` each address lies. `lanes` says which count; None means all."""
        place = address.view(np.int64) - self.base
        used = place if lanes is None else np.broadcast_to(place, lanes.shape)[lanes]
        if not used.size:
            return place
        low, high = int(used.min()), int(used.max())
        if (nbytes > 1) and (used & (nbytes - 1)).any():
            wrong = (place & (nbytes - 1)) != 0
            self._fail(f"an address that is no multiple of {nbytes}", wrong, lanes, address)
        found = self._at(low + self.base)
        if found is None or high + self.base + nbytes > found.stop:
            self._check_each(place, nbytes, lanes, address)
        return place

    def _at(self, address: int) -> Allocation | None:
        """The allocation that an address belongs to."""
        k = bisect_right(self.starts, address) - 1
        return self.allocations[k] if k >= 0 and address < self.allocations[k].stop else None

    def _check_each(self, place: Array, nbytes: int, lanes: Array | None, address: Array) -> None:
        starts = np.array(self.starts or [0], np.int64) - self.base
        stops = np.array([a.stop - self.base for a in self.allocations] or [0], np.int64)
        k = np.clip(np.searchsorted(starts, place, "right") - 1, 0, len(stops) - 1)
        outside = (place < starts[k]) | (place + nbytes > stops[k])
        self._fail(f"an address outside all of {self.name} memory", outside, lanes, address)

    def _fail(self, problem: str, wrong: Array, lanes: Array | None, address: Array) -> None:
        wrong = wrong if lanes is None else wrong & lanes
        found = np.argwhere(wrong)
        if len(found):
            lane = tuple(map(int, found[0]))
            at = int(np.broadcast_to(address, wrong.shape)[lane])
            raise AccessError(f"{problem}: {self.told(at)}", lane)

    def told(self, address: int) -> str:
        """An address in words: beside what it lies."""
        k = bisect_right(self.starts, address) - 1
        if k < 0:
            return f"{address:#x}"
        near = self.allocations[k]
        beyond = address - near.stop
        inside = f"byte {address - near.start:,} of {near.name}"
        return inside if beyond < 0 else f"{beyond:,} bytes behind the end of {near.name}"

    def check_written(self, place: Array, nbytes: int, lanes: Array | None, address: Array) -> None:
        """AccessError if some of what is read has never been written."""
        if all(a.whole for a in self.allocations):
            return
        wrong = np.zeros(place.shape, bool)
        safe = place if lanes is None else np.where(lanes, place, 0)
        for k in range(nbytes):
            wrong = wrong | ~self.written[safe + k]
        self._fail("memory that nothing has been written to", wrong, lanes, address)

    def mark_written(self, place: Array, nbytes: int) -> None:
        if all(a.whole for a in self.allocations):
            return
        flat = place.reshape(-1)
        for k in range(nbytes):
            self.written[flat + k] = True
