"""Counts what a profiler counts: instructions, requests, sectors, wavefronts, divergence.

    counters = Counters()
    launch(entry, grid, block, arguments, watches=[counters])
    counters.total()["global_load_sectors"]

All are kept for each instruction of the text, so that a page can show them beside its lines. The
names are those of Nsight Compute as `total` gives them. Next room: `races.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.gpu.count.lines import paired, sectors, wavefronts
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, SHARED, Memory
from course_lib.gpu.simt.wave import Shape, Watch, Wave

KINDS = ("load", "store", "atomic")


@dataclass(frozen=True)
class Line:
    """What was counted of one instruction of the text."""

    warps: int  # how often a warp did it
    threads: int
    space: str = ""
    kind: str = ""
    requests: int = 0
    sectors: int = 0  # of global memory
    wavefronts: int = 0  # of shared memory
    conflicts: int = 0  # wavefronts that no warp would need


class Counters(Watch):
    """By number of instruction, in int64."""

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        count = len(kernel.entry.instructions)
        self.kernel, self.shape = kernel, shape
        self.warps, self.threads = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.requests, self.sectors, self.wavefronts, self.least = (
            np.zeros(count, np.int64) for _ in range(4)
        )
        self.what: dict[int, tuple[str, str]] = {}
        self.parted_at = 0

    def piece(self, frame: Frame, number: int) -> None:
        piece = self.kernel.flow.pieces[number]
        rows = slice(piece.start, piece.stop)
        warps = len(frame.warps) if frame.lanes is None else int(frame.lanes.any(axis=0).sum())
        self.warps[rows] += warps
        self.threads[rows] += frame.count

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        self.what[number] = space, kind
        if address.shape[1] == 1:
            address = np.broadcast_to(address, (address.shape[0], len(frame.warps)))
        count = len(frame.warps) if lanes is None else int(lanes.any(axis=0).sum())
        self.requests[number] += count
        if space == GLOBAL:
            self.sectors[number] += int(sectors(address, nbytes, lanes).sum())
        else:
            loads = kind == "load"
            self.wavefronts[number] += int(wavefronts(address, nbytes, lanes, loads).sum())
            self.least[number] += int(fewest(address, nbytes, lanes, loads).sum())

    def parted(self, wave: Wave, warps: Array) -> None:
        self.parted_at += len(warps)

    def line(self, number: int) -> Line:
        space, kind = self.what.get(number, ("", ""))
        conflicts = int(self.wavefronts[number] - self.least[number])
        return Line(int(self.warps[number]), int(self.threads[number]), space, kind,
                    int(self.requests[number]), int(self.sectors[number]),
                    int(self.wavefronts[number]), conflicts)  # fmt: skip

    def total(self) -> dict[str, int]:
        """All lines together, under the names of the recorded counters."""
        found = {
            "instructions": int(self.warps.sum()),
            "thread_instructions": int(self.threads.sum()),
        }
        for kind in ("load", "store"):
            mine = [n for n, what in self.what.items() if what == (GLOBAL, kind)]
            found[f"global_{kind}_requests"] = int(self.requests[mine].sum())
            found[f"global_{kind}_sectors"] = int(self.sectors[mine].sum())
            mine = [n for n, what in self.what.items() if what == (SHARED, kind)]
            found[f"shared_{kind}_instructions"] = int(self.requests[mine].sum())
            found[f"shared_{kind}_wavefronts"] = int(self.wavefronts[mine].sum())
            found[f"shared_{kind}_bank_conflicts"] = int((self.wavefronts - self.least)[mine].sum())
        mine = [n for n, what in self.what.items() if what[1] == "atomic"]
        found["atomic_requests"] = int(self.requests[mine].sum())
        found["divergent_branches"] = self.parted_at
        return found


def fewest(address: Array, nbytes: int, lanes: Array | None, loads: bool) -> Array:
    """The wavefronts that each warp would take without any conflict: one for each group of lanes
    that comes in turn and has an active one."""
    groups = max(1, nbytes // 4)
    if lanes is None:
        lanes = np.ones((LANES, address.shape[1]), bool)
    address = np.broadcast_to(address, lanes.shape)
    plain = lanes.reshape(groups, LANES // groups, -1).any(axis=1).sum(axis=0)
    if groups == 1 or not loads:
        return plain
    half = lanes.reshape(groups // 2, 2 * LANES // groups, -1).any(axis=1).sum(axis=0)
    return np.where(paired(address, lanes), half, plain)
