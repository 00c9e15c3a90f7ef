"""What cards have: of each multiprocessor, and of one whole card.

    CARDS["sm_90"].warps       64
    H200.multiprocessors       132

Limits of a multiprocessor are those of NVIDIA's `cuda_occupancy.h` (CUDA 13.0) and of the table
"Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide; what L1 and
shared memory have together is in the tuning guides of Turing, Ampere, Ada and Hopper. Next room:
`occupancy.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

KB = 1024


@dataclass(frozen=True)
class Card:
    """What one multiprocessor of an architecture has."""

    name: str
    warps: int  # at most, at once
    blocks: int  # at most, at once
    carveouts: tuple[int, ...]  # the parts of L1 that can be shared memory, in bytes
    reserved: int  # bytes of shared memory that CUDA keeps of each block
    first_level: int  # bytes of L1 and shared memory together
    registers: int = 65_536
    registers_of_thread: int = 255
    schedulers: int = 4  # each has a quarter of the registers
    register_unit: int = 256  # registers of a warp are handed out in such steps
    shared_unit: int = 128  # bytes of shared memory, too

    @property
    def shared(self) -> int:
        """Bytes of shared memory at most."""
        return self.carveouts[-1]


def _kilobytes(*sizes: int) -> tuple[int, ...]:
    return tuple(size * KB for size in sizes)


_SMALL = _kilobytes(0, 8, 16, 32, 64, 100)
CARDS = {
    card.name: card
    for card in (
        Card("sm_75", 32, 16, _kilobytes(32, 64), 0, 96 * KB, shared_unit=256),
        Card("sm_80", 64, 32, (*_SMALL, *_kilobytes(132, 164)), KB, 192 * KB),
        Card("sm_86", 48, 16, _SMALL, KB, 128 * KB),
        Card("sm_89", 48, 24, _SMALL, KB, 128 * KB),
        Card("sm_90", 64, 32, (*_SMALL, *_kilobytes(132, 164, 196, 228)), KB, 256 * KB),
    )
}


@dataclass(frozen=True)
class Board:
    """A card as one buys it. Bandwidths are in bytes for each clock or second."""

    name: str
    card: Card
    multiprocessors: int
    clock: float  # in Hz
    second_level: int  # bytes of L2
    second_level_bytes: int  # of L2, each clock
    memory_bytes: float  # of DRAM, each second


# Recorded on the card of `recorded/`: 132 multiprocessors, and 4.25 TB/s for a copy. Taken, not
# measured: a clock of 1.98 GHz, 50 MB of L2, and of L2 5,120 bytes a clock, which is the figure of
# the A100 ("NVIDIA A100 Tensor Core GPU Architecture", 2020).
H200 = Board("H200", CARDS["sm_90"], 132, 1.98e9, 50 * KB * KB, 5120, 4.25e12)
