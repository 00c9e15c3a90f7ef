"""An estimate of how long a kernel takes, from what was counted of it, and of what limits it.

    guess = estimate(H200, counters.total(), caches.total(), fits, run.shape)
    guess.seconds, guess.limited_by          4.6e-06, "DRAM"

Each part of the card would need some time if all the others were free. The estimate is the longest
of these times and what a launch costs; the name of the part says what to change first. It is an
estimate: parts get into each other's way, clocks vary, and instructions are those of PTX.

issue     a multiprocessor issues four instructions of warps a clock
L1        it serves one wavefront of shared memory or one line of 128 bytes a clock
L2, DRAM  bytes, at the bandwidth of the card
atomics   those for one line wait for each other at L2, two clocks each
latency   a warp waits for what it loads, one load after the other; what other warps do in the
          meantime is free, and blocks that do not fit at once come in rounds

For the 34 recorded kernels its order is near that of an H200: a rank correlation (Spearman) of 0.93
with `duration_ns` (a profiler's clock, caches cold) and of 0.86 with `median_us` (launches without
one, caches warm); the two of them have 0.89. `duration_ns` is 0.6 to 3 times the estimate. Farthest
off are `trip_counts` (3.0), whose warps differ in what they have to do and here count as an average
one, and `matmul_regs` (0.6), where a warp has several loads on their way at once.
Next room: `pictures.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.gpu.count.cards import Board
from course_lib.gpu.count.occupancy import Occupancy
from course_lib.gpu.simt.wave import Shape

# Not measured, and round: what kernels that do nothing take, and clocks until a result is there.
# Half or twice the clocks change the rank correlations above by at most 0.04.
LAUNCH = 2e-6  # seconds
SECTOR, SECTORS_A_CLOCK = 32, 4
ATOMIC_CLOCKS = 2  # to read a sector and to write it
STEP, FROM_SHARED, FROM_L1, FROM_L2, FROM_DRAM = 4, 30, 40, 260, 480


@dataclass(frozen=True)
class Estimate:
    """Seconds that each part would take alone."""

    terms: Mapping[str, float]

    @property
    def limited_by(self) -> str:
        return max(self.terms, key=lambda name: self.terms[name])

    @property
    def seconds(self) -> float:
        return LAUNCH + self.terms[self.limited_by]


def estimate(board: Board, counted: Mapping[str, int], cached: Mapping[str, int], fits: Occupancy,
             shape: Shape) -> Estimate:  # fmt: skip
    """An estimate for one launch with cold caches.

    counted, cached  what `Counters` and `Caches` have as `total`
    fits             what a multiprocessor holds of the kernel. ValueError if that is no block
    """
    if not fits.blocks:
        raise ValueError("no block of this kernel fits into a multiprocessor")
    # of all the work, what falls to the multiprocessor that has the most blocks
    share = -(-shape.blocks // board.multiprocessors) / shape.blocks
    rounds = -(-shape.blocks // (board.multiprocessors * fits.blocks))
    issue = share * counted["instructions"] / board.card.schedulers
    stored = counted["global_store_sectors"] * 1.5  # half of them cross L2
    clocks = {
        "issue": issue,
        "L1": share * _wavefronts(counted),
        "L2": SECTOR * (cached["l2_read_sectors"] + stored) / board.second_level_bytes,
        "atomics": ATOMIC_CLOCKS * cached["atomic_sectors_of_a_line"],
        "latency": rounds * _latency(counted, cached, shape.blocks * shape.warps),
    }
    terms = {name: value / board.clock for name, value in clocks.items()}
    return Estimate(terms | {"DRAM": cached["dram_bytes_read"] / board.memory_bytes})


def _wavefronts(counted: Mapping[str, int]) -> float:
    """Clocks of L1, for shared and global memory, of all multiprocessors together."""
    shared = counted["shared_load_wavefronts"] + counted["shared_store_wavefronts"]
    requests = counted["global_load_requests"] + counted["global_store_requests"]
    sectors = counted["global_load_sectors"] + counted["global_store_sectors"]
    return shared + max(requests, sectors / SECTORS_A_CLOCK)


def _latency(counted: Mapping[str, int], cached: Mapping[str, int], warps: int) -> float:
    """Clocks that a warp takes from its first instruction to its last, all others out of the way:
    an average one."""
    loads, sectors = counted["global_load_requests"], max(counted["global_load_sectors"], 1)
    near = cached["global_load_sectors_hit_l1"] / sectors
    fetched = min(1.0, cached["dram_bytes_read"] / SECTOR / max(cached["l2_read_sectors"], 1))
    far = (1 - fetched) * FROM_L2 + fetched * FROM_DRAM
    waits = loads * (near * FROM_L1 + (1 - near) * far)
    waits += counted["shared_load_instructions"] * FROM_SHARED
    return (counted["instructions"] * STEP + waits) / warps
