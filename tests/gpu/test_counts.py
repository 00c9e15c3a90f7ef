"""What the machine counts is what Nsight Compute counted, and what one counts by hand.

34 kernels as they were launched on an H200; then the same kernels with other sizes, against a count
in plain sets that knows nothing of `count/lines.py`.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.gpu.count.counters import Counters
from course_lib.gpu.count.lines import sectors, wavefronts
from course_lib.gpu.ptx.parts import Entry
from course_lib.gpu.ptx.read import read
from course_lib.gpu.recordings import recording, recordings
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.machine import launch
from course_lib.gpu.simt.memory import GLOBAL
from course_lib.gpu.simt.wave import Watch

from .runs import COUNTED, count, counted

Size = tuple[int, ...]
WARPS, STEPS = 8, 8  # of the blocks of 256 threads that reduce in shared memory

# ptxas makes no branch of `if (i < s) t[i] += t[i+s];` but gives each instruction a guard, and a
# profiler counts those too for which the guard holds for no lane: every warp has two loads and a
# store in each step. The machine counts warps that have an active lane, so that it counts fewer of
# these instructions. Wavefronts are equal: without an active lane there is none.
PREDICATED = {
    # for each block: loads and stores of steps, and those before and after them
    "reduce_interleaved": (WARPS * STEPS * 2 + 1, WARPS * STEPS + WARPS),
    "reduce_sequential": (WARPS * STEPS * 2 + 1, WARPS * STEPS + WARPS),
    "softmax_row": (2 * (WARPS * STEPS * 2 + WARPS), 2 * (WARPS * STEPS + WARPS)),
}


@pytest.mark.parametrize("name", recordings())
def test_counts_what_a_profiler_counts(name: str) -> None:
    run = counted(name)
    recorded = run.recording.counters
    apart = {key for key in COUNTED if run.counters[key] != recorded[key]}
    if name not in PREDICATED:
        assert not apart, {key: (run.counters[key], recorded[key]) for key in apart}
        return
    assert apart == {"shared_load_instructions", "shared_store_instructions"}
    for kind, of_block in zip(("load", "store"), PREDICATED[name], strict=True):
        key = f"shared_{kind}_instructions"
        assert recorded[key] == of_block * run.shape.blocks > run.counters[key]


@pytest.mark.parametrize("name", recordings())
def test_computes_what_the_card_computed(name: str) -> None:
    """The file has six digits; the card's exponential is an approximation with an error of 2 units
    in the last place of a float."""
    recorded = recording(name).counters["sum_of_first_64"]
    assert counted(name).sum == pytest.approx(recorded, rel=2e-5)


@pytest.mark.parametrize("name", recordings())
def test_merged_loads(name: str) -> None:
    """Where ptxas merged loads, the text as it is written counts more of them; elsewhere what would
    be merged here changes no count."""
    found = recording(name)
    if found.assembled().instructions == found.entry.instructions:
        assert not found.merged
        return
    plain, merged = count(found, found.entry), counted(name).counters
    apart = {key for key in COUNTED if plain[key] != merged[key]}
    if found.merged:
        assert plain["shared_load_instructions"] > merged["shared_load_instructions"]
        assert apart <= {key for key in COUNTED if key.startswith("shared_load")}
    else:
        assert not apart


# ── other sizes, counted by hand ──

ANY = [((3,), (96,), 250), ((2,), (100,), 177), ((1,), (1024,), 1000), ((5,), (32,), 33)]
OF_256 = [((1,), (256,), 256), ((3,), (256,), 700)]
TILES = [((1, 1), (32, 8), 32), ((3, 2), (32, 8), 96)]
# 256 threads or a tile are in the text of some kernels; the others take blocks of any size
SIZES = {
    **dict.fromkeys(("transpose_naive", "transpose_shared", "transpose_padded1"), TILES),
    **dict.fromkeys((n for n in recordings() if n.startswith(("shared_", "reduce_"))), OF_256),
    "stencil_shared": OF_256,
    "softmax_row": [((2,), (256,), 1), ((2,), (256,), 100), ((1,), (256,), 515)],
    "matmul_naive": [((1, 1), (16, 16), 16), ((2, 1), (16, 8), 48), ((1, 2), (8, 4), 32)],
    "matmul_tile16": [((1, 1), (16, 16), 16), ((2, 1), (16, 16), 48)],
    "matmul_regs": [((1, 1), (16, 16), 64)],
    "matmul_wmma": [((1, 1), (32,), 16), ((3, 2), (32,), 48)],
}


class Addresses(Watch):
    """Every access: number of the instruction, kind, memory, bytes, and for each warp the addresses
    of its active lanes, by lane."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, str, int, list[dict[int, int]]]] = []

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        takes = np.ones(frame.shape, bool) if lanes is None else np.broadcast_to(lanes, frame.shape)
        address = np.broadcast_to(address, frame.shape)
        warps = [
            {lane: int(address[lane, w]) for lane in range(LANES) if takes[lane, w]}
            for w in range(len(frame.warps))
        ]
        self.found.append((number, kind, space, nbytes, [warp for warp in warps if warp]))


def sectors_by_hand(warp: dict[int, int], nbytes: int) -> int:
    return len({byte // 32 for start in warp.values() for byte in range(start, start + nbytes)})


def wavefronts_by_hand(warp: dict[int, int], nbytes: int, kind: str) -> tuple[int, int]:
    """Passes over the banks, and how many there would be without conflicts."""
    words = max(1, nbytes // 4)
    size = LANES // words
    if words > 1 and kind == "load" and any(neighbours_agree(warp, other) for other in (1, 2)):
        size *= 2
    passes = least = 0
    for first in range(0, LANES, size):
        wanted = {
            start // 4 + k
            for lane, start in warp.items()
            if first <= lane < first + size
            for k in range(words)
        }
        banks = [word % 32 for word in wanted]
        passes += max((banks.count(bank) for bank in banks), default=0)
        least += bool(wanted)
    return passes, least


def neighbours_agree(warp: dict[int, int], other: int) -> bool:
    return all(warp.get(lane ^ other, start) == start for lane, start in warp.items())


def count_by_hand(addresses: Addresses) -> dict[int, list[int]]:
    """Requests, sectors, wavefronts and conflicts of each instruction."""
    by_hand = {number: [0, 0, 0, 0] for number, *_ in addresses.found}
    for number, kind, space, nbytes, warps in addresses.found:
        total = by_hand[number]
        for warp in warps:
            total[0] += 1
            if space == GLOBAL:
                total[1] += sectors_by_hand(warp, nbytes)
            else:
                passes, least = wavefronts_by_hand(warp, nbytes, kind)
                total[2] += passes
                total[3] += passes - least
    return by_hand


def compare(entry: Entry, grid: Size, block: Size, arguments: list[Any]) -> None:
    counters, addresses = Counters(), Addresses()
    launch(entry, grid, block, arguments, [counters, addresses])
    assert addresses.found
    for number, total in count_by_hand(addresses).items():
        line = counters.line(number)
        found = [line.requests, line.sectors, line.wavefronts, line.conflicts]
        assert found == total, (grid, block, arguments[-1], str(entry.instructions[number]))


@pytest.mark.parametrize("name", recordings())
def test_other_sizes_counted_by_hand(name: str) -> None:
    found = recording(name)
    for grid, block, n in SIZES.get(name, ANY):
        compare(found.assembled(), grid, block, found.arguments(n, length=4096))


# The kernels that have a stride or an offset have it as one number of one line; it is replaced.
WRITTEN = {
    "copy_stride4": ("mul.wide.s32 \t%rd2, %r1, 4;", "mul.wide.s32 %rd2, %r1, {};"),
    "copy_offset1": ("add.s32 \t%r2, %r1, 1;", "add.s32 %r2, %r1, {};"),
    "shared_stride2": ("shl.b32 \t%r8, %r1, 1;", "mul.lo.s32 %r8, %r1, {};"),
}


@pytest.mark.parametrize("number", [0, 1, 3, 5, 6, 7, 12, 16, 31, 33, 100])
@pytest.mark.parametrize("name", WRITTEN)
def test_other_strides_and_offsets_counted_by_hand(name: str, number: int) -> None:
    found = recording(name)
    before, after = WRITTEN[name]
    assert found.text.count(before) == 1
    entry = read(found.text.replace(before, after.format(number))).entry()
    grid, block, n = ((2,), (256,), 512) if name.startswith("shared") else ((3,), (96,), 250)
    compare(entry, grid, block, found.arguments(n, length=4096))


BYTES = st.sampled_from([1, 2, 4, 8, 16])


@st.composite
def accesses(draw: st.DrawFn, sizes: st.SearchStrategy[int]) -> tuple[Array, int, Array | None]:
    """Aligned addresses of 32 lanes and some warps, the bytes of a lane, and who takes part."""
    warps, nbytes = draw(st.integers(1, 3)), draw(sizes)
    apart = draw(st.sampled_from([1, 2, 3, 8, 32, 33, 1000]))
    units = st.lists(st.integers(0, draw(st.sampled_from([3, 40, 300]))),
                     min_size=LANES * warps, max_size=LANES * warps)  # fmt: skip
    address = np.array(draw(units), np.int64).reshape(LANES, warps) * nbytes * apart
    partner = draw(st.sampled_from([0, 1, 2]))  # whose address is the same, as paired loads want it
    address = address[np.arange(LANES) & ~partner]
    bits = st.lists(st.booleans(), min_size=LANES * warps, max_size=LANES * warps)
    lanes = np.array(draw(bits)).reshape(LANES, warps) if draw(st.booleans()) else None
    return address, nbytes, lanes


def taking_part(address: Array, lanes: Array | None) -> list[dict[int, int]]:
    return [
        {k: int(address[k, w]) for k in range(LANES) if lanes is None or lanes[k, w]}
        for w in range(address.shape[1])
    ]


@given(accesses(BYTES))
def test_sectors_of_any_addresses(access: tuple[Array, int, Array | None]) -> None:
    address, nbytes, lanes = access
    by_hand = [sectors_by_hand(warp, nbytes) for warp in taking_part(address, lanes)]
    assert sectors(address, nbytes, lanes).tolist() == by_hand


@given(accesses(BYTES), st.sampled_from(["load", "store"]))
def test_wavefronts_of_any_addresses(access: tuple[Array, int, Array | None], kind: str) -> None:
    address, nbytes, lanes = access
    by_hand = [wavefronts_by_hand(warp, nbytes, kind)[0] for warp in taking_part(address, lanes)]
    assert wavefronts(address, nbytes, lanes, kind == "load").tolist() == by_hand


def test_an_access_that_no_card_has() -> None:
    with pytest.raises(ValueError, match="24 bytes"):
        sectors(np.zeros((LANES, 1), np.int64), 24, None)
