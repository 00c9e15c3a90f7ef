"""Races are found and told; right programs have none, in whatever order their warps run."""

import numpy as np
import pytest

from course_lib.gpu.count.races import Races
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import Empty, launch
from course_lib.gpu.simt.wave import Fault

HEAD = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;
    .shared .align 4 .b8 t[1024];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, t;
    add.s32 %r5, %r4, %r3;
"""
NEXT = "xor.b32 %r6, %r3, {}; add.s32 %r7, %r4, %r6;"  # the slot of thread tid ^ n
STORE, LOAD = "st.shared.u32 [%r5], %r1;", "ld.shared.u32 %r8, [%r7];"


def races(body: str, grid=1, block=64, words=64):
    entry = read(HEAD + body + "ret; }").entry()
    watch = Races()
    launch(entry, (grid,), (block,), [np.zeros(words, np.int32)], watches=[watch])
    return watch.found


def test_a_missing_barrier_is_told_with_both_lines_threads_and_the_address():
    (race,) = races("\n".join([STORE, NEXT.format(128), LOAD]))
    assert [i.opcode for i in race.lines] == ["st.shared.u32", "ld.shared.u32"]
    assert [i.line for i in race.lines] == [14, 16]
    text = str(race)
    assert "byte 128 of the shared memory of block 0 (address 0x80)" in text
    assert "line 14: `st.shared.u32 [%r5], %r1`, by thread 32 of block 0" in text
    assert "by thread 0 of block 0" in text


def test_a_barrier_orders_the_threads_of_a_block():
    assert races("\n".join([STORE, "bar.sync 0;", NEXT.format(128), LOAD])) == []


def test_a_write_after_a_read_is_a_race_too():
    body = [STORE, "bar.sync 0;", NEXT.format(128), LOAD, STORE]
    (race,) = races("\n".join(body))
    assert sorted(i.opcode for i in race.lines) == ["ld.shared.u32", "st.shared.u32"]


def test_lanes_of_a_warp_need_a_barrier_as_well():
    assert len(races("\n".join([STORE, NEXT.format(4), LOAD]), block=32)) == 1
    synced = [STORE, "bar.warp.sync 0xffffffff;", NEXT.format(4), LOAD]
    assert races("\n".join(synced), block=32) == []
    assert len(races("\n".join(synced), block=64)) == 0  # neighbours are in one warp
    across = [STORE, "bar.warp.sync 0xffffffff;", NEXT.format(128), LOAD]
    assert len(races("\n".join(across), block=64)) == 1


def test_two_threads_that_write_one_place_at_once():
    (race,) = races("st.shared.u32 [%r4], %r1;")
    assert race.lines[0] is race.lines[1] and race.threads[0] != race.threads[1]


def test_many_readers_are_no_race_and_one_writer_among_them_is():
    assert races("ld.global.u32 %r8, [%rd1];", grid=4) == []
    body = "ld.global.u32 %r8, [%rd1]; setp.eq.u32 %p1, %r1, 7; @%p1 st.global.u32 [%rd1], %r1;"
    assert len(races(body, grid=1)) >= 1


def test_no_barrier_orders_two_blocks():
    body = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;"
    assert races(body) == []
    (race,) = races(body, grid=2)
    assert {told.split(" of ")[1] for told in race.threads} == {"block 0", "block 1"}


def test_atomics_race_with_nobody_but_with_plain_accesses():
    assert races("red.global.add.u32 [%rd1], 1;", grid=4) == []
    found = races("red.global.add.u32 [%rd1], 1; ld.global.u32 %r8, [%rd1];", grid=4)
    assert len(found) == 1


def test_a_flag_that_is_set_by_an_atomic_orders_what_was_written_before_it():
    write = "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd1+64], %r2; membar.gl;"
    body = [write, "atom.global.add.u32 %r8, [%rd1], 1;", "setp.eq.u32 %p2, %r2, 1;",
            "@%p2 ld.global.u32 %r9, [%rd1+64];"]  # fmt: skip
    assert races("\n".join(body), grid=2, block=1) == []


def test_halves_of_a_word_belong_to_two_threads():
    body = """shl.b32 %r6, %r1, 1; add.s32 %r7, %r4, %r6; cvt.u16.u32 %rs1, %r1;
              st.shared.u16 [%r7], %rs1;"""
    assert races(".reg .b16 %rs<3>;" + body) == []


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_warps_gives_the_same(seed):
    body = f"""{STORE} bar.sync 0; {NEXT.format(128)} {LOAD}
        mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r8;"""
    entry = read(HEAD + body + "ret; }").entry()
    run = launch(entry, (1,), (64,), [Empty(256)], order=np.random.default_rng(seed))
    (out,) = run.arrays
    assert out is not None and out.view(np.uint32).tolist() == [n ^ 32 for n in range(64)]


def test_a_barrier_that_half_a_warp_comes_to_is_told():
    body = "setp.lt.u32 %p1, %r1, 16; @%p1 bra L; bar.sync 0; L:"
    with pytest.raises(Fault, match="line 14: a barrier that not all threads of its warp come to"):
        races(body)
