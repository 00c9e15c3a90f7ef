"""What of the loads finds its data in L1, what L2 is asked for, and what comes from DRAM.

    caches = Caches(H200)
    launch(entry, grid, block, arguments, watches=[caches])
    caches.total()["global_load_sectors_hit_l1"]

Blocks are dealt to multiprocessors in turn, each of which runs one block after the other. (Blocks
that are there at once, with their instructions in turn, give the same for every recorded kernel.)
All caches begin empty, have lines of 128 bytes with four sectors, and throw out what was used
longest ago. L1 is what the carve-out leaves; stores go through it and leave it as it is, atomics
and loads with .cg, .cv or .volatile pass it by. DRAM hands out 64 bytes at a time.

L2 has two halves, and an address lives in one of them. A multiprocessor asks the half that is near
it; what lives in the other one comes from there the first time, and both halves count it. Which
multiprocessors are near which half is not published, so this counts the expected number: a sector
that r multiprocessors ask for goes across with probability 1 - 1/2^r. NVIDIA describes such halves
for the A100 ("NVIDIA A100 Tensor Core GPU Architecture", 2020). Here they explain why a recorded
copy that reads each sector once has 1.5 times its sectors at L2.

How near this comes to an H200 (tests/gpu/test_caches.py has each kernel):

DRAM    bytes are those of the data and 2.5 to 14 KB more, of the program and its parameters
L1      hits are equal for 24 of the 34 kernels, and for all whose blocks are all there at once but
        four: `trip_counts` is 0.06% apart, and in three matmuls there are as many hits more as 15
        pairs of blocks with a row or a column in common have, so that not all go in turn. Of more
        blocks, the later ones go where there is room first: what misses L1 is up to 7.2% less than
        here, and up to 3.5% less if `order` draws where they go
L2      is asked for 0.87 to 1.09 times the sectors that this counts, and for 0.56 to 0.76 times in
        those three matmuls, in which many multiprocessors ask for the same at the same time:
        something between L1 and L2 seems to make one request of several

Next room: `estimate.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.gpu.count.cards import H200, Board
from course_lib.gpu.count.lru import SECTORS, present
from course_lib.gpu.simt.frame import Array, Frame
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.memory import GLOBAL, Memory
from course_lib.gpu.simt.wave import Shape, Watch

LINE, SECTOR, PAIR = 128, 32, 0b11
L1_SETS, L2_WAYS = 64, 16  # not published
LOAD, STORE, ATOMIC, PAST_L1 = range(4)
KINDS = {"load": LOAD, "store": STORE, "atomic": ATOMIC}
PASSING = {"cg", "cv", "volatile", "relaxed", "acquire"}
NAMES = ("global_load_sectors_hit_l1", "l2_read_sectors", "dram_bytes_read",
         "atomic_sectors_of_a_line")  # fmt: skip
WARP_BITS, LINE_BITS = 40, 38  # of a key: the warp above so many bits of a sector, or of a line


class Caches(Watch):
    """Notes every request for global memory, and works the caches out when `total` is asked.

    carveout  bytes of L1 that are shared memory
    resident  blocks that a multiprocessor holds at once: for `order`
    order     draws to which multiprocessor a block goes that comes when all are full; None: the
              next one in turn
    """

    def __init__(self, board: Board = H200, carveout: int = 0, resident: int = 1,
                 order: np.random.Generator | None = None) -> None:  # fmt: skip
        self.board, self.resident, self.order = board, resident, order
        self.l1_ways = (board.card.first_level - carveout) // LINE // L1_SETS
        if self.l1_ways < 1:
            raise ValueError(f"a carve-out of {carveout:,} bytes leaves no L1")

    def begin(self, kernel: Kernel, shape: Shape, memories: dict[str, Memory]) -> None:
        self.kernel, self.shape = kernel, shape
        self.rows: list[tuple[Array, Array, Array, Array]] = []  # block, kind, line, sectors

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        if space != GLOBAL:
            return
        what = KINDS[kind]
        if what == LOAD and PASSING & set(self.kernel.entry.instructions[number].modifiers):
            what = PAST_L1
        warp, line, mask = lines(np.broadcast_to(place, frame.shape), lanes)
        block = frame.wave.block_numbers[frame.blocks[0]][warp]
        kinds = np.full(len(line), what, np.uint8)
        self.rows.append((block.astype(np.int32), kinds, line, mask))

    def total(self) -> dict[str, int]:
        """Under the names of the recorded counters, and what no profiler tells: how often atomics
        ask for sectors of the line that they ask for most."""
        if not self.rows:
            return dict.fromkeys(NAMES, 0)
        block, kind, line, mask = (
            np.concatenate(column) for column in zip(*self.rows, strict=True)
        )
        where = self.dealt()[block]
        hits = self._first_level(block, where, kind, line, mask)
        rest = mask & ~hits
        loads = (kind == LOAD) | (kind == PAST_L1)
        across = crossings(where[loads], line[loads], rest[loads])
        asked = _count(rest[loads]) + round(across)
        fetched = SECTOR * self._from_memory(kind, line, rest)
        numbers = (_count(hits), asked, fetched, _busiest(kind, line, mask))
        return dict(zip(NAMES, numbers, strict=True))

    def dealt(self) -> Array:
        """The multiprocessor of each block."""
        blocks, places = self.shape.blocks, self.board.multiprocessors
        where = np.arange(blocks) % places
        later = places * self.resident
        if self.order is not None and blocks > later:
            where[later:] = self.order.integers(0, places, blocks - later)
        return where

    def _first_level(self, block: Array, where: Array, kind: Array, line: Array, mask: Array
                     ) -> Array:  # fmt: skip
        """For each request, its sectors that are in L1."""
        hits = np.zeros(len(mask), np.uint8)
        loads = np.flatnonzero(kind == LOAD)
        loads = loads[np.argsort(block[loads], kind="stable")]
        number = line[loads]
        index = (number ^ (number >> 6) ^ (number >> 12)) % L1_SETS
        found = present(where[loads] * L1_SETS + index, number, mask[loads], self.l1_ways)
        hits[loads] = found & mask[loads]
        return hits

    def _from_memory(self, kind: Array, line: Array, mask: Array) -> int:
        """Sectors that L2 fetches. What is stored is there, and was not fetched."""
        asks = np.flatnonzero(mask)
        kind, line, mask = kind[asks], line[asks], mask[asks]
        fetches = kind != STORE
        low, high = (mask & PAIR) != 0, (mask >> 2) != 0
        pairs = low * np.uint8(PAIR) | high * np.uint8(PAIR << 2)
        mask = np.where(fetches, pairs, mask).astype(np.uint8)
        sets = self.board.second_level // LINE // L2_WAYS
        found = present(line % sets, line, mask, L2_WAYS)
        return _count((mask & ~found)[fetches])


def lines(place: Array, lanes: Array | None) -> tuple[Array, Array, Array]:
    """The lines that each warp touches: warp, number of the line, its sectors as bits; by warp.

    place  lanes x warps, in bytes, aligned: no lane touches two sectors
    """
    sector = place >> 5
    new = np.ones(sector.shape, bool)  # not the same as that of the lane before
    new[1:] = sector[1:] != sector[:-1]
    if lanes is not None:
        new[1:] |= ~lanes[:-1]
        new &= lanes
    warp, lane = np.nonzero(new.T)
    key = np.unique((warp << WARP_BITS) | sector[lane, warp])
    if not len(key):
        return key, key, np.zeros(0, np.uint8)
    whole = key // SECTORS
    first = np.flatnonzero(np.r_[True, whole[1:] != whole[:-1]])
    mask = np.bitwise_or.reduceat((1 << key % SECTORS).astype(np.uint8), first)
    return whole[first] >> LINE_BITS, whole[first] & ((1 << LINE_BITS) - 1), mask


def crossings(where: Array, line: Array, mask: Array) -> float:
    """How many sectors go from one half of L2 to the other one, as an expected number: those that r
    different multiprocessors want go across unless all of these are near the right half."""
    total = 0.0
    for sector in range(SECTORS):
        asks = (mask >> sector) & 1 == 1
        pairs = np.unique((where[asks] << LINE_BITS) | line[asks])
        _, readers = np.unique(pairs & ((1 << LINE_BITS) - 1), return_counts=True)
        total += float((1 - 0.5**readers).sum())
    return total


def _busiest(kind: Array, line: Array, mask: Array) -> int:
    """The most sectors that atomics ask for of any one line, each request counted."""
    atomic = kind == ATOMIC
    _, which = np.unique(line[atomic], return_inverse=True)
    asked = np.bincount(which, weights=np.bitwise_count(mask[atomic]))
    return int(asked.max(initial=0))


def _count(mask: Array) -> int:
    return int(np.bitwise_count(mask).sum())
