"""The recorded kernels, each run once for all tests of a worker, with all that counts."""

from dataclasses import dataclass
from functools import cache

from course_lib.gpu.count.caches import Caches
from course_lib.gpu.count.cards import H200
from course_lib.gpu.count.counters import Counters
from course_lib.gpu.count.occupancy import Occupancy, default_carveout, occupancy
from course_lib.gpu.ptx.parts import Entry
from course_lib.gpu.recordings import Recording, recording
from course_lib.gpu.simt.kernel import Kernel
from course_lib.gpu.simt.machine import launch
from course_lib.gpu.simt.wave import Shape

# what the machine counts as Nsight Compute does, by the names of both
COUNTED = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "shared_load_instructions", "shared_store_instructions", "shared_load_wavefronts",
    "shared_store_wavefronts", "shared_load_bank_conflicts", "shared_store_bank_conflicts",
)  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """One launch as it was recorded, and what came of it."""

    recording: Recording
    fits: Occupancy
    shape: Shape
    sum: float
    counters: dict[str, int]
    caches: Caches
    cached: dict[str, int]


def resources(found: Recording) -> tuple[int, int, int]:
    """Threads of a block, registers of a thread, bytes of shared memory of a block."""
    registers = int(found.counters["registers_per_thread"])
    return found.block[0] * found.block[1], registers, Kernel(found.entry).shared_bytes


def count(found: Recording, entry: Entry) -> dict[str, int]:
    counters = Counters()
    launch(entry, found.grid, found.block, found.arguments(), [counters])
    return counters.total()


@cache
def counted(name: str) -> Counted:
    """As ptxas leaves the kernel, on an H200 with cold caches."""
    found = recording(name)
    carveout = default_carveout(H200.card, *resources(found))
    fits = occupancy(H200.card, *resources(found), carveout)
    counters, caches = Counters(), Caches(H200, carveout, fits.blocks)
    run = launch(found.assembled(), found.grid, found.block, found.arguments(), [counters, caches])
    total = found.sum_of_first(run.arrays)
    return Counted(found, fits, run.shape, total, counters.total(), caches, caches.total())
