"""What a kernel must not do, and what is not supported, is told with line, thread and block."""

import numpy as np
import pytest

from course_lib.gpu.ptx.parts import PtxError
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import Empty, launch
from course_lib.gpu.simt.wave import Fault

HEAD = """.version 8.3
.target sm_90
.address_size 64
.entry k(.param .u64 x, .param .u32 n)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<3>;
  .shared .align 4 .b8 t[64];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; ld.param.u64 %rd0, [x];
"""  # what comes next is line 9


def run(body: str, grid=(1,), block=(32,), arguments=None):
    arguments = arguments or [np.zeros(64, np.float32), np.uint32(0)]
    return launch(read(f"{HEAD}{body}\nret; }}").entry(), grid, block, arguments)


@pytest.mark.parametrize(("body", "said"), [
    ("tex.2d.v4.f32.s32 %r1, %r2;", "tex.2d.v4.f32.s32 is not supported"),
    ("add.s32 %r1, %r77, 1;", "%r77 is not declared"),
    ("add.s32 %r1, %rx, 1;", "%rx is not declared"),
    ("bra NOWHERE;", "no label NOWHERE"),
    ("add.s32 %r1, %r2;", "add.s32 has 3 operands, not 2"),
    ("add.s32 %r1, %r2, %r3, %r4;", "add.s32 has 3 operands, not 4"),
    ("add.s64 %rd1, %r2, %rd3;", "add.s64 reads 64 bits, and %r2 has 32"),
    ("add.s32 %r1, %r2, 4294967296;", "4294967296 has more than 32 bits"),
    ("selp.b32 %r1, %r2, %r3, %r4;", "reads 1 bits, and %r4 has 32"),
    ("@%r1 mov.u32 %r1, 0;", "%r1 is no predicate"),
    ("add.rz.f32 %f1, %f2, %f3;", "add.rz.f32 is not supported; no meaning is known for .rz"),
    ("ld.global.f32 %f1, [y];", "no variable y"),
    ("ld.global.f32 %f1, %rd0;", "ld.global.f32 has no address"),
    ("ld.global.f32 %f1;", "ld.global.f32"),
    ("st.global.f32 [%rd0];", "st.global.f32"),
    ("shfl.sync.idx.b32 %r1;", "shfl.sync.idx.b32"),
    ("vote.sync.all.pred %p1;", "vote.sync.all.pred"),
    ("vote.sync.pred %p1, %p0, -1;", "vote.sync.pred"),
    ("shfl.sync.b32 %r1, %r2, 1, 31, -1;", "shfl.sync.b32"),
    ("atom.global.add.u32 %r1;", "atom.global.add.u32"),
    ("atom.global.add %r1, [%rd0], 1;", "atom.global.add"),
    ("atom.global.cas.b32 %r1, [%rd0], 1;", "atom.global.cas.b32"),
    ("add %r1, %r2, %r3;", "add has other types or operands than it needs"),
    ("cvt.s32 %r1, %r2;", "cvt.s32"),
    ("cvt.s32.f32 %r1, %f1;", "cvt.s32.f32 is not supported"),
    ("setp.s32 %p1, %r1, %r2;", "it names no comparison"),
    ("mul.s32 %r1, %r2, %r3;", "mul.s32 is not supported"),
    ("mov.u32 5, %r1;", "mov.u32 cannot write 5"),
    ("and.f32 %f1, %f2, %f3;", "and.f32 has other types or operands than it needs"),
    ("popc.f32 %r1, %f3;", "popc.f32 has other types or operands than it needs"),
    ("ld.global.v2.f32 %f1, [%rd0];", "ld.global.v2.f32 moves 2 registers, not 1"),
    ("ld.global.f32 {%f1, %f2}, [%rd0];", "ld.global.f32 moves 1 registers, not 2"),
    ("st.global.v4.f32 [%rd0], {%f1, %f2, %f3};", "st.global.v4.f32 moves 4 registers, not 3"),
    ("AT: mov.u32 %r1, 0; AT: mov.u32 %r1, 1;", "the label AT stands twice"),
    ("selp.b32 %r1, %r2, %r3, !%r4;", "%r4 is no predicate"),
    ("bra;", "bra"), ("bra 5;", "bra"), ("bra %r1;", "bra"),
    ("bar.red.popc.u32 %r1, 0, %p1;", "bar.red.popc.u32 is not supported"),
    ("bar.arrive 0, 64;", "bar.arrive is not supported"),
    ("barrier.cluster.arrive;", "barrier.cluster.arrive is not supported"),
])  # fmt: skip
def test_what_is_wrong_with_a_text_is_told_with_its_line(body, said):
    with pytest.raises(PtxError) as caught:
        run(body)
    assert str(caught.value).startswith("line 9: ") and said in str(caught.value)


@pytest.mark.parametrize(("body", "said"), [
    ("mad.wide.u32 %rd1, %r0, 4, %rd0; ld.global.f32 %f1, [%rd1+180];",
     "outside all of global memory: 0 bytes behind the end of x, by thread 19 of block 0"),
    ("ld.global.f32 %f1, [%rd0+-4];", "outside all of global memory"),
    ("ld.global.f32 %f1, [16];", "outside all of global memory"),
    ("st.global.u8 [%rd0+256], %r1;", "0 bytes behind the end of x, by thread 0 of block 0"),
    ("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+248];", "no multiple of 16: byte 248 of x"),
    ("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+256];", "outside all of global memory"),
    ("mad.wide.u32 %rd1, %r0, 2, %rd0; ld.global.f32 %f1, [%rd1];",
     "an address that is no multiple of 4: byte 2 of x, by thread 1 of block 0"),
    ("st.shared.f32 [t+64], %f1;", "outside all of shared memory"),
    ("st.shared.f32 [t+-4], %f1;", "outside all of shared memory"),
    ("ld.shared.u32 %r1, [t];", "memory that nothing has been written to: byte 0 of the shared "
     "memory of block 0, by thread 0 of block 0"),
    ("atom.global.add.u32 %r1, [%rd0+2], 1;", "no multiple of 4"),
    ("red.global.add.u32 [%rd0+256], 1;", "outside all of global memory"),
])  # fmt: skip
def test_accesses_that_are_wrong(body, said):
    with pytest.raises(Fault) as caught:
        run(body)
    assert str(caught.value).startswith("line 9: ") and said in str(caught.value)


def test_a_fault_names_the_thread_and_the_block_by_their_places():
    body = """mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.y; setp.eq.u32 %p0, %r2, 1;
      setp.eq.and.u32 %p0, %r3, 2, %p0; setp.eq.and.u32 %p0, %r0, 3, %p0;
      @%p0 ld.global.u32 %r1, [%rd0+1024];"""
    with pytest.raises(Fault, match=r"line 11: .* by thread \(3, 1\) of block \(0, 2\)"):
        run(body, grid=(2, 3), block=(8, 2))


def test_a_fault_on_one_side_of_a_branch_names_a_thread_that_is_there():
    body = """setp.lt.u32 %p0, %r0, 20;
      @%p0 bra END; ld.global.u32 %r1, [%rd0+1024]; END:"""
    with pytest.raises(Fault, match=r"line 10: .* by thread 20 of block 0"):
        run(body)


def test_memory_that_nobody_has_written():
    with pytest.raises(Fault, match="nothing has been written to: byte 8 of x"):
        run("st.global.u64 [%rd0], %rd1; ld.global.u32 %r1, [%rd0+8];",
            arguments=[Empty(64), np.uint32(0)])  # fmt: skip
    run("st.global.u64 [%rd0], %rd1; ld.global.u32 %r1, [%rd0+4];",
        arguments=[Empty(64), np.uint32(0)])  # fmt: skip


def test_a_barrier_where_lanes_have_parted():
    with pytest.raises(Fault, match=r"line 9: a barrier that not all threads .* of block 0"):
        run("setp.lt.u32 %p0, %r0, 7; @%p0 bra END; bar.sync 0; END:")
    run("setp.lt.u32 %p0, %r0, 7; @%p0 ret; bar.sync 0;")  # who has ended is not waited for


def test_a_barrier_with_a_guard():
    """A warp none of whose lanes comes does not wait; one of which some come is wrong."""
    with pytest.raises(Fault, match=r"line 9: a barrier that not all threads .* thread 0 of block"):
        run("setp.lt.u32 %p0, %r0, 7; @%p0 bar.sync 0;")
    body = """setp.lt.u32 %p0, %r0, 32; mov.u32 %r2, t; @%p0 st.shared.u32 [t], 5;
      @%p0 bar.sync 0; @%p0 ld.shared.u32 %r3, [t]; st.global.u32 [%rd0], 7;"""
    assert run(body, block=(64,)).arrays[0] is not None
    parted = "setp.lt.u32 %p0, %r0, 7; @%p0 bra END; @%p0 bar.sync 0; END:"
    assert run(parted).arrays[0] is not None


def test_variables_that_are_too_large():
    with pytest.raises(PtxError, match=r"k needs 1,048,576 bytes of shared memory; a block has"):
        big = HEAD.replace("t[64]", "t[1048576]")
        launch(read(f"{big}\nret; }}").entry(), (1,), (1,), [np.zeros(1), np.uint32(0)])
    with pytest.raises(ValueError, match="4,294,967,296 bytes"):
        run("", arguments=[Empty(1 << 50), np.uint32(0)])


def test_launches_that_do_not_fit():
    with pytest.raises(ValueError, match="at most 1,024 threads, not 1,056"):
        run("", block=(33, 32))
    with pytest.raises(ValueError, match="k has 2 parameters, got 1 arguments"):
        run("", arguments=[np.uint32(0)])
    with pytest.raises(ValueError, match=r"n has 4 bytes \(u32\), got .* of 8"):
        run("", arguments=[np.zeros(4), np.int64(0)])
    for grid in ((), (0,), (1, 1, 1, 1), (-1,)):
        with pytest.raises(ValueError, match="grid is one to three sizes of at least 1"):
            run("", grid=grid)


def test_a_guard_that_a_comparison_overwrites_is_read_once():
    """@!%p0 setp...|... with %p0 among its results: both are written, or none."""
    body = """setp.ne.u32 %p0, %r0, %r0; setp.eq.u32 %p1, %r0, %r0;
      @!%p0 setp.lt.u32 %p0|%p1, %r1, 5;
      selp.u32 %r2, 1, 0, %p0; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%rd0], {%r2, %r3};"""
    found = run(body, arguments=[np.zeros(2, np.uint32), np.uint32(0)], block=(1,)).arrays[0]
    assert found is not None and found.tolist() == [1, 0]
