"""What lanes of a warp tell each other: shuffles with segments, votes, matches, who is active."""

import numpy as np
import pytest

from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import launch

from . import plain

HEAD = """.version 8.3
.target sm_90
.address_size 64
.entry k(.param .u64 out, .param .u64 in)
{ .reg .b32 %r<9>; .reg .b64 %a<4>; .reg .pred %p<4>;
  mov.u32 %r0, %tid.x; ld.param.u64 %a0, [out]; mad.wide.u32 %a0, %r0, 8, %a0;
  ld.param.u64 %a1, [in]; mad.wide.u32 %a1, %r0, 4, %a1; ld.global.u32 %r1, [%a1];
"""
TAIL = "selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%a0], {%r2, %r3}; ret; }"
SEGMENTS = {1: 31, 2: 30, 4: 28, 8: 24, 16: 16, 32: 0}  # lanes together: the bits of c's upper part


def lanes(body: str, given: np.ndarray, threads: int = 32) -> np.ndarray:
    """Result and predicate of each thread; the plain interpreter agrees."""
    entry = read(HEAD + body + TAIL).entry()
    out = np.zeros((threads, 2), np.uint32)
    run = launch(entry, (1,), (threads,), [out, given])
    wanted = plain.launch(entry, (1,), (threads,), [out, given])[0]
    assert run.arrays[0] is not None and wanted is not None
    assert run.arrays[0].tobytes() == wanted
    return run.arrays[0]


@pytest.fixture
def numbers():
    return np.arange(100, 196, dtype=np.uint32)


@pytest.mark.parametrize("width", SEGMENTS)
@pytest.mark.parametrize("by", [0, 1, 3, 15, 31])
def test_shuffles_within_segments(numbers, width, by):
    """As CUDA's __shfl_*_sync with a width: who would leave the segment keeps his own."""
    segment, lane = SEGMENTS[width] << 8, np.arange(64)
    first = lane // width * width
    for how, source, bound in (
        ("up", lane - by, segment), ("down", lane + by, segment | 31),
        ("bfly", lane ^ by, segment | 31), ("idx", first + by % width, segment | 31),
    ):  # fmt: skip
        found = lanes(f"shfl.sync.{how}.b32 %r2|%p1, %r1, {by}, {bound}, -1;", numbers, 64)
        # bfly may reach a segment before its own
        inside = source >= first if how == "up" else source < first + width
        assert (found[:, 1] == inside).all()
        assert (found[:, 0] == np.where(inside, source, lane) + 100).all()


def test_a_shuffle_by_what_each_lane_says(numbers):
    found = lanes("sub.u32 %r4, 31, %r0; shfl.sync.idx.b32 %r2, %r1, %r4, 31, -1;"
                  "setp.eq.u32 %p1, %r0, 99;", numbers)  # fmt: skip
    assert (found[:, 0] == numbers[:32][::-1]).all()


def test_votes():
    given = np.array([1] * 31 + [0], np.uint32)
    for how, wanted in (("all", 0), ("any", 1), ("uni", 0)):
        body = f"setp.ne.u32 %p0, %r1, 0; vote.sync.{how}.pred %p1, %p0, -1; mov.u32 %r2, 0;"
        assert (lanes(body, given)[:, 1] == wanted).all()
        assert (lanes(body, given * 0)[:, 1] == (how == "uni")).all()
        assert (lanes(body, given[:7], 7)[:, 1] == 1).all()
    body = "setp.ne.u32 %p0, %r1, 0; vote.sync.ballot.b32 %r2, !%p0, -1; not.pred %p1, %p0;"
    assert (lanes(body, given)[:, 0] == 1 << 31).all()
    assert (lanes(body, given[:7] * 0, 7)[:, 0] == 127).all()


def machine_only(body: str, given: np.ndarray, threads: int = 32) -> np.ndarray:
    out = np.zeros((threads, 2), np.uint32)
    run = launch(read(HEAD + body + TAIL).entry(), (1,), (threads,), [out, given])
    assert run.arrays[0] is not None
    return run.arrays[0][:, 0]


def test_who_has_the_same_value():
    given = (np.arange(32) % 5).astype(np.uint32)
    found = machine_only("match.any.sync.b32 %r2, %r1, -1; setp.eq.u32 %p1, %r0, 0;", given)
    wanted = [sum(1 << k for k in range(32) if k % 5 == lane % 5) for lane in range(32)]
    assert found.tolist() == wanted
    part = machine_only("match.any.sync.b32 %r2, %r1, -1; setp.eq.u32 %p1, %r0, 0;", given[:6], 6)
    assert part.tolist() == [33, 2, 4, 8, 16, 33]


def test_who_is_active_where_lanes_have_parted():
    body = """setp.lt.u32 %p1, %r1, 10; @%p1 bra FEW;
      activemask.b32 %r2; bra END;
    FEW: activemask.b32 %r2; END: """
    found = machine_only(body, np.arange(40, dtype=np.uint32), 40)
    few = (1 << 10) - 1
    assert found.tolist() == [few] * 10 + [~few & 0xFFFFFFFF] * 22 + [255] * 8


def test_masks_of_lanes():
    for name, wanted in (
        ("eq", lambda n: 1 << n), ("lt", lambda n: (1 << n) - 1), ("le", lambda n: (2 << n) - 1),
        ("gt", lambda n: -(2 << n)), ("ge", lambda n: -(1 << n)),
    ):  # fmt: skip
        body = f"mov.u32 %r2, %lanemask_{name}; setp.eq.u32 %p1, %r0, 0;"
        found = machine_only(body, np.zeros(32, np.uint32))
        assert found.tolist() == [wanted(n) & 0xFFFFFFFF for n in range(32)]
