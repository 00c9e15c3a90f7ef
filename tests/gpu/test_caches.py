"""The caches: equal to plain Python on small ones, and compared with an H200, kernel by kernel."""

from collections import OrderedDict, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.gpu.count.caches import KINDS, L1_SETS, L2_WAYS, LINE, Caches, lines
from course_lib.gpu.count.cards import H200
from course_lib.gpu.count.lru import present
from course_lib.gpu.ptx.read import read
from course_lib.gpu.recordings import recording, recordings
from course_lib.gpu.simt.frame import LANES, Array, Frame
from course_lib.gpu.simt.machine import THREADS, launch
from course_lib.gpu.simt.memory import GLOBAL
from course_lib.gpu.simt.wave import Watch

from .runs import counted

# For each kernel, recorded on an H200 and counted here: sectors of loads that hit L1, the first
# less the second; sectors that L2 is asked for, the first by the second; bytes from DRAM, the
# first less the second. Bytes that are more are the program's own.
COMPARED = {
    "copy_stride1": (0, 1.01, 4_608),
    "copy_stride2": (320, 1.00, 4_608),
    "copy_stride4": (5_664, 0.99, 4_608),
    "copy_stride8": (36_600, 0.96, 4_608),
    "copy_stride32": (74_796, 0.88, 4_608),
    "copy_offset1": (3, 1.00, 2_816),
    "copy_offset8": (0, 1.01, 2_816),
    "copy_vec4": (0, 1.01, 2_816),
    "copy_half": (0, 0.99, 2_560),
    "gather": (13_991, 0.98, 2_816),
    "grid_stride": (0, 1.00, 2_816),
    "transpose_naive": (0, 1.01, 3_072),
    "transpose_shared": (0, 1.01, 3_328),
    "transpose_padded1": (0, 1.01, 3_328),
    "shared_stride0": (0, 0.97, 2_816),
    "shared_stride1": (0, 0.97, 3_840),
    "shared_stride2": (0, 0.97, 3_584),
    "shared_stride8": (0, 0.97, 3_840),
    "shared_stride32": (0, 0.97, 3_840),
    "shared_vec4": (0, 1.01, 2_816),
    "reduce_interleaved": (0, 1.03, 3_584),
    "reduce_sequential": (0, 1.03, 3_328),
    "reduce_shuffle": (0, 1.03, 3_328),
    "diverge_lane": (0, 1.06, 10_944),
    "diverge_warp": (0, 1.06, 10_944),
    "trip_counts": (-679, 0.92, 5_312),
    "histogram_global": (0, 1.02, 2_816),
    "stencil_global": (0, 1.03, 4_864),
    "stencil_shared": (0, 1.03, 5_120),
    "softmax_row": (0, 1.09, 13_824),
    "matmul_naive": (7_680, 0.56, 5_632),
    "matmul_tile16": (7_680, 0.62, 8_192),
    "matmul_regs": (0, 0.90, 9_728),
    "matmul_wmma": (3_360, 0.75, 6_400),
}
HITS, ASKED, FETCHED = "global_load_sectors_hit_l1", "l2_read_sectors", "dram_bytes_read"
LOADED = "global_load_sectors"


@pytest.mark.parametrize("name", recordings())
def test_beside_a_card(name: str) -> None:
    recorded, here = recording(name).counters, counted(name).cached
    ratio = round(recorded[ASKED] / here[ASKED], 2)
    found = (recorded[HITS] - here[HITS], ratio, recorded[FETCHED] - here[FETCHED])
    assert found == COMPARED[name]


def test_bounds() -> None:
    """What the docstring of `caches.py` says."""
    assert all(2_500 < extra < 14_000 for _, _, extra in COMPARED.values())
    matmuls = {"matmul_naive", "matmul_tile16", "matmul_wmma"}
    assert all(
        0.87 < ratio < 1.1 for name, (_, ratio, _) in COMPARED.items() if name not in matmuls
    )
    apart = {name for name, (hits, _, _) in COMPARED.items() if hits}
    at_once = {n for n in COMPARED if counted(n).shape.blocks <= 132 * counted(n).fits.blocks}
    assert apart & at_once == matmuls | {"trip_counts"}
    assert len(COMPARED.keys() - apart) == 24
    for name in apart:
        assert 0.928 < _missed(name, counted(name).cached) < 1.003


@pytest.mark.parametrize("name", ["copy_stride4", "copy_stride8", "copy_stride32", "gather"])
def test_later_blocks_go_where_there_is_room(name: str) -> None:
    """Drawn at random, which comes nearer to the card than the next one in turn."""
    run = counted(name)
    drawn = Caches(H200, resident=run.fits.blocks, order=np.random.default_rng(0))
    drawn.kernel, drawn.shape, drawn.rows = run.caches.kernel, run.caches.shape, run.caches.rows
    in_turn, anywhere = _missed(name, run.cached), _missed(name, drawn.total())
    assert abs(np.log(anywhere)) < abs(np.log(in_turn))
    assert 0.965 < anywhere < 1.005


@pytest.mark.parametrize("name", ["copy_stride8", "trip_counts", "softmax_row", "matmul_tile16"])
def test_blocks_at_once_or_one_after_the_other(name: str) -> None:
    """L1 is hit as often if the blocks that a multiprocessor holds take turns."""
    run = counted(name)
    together = max(1, THREADS // (run.shape.warps * LANES))  # blocks that the machine runs at once
    wave = [int(block[0]) // together for block, *_ in run.caches.rows]
    turns = np.repeat([at - wave.index(w) for at, w in enumerate(wave)],
                      [len(block) for block, *_ in run.caches.rows])  # fmt: skip
    block, kind, line, mask = (np.concatenate(c) for c in zip(*run.caches.rows, strict=True))
    round_ = block // H200.multiprocessors
    where = run.caches.dealt()[block]
    order = np.lexsort((block, turns, round_ // run.fits.blocks, where))
    order = order[kind[order] == KINDS["load"]]
    number = line[order]
    sets = where[order] * L1_SETS + (number ^ number >> 6 ^ number >> 12) % L1_SETS
    found = present(sets, number, mask[order], run.caches.l1_ways) & mask[order]
    assert np.bitwise_count(found).sum() == run.cached[HITS]


def _missed(name: str, cached: dict[str, int]) -> float:
    """Sectors that missed L1 on the card, by those that miss it here."""
    recorded = recording(name).counters
    return (recorded[LOADED] - recorded[HITS]) / (recorded[LOADED] - cached[HITS])


# ── plain Python ──


class PlainCache:
    """A sectored cache, one request after the other."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        self.sets: dict[int, OrderedDict[int, int]] = defaultdict(OrderedDict)

    def ask(self, group: int, line: int, mask: int) -> int:
        """The sectors of the line that were there."""
        there = self.sets[group]
        found = there.pop(line, 0)
        if len(there) == self.ways:
            there.popitem(last=False)
        there[line] = found | mask
        return found


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 15)), max_size=60),
    st.integers(1, 4),
)
def test_one_request_after_the_other(requests: list[tuple[int, int, int]], ways: int) -> None:
    cache = PlainCache(ways)
    plain = [cache.ask(*request) for request in requests]
    group, line, mask = np.array(requests, np.int64).reshape(-1, 3).T
    assert present(group, line, mask.astype(np.uint8), ways).tolist() == plain


class Trace(Watch):
    """Each request: block, kind, the addresses of the active lanes, bytes of each."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, list[int], int]] = []

    def access(self, frame: Frame, number: int, kind: str, space: str, address: Array, place: Array,
               nbytes: int, lanes: Array | None) -> None:  # fmt: skip
        if space != GLOBAL:
            return
        takes = np.ones(frame.shape, bool) if lanes is None else np.broadcast_to(lanes, frame.shape)
        place = np.broadcast_to(place, frame.shape)
        blocks = frame.wave.block_numbers[frame.blocks[0]]
        for w in range(len(frame.warps)):
            mine = [int(place[lane, w]) for lane in range(LANES) if takes[lane, w]]
            self.found.append((int(blocks[w]), kind, mine, nbytes))


def requests_of(trace: Trace) -> list[tuple[int, str, int, int]]:
    """Block, kind, line, sectors as bits."""
    found = []
    for block, kind, places, _ in trace.found:
        for line in sorted({place // LINE for place in places}):
            inside = {place % LINE // 32 for place in places if place // LINE == line}
            found.append((block, kind, line, sum(1 << sector for sector in inside)))
    return found


SMALL = replace(
    H200, card=replace(H200.card, first_level=2 * L1_SETS * LINE), multiprocessors=3,
    second_level=4 * L2_WAYS * LINE,
)  # fmt: skip


def plain_total(trace: Trace) -> dict[str, int]:
    """What `Caches(SMALL).total()` should be."""
    requests = requests_of(trace)
    first, second = PlainCache(2), PlainCache(L2_WAYS)
    hits = [0] * len(requests)
    for at in sorted(range(len(requests)), key=lambda at: requests[at][0]):
        block, kind, line, mask = requests[at]
        if kind == "load":
            index = (line ^ line >> 6 ^ line >> 12) % L1_SETS
            hits[at] = mask & first.ask(block % 3 * L1_SETS + index, line, mask)
    readers: dict[tuple[int, int], set[int]] = defaultdict(set)
    fetched, asked, atomics = 0, 0, dict.fromkeys((line for _, _, line, _ in requests), 0)
    for (block, kind, line, mask), hit in zip(requests, hits, strict=True):
        rest = mask & ~hit
        if kind == "load":
            asked += rest.bit_count()
            for sector in range(4):
                if rest >> sector & 1:
                    readers[line, sector].add(block % 3)
        if kind == "atomic":
            atomics[line] += mask.bit_count()
        if rest:
            pairs = (3 if rest & 3 else 0) | (12 if rest & 12 else 0)
            wanted = rest if kind == "store" else pairs
            found = second.ask(line % 4, line, wanted)
            fetched += 0 if kind == "store" else (wanted & ~found).bit_count()
    across = sum((1 - Fraction(1, 2) ** len(who) for who in readers.values()), Fraction(0))
    return {HITS: sum(map(int.bit_count, hits)), ASKED: asked + round(across),
            FETCHED: 32 * fetched, "atomic_sectors_of_a_line": max(atomics.values())}  # fmt: skip


@pytest.mark.parametrize(("name", "grid", "block", "n"), [
    ("copy_stride8", (8,), (256,), 4096), ("copy_offset1", (5,), (100,), 450),
    ("gather", (6,), (256,), 1500), ("trip_counts", (5,), (128,), 700),
    ("histogram_global", (4,), (256,), 1000), ("transpose_naive", (3, 3), (32, 8), 96),
    ("matmul_naive", (3, 3), (16, 16), 48), ("stencil_global", (7,), (64,), 400),
    ("matmul_wmma", (3, 2), (32,), 48),
])  # fmt: skip
def test_small_caches_by_hand(
    name: str, grid: tuple[int, ...], block: tuple[int, ...], n: int
) -> None:
    """Three multiprocessors with 16 KB of L1 each, and 8 KB of L2, so that lines are thrown out."""
    found = recording(name)
    caches, trace = Caches(SMALL), Trace()
    launch(found.entry, grid, block, found.arguments(n, length=16_384), [caches, trace])
    assert caches.total() == plain_total(trace)


@given(st.lists(st.integers(0, 600), min_size=64, max_size=64), st.lists(st.booleans(),
       min_size=64, max_size=64), st.sampled_from([1, 4, 16, 4096]))  # fmt: skip
def test_lines_of_any_addresses(units: list[int], active: list[bool], unit: int) -> None:
    place = np.array(units, np.int64).reshape(LANES, 2) * unit
    takes = np.array(active).reshape(LANES, 2)
    for lanes in (takes, None):
        by_hand: dict[tuple[int, int], int] = defaultdict(int)
        for lane, w in np.argwhere(np.ones_like(takes) if lanes is None else lanes).tolist():
            at = int(place[lane, w])
            by_hand[w, at // LINE] |= 1 << at % LINE // 32
        found = zip(*(column.tolist() for column in lines(place, lanes)), strict=True)
        assert {(w, line): mask for w, line, mask in found} == by_hand


TWICE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x)
{{
  .reg .b64 %rd<2>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  ld.global{how}.f32 %f1, [%rd1];
  ld.global{how}.f32 %f2, [%rd1];
  ret;
}}
"""


@pytest.mark.parametrize(("how", "hits", "asked"), [("", 1, 1), (".cg", 0, 2), (".ca", 1, 1)])
def test_loads_that_pass_l1_by(how: str, hits: int, asked: int) -> None:
    """One sector twice: with L1 the second load hits it. (The half sector that is expected to go
    across L2 is rounded down.)"""
    caches = Caches()
    launch(read(TWICE.format(how=how)).entry(), (1,), (1,), [np.zeros(8, np.float32)], [caches])
    assert caches.total()[HITS] == hits
    assert caches.total()[ASKED] == asked


def test_nothing_asked_and_no_room() -> None:
    caches = Caches()
    text = TWICE.format(how="").replace("ld.global.f32", "// ")
    launch(read(text).entry(), (1,), (1,), [np.zeros(8, np.float32)], [caches])
    assert set(caches.total().values()) == {0}
    assert set(KINDS) == {"load", "store", "atomic"}
    with pytest.raises(ValueError, match="no L1"):
        Caches(H200, carveout=256 * 1024)
