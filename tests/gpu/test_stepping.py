"""A warp's instructions one by one: the text around, active lanes, values."""

import numpy as np

from course_lib.gpu.count.stepping import FirstWarp, steps
from course_lib.gpu.ptx.read import read
from course_lib.gpu.simt.machine import launch

TEXT = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra Few;
    cvt.rn.f32.u32 %f1, %r1;
    bra End;
Few:
    sub.s32 %r3, %r1, 5;
End:
    ret;
}"""


def test_lanes_that_part_are_shown_one_side_after_the_other():
    entry, watch = read(TEXT).entry(), FirstWarp(20)
    launch(entry, (2,), (64,), [np.zeros(1, np.uint64)], watches=[watch])
    lanes = {entry.instructions[d.number].line: int(d.lanes.sum()) for d in watch.found}
    assert lanes == {7: 32, 8: 32, 9: 32, 10: 32, 11: 29, 12: 29, 14: 3, 16: 32}
    text = steps(entry, watch).text
    assert "%r2 = 0 in all of them" in text
    assert "→    14  sub.s32 %r3, %r1, 5" in text and "lanes  ███····" in text
    assert "lane  0: -5  -4  -3   ·" in text
    assert "lane  0:  ·   ·   ·   3   4" in text


def test_it_ends_after_so_many_instructions():
    entry, watch = read(TEXT).entry(), FirstWarp(4)
    launch(entry, (1,), (32,), [np.zeros(1, np.uint64)], watches=[watch])
    assert [entry.instructions[d.number].line for d in watch.found] == [7, 8, 9, 10]
