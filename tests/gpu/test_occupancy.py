"""How many blocks fit at once: as Nsight Compute says for the recorded kernels, and as NVIDIA's own
`cuda_occupancy.h` does for launches drawn at random."""

import pytest

from course_lib.gpu.count.cards import CARDS, H200
from course_lib.gpu.count.occupancy import default_carveout, occupancy
from course_lib.gpu.recordings import recording, recordings

from .runs import resources

MANY = 1 << 31  # what the header gives where a resource is not used

# Drawn from 2,000 launches that `cuda_occupancy.h` of CUDA 13.0 was compiled and asked for (400 of
# each card, all shared memory allowed, the largest carve-out); all of them were equal. Card,
# threads, registers, shared bytes; blocks, and blocks by registers and by shared memory.
BY_NVIDIA = [
    ("sm_75", 275, 91, 19337, 2, 2, 3),
    ("sm_75", 862, 181, 43855, 0, 0, 1),
    ("sm_75", 832, 46, 0, 1, 1, MANY),
    ("sm_75", 58, 46, 0, 16, 20, MANY),
    ("sm_75", 235, 49, 7015, 4, 4, 9),
    ("sm_80", 963, 220, 17323, 0, 0, 9),
    ("sm_80", 833, 66, 19131, 1, 1, 8),
    ("sm_80", 201, 86, 40139, 2, 2, 4),
    ("sm_80", 748, 14, 0, 2, 5, 164),
    ("sm_80", 375, 96, 0, 1, 1, 164),
    ("sm_86", 115, 212, 41425, 2, 2, 2),
    ("sm_86", 102, 106, 25886, 3, 4, 3),
    ("sm_86", 428, 86, 20110, 1, 1, 4),
    ("sm_86", 633, 17, 25517, 2, 4, 3),
    ("sm_89", 70, 123, 3440, 5, 5, 22),
    ("sm_89", 475, 60, 0, 2, 2, 100),
    ("sm_89", 801, 3, 5278, 1, 9, 16),
    ("sm_89", 943, 25, 22003, 1, 2, 4),
    ("sm_89", 99, 166, 0, 3, 3, 100),
    ("sm_90", 457, 108, 0, 1, 1, 228),
    ("sm_90", 271, 149, 16369, 1, 1, 13),
    ("sm_90", 131, 96, 13907, 4, 4, 15),
    ("sm_90", 611, 176, 0, 0, 0, 228),
]


@pytest.mark.parametrize(
    ("name", "threads", "registers", "shared", "blocks", "by_registers", "by_shared"), BY_NVIDIA
)
def test_as_the_header_says(name: str, threads: int, registers: int, shared: int, blocks: int,
                            by_registers: int, by_shared: int) -> None:  # fmt: skip
    card = CARDS[name]
    found = occupancy(card, threads, registers, shared)
    assert found.blocks == blocks
    assert found.limits["registers"] == by_registers
    assert found.limits["shared"] == min(by_shared, card.blocks)
    assert found.warps == blocks * found.warps_per_block <= card.warps


@pytest.mark.parametrize("name", recordings())
def test_as_a_profiler_says(name: str) -> None:
    recorded = recording(name).counters
    found = occupancy(H200.card, *resources(recording(name)),
                      default_carveout(H200.card, *resources(recording(name))))  # fmt: skip
    assert found.limits["registers"] == recorded["blocks_per_sm_by_registers"]
    assert found.limits["shared"] == recorded["blocks_per_sm_by_shared"]
    assert found.limits["warps"] == recorded["blocks_per_sm_by_warps"]
    # what ran was never more than what fits
    assert recorded["warps_active_percent"] <= 100 * found.share


def test_what_limits() -> None:
    card = CARDS["sm_90"]
    assert occupancy(card, 256, 32).limited_by == "warps"
    assert occupancy(card, 256, 40).limited_by == "registers"
    assert occupancy(card, 256, 32, 40_000).limited_by == "shared"
    assert occupancy(card, 32, 32).limited_by == "blocks"
    assert occupancy(card, 256, 32, 4096, carveout=8192).blocks == 1


@pytest.mark.parametrize("sizes", [(0, 32, 0), (1025, 32, 0), (256, -1, 0), (256, 32, -1)])
def test_sizes_that_no_launch_has(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no launch has"):
        occupancy(CARDS["sm_90"], *sizes)


@pytest.mark.parametrize(("registers", "shared"), [(256, 0), (32, 227 * 1024 + 1)])
def test_a_launch_that_fails(registers: int, shared: int) -> None:
    assert occupancy(CARDS["sm_90"], 256, registers, shared).blocks == 0
