"""How many blocks of a kernel a multiprocessor holds at once, and what stops it from holding more.

    found = occupancy(CARDS["sm_90"], threads=256, registers=40, shared=1024)
    found.blocks, found.warps, found.limited_by        6, 48, "registers"

The rules are those of NVIDIA's `cuda_occupancy.h` (CUDA 13.0): registers are handed out to warps in
steps of 256, and each of the four schedulers has a quarter of them; shared memory goes to blocks in
steps of 128 bytes, after 1 KB that CUDA keeps for itself. Next room: `caches.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.gpu.count.cards import Card
from course_lib.gpu.simt.frame import LANES

MOST_THREADS = 1024


@dataclass(frozen=True)
class Occupancy:
    """What fits. `limits` are the blocks that each resource alone would allow."""

    card: Card
    warps_per_block: int
    limits: Mapping[str, int]  # warps, registers, blocks, shared

    @property
    def blocks(self) -> int:
        return min(self.limits.values())

    @property
    def warps(self) -> int:
        return self.blocks * self.warps_per_block

    @property
    def share(self) -> float:
        """Of the warps that the multiprocessor could hold; profilers call this the occupancy."""
        return self.warps / self.card.warps

    @property
    def limited_by(self) -> str:
        """The first resource that is used up."""
        return min(self.limits, key=lambda name: self.limits[name])


def occupancy(card: Card, threads: int, registers: int, shared: int = 0,
              carveout: int | None = None) -> Occupancy:  # fmt: skip
    """What fits of a kernel.

    threads    of a block
    registers  of a thread, as ptxas reports them
    shared     bytes of a block, static and dynamic together
    carveout   bytes of L1 that are shared memory; None: as many as the card allows

    ValueError for sizes that no launch can have. Blocks are 0 where the launch would fail.
    """
    if not (1 <= threads <= MOST_THREADS and registers >= 0 and shared >= 0):
        raise ValueError(f"no launch has {threads} threads a block, {registers} registers a thread "
                         f"and {shared} bytes of shared memory")  # fmt: skip
    warps = -(-threads // LANES)
    limits = {
        "warps": card.warps // warps,
        "registers": by_registers(card, warps, registers),
        "blocks": card.blocks,
        "shared": by_shared(card, shared, card.shared if carveout is None else carveout),
    }
    return Occupancy(card, warps, limits)


def by_registers(card: Card, warps: int, registers: int) -> int:
    """Blocks of so many warps, if only registers counted."""
    if registers > card.registers_of_thread:
        return 0
    of_warp = _up(max(registers, 1) * LANES, card.register_unit)
    return card.registers // card.schedulers // of_warp * card.schedulers // warps


def by_shared(card: Card, shared: int, carveout: int) -> int:
    """Blocks, if only shared memory counted. One that uses none is not held up by the reserve,
    since the limit of blocks comes first: so Nsight Compute shows it, too."""
    if not shared:
        return card.blocks
    of_block = footprint(card, shared)
    return min(carveout // of_block, card.blocks) if of_block <= card.shared else 0


def footprint(card: Card, shared: int) -> int:
    """What a block takes of shared memory, in bytes."""
    return _up(shared + card.reserved, card.shared_unit)


def default_carveout(card: Card, threads: int, registers: int, shared: int) -> int:
    """The part of L1 that a driver makes shared memory if nobody tells it: the smallest one that
    has room for twice the blocks that fit by warps, registers and blocks.

    This is not published. It is what all recorded kernels that have shared memory agree with
    (H200, driver 580.159); another driver may choose otherwise.
    """
    warps = -(-threads // LANES)
    blocks = min(card.warps // warps, by_registers(card, warps, registers), card.blocks)
    wanted = 2 * blocks * footprint(card, shared) if shared else 0
    return next((size for size in card.carveouts if size >= wanted), card.shared)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
