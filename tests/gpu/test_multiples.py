"""What is known of a register's divisors holds, or nothing is said: addresses of merged loads."""

import pytest

from course_lib.gpu.ptx.merging import multiples
from course_lib.gpu.ptx.read import read

HEAD = """.version 8.3
.target sm_90
.entry k() { .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .f32 %f<3>; .shared .align 16 .b8 t[64];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mul.wide.u32 %d1, %r2, 4096;
"""


@pytest.mark.parametrize(("line", "known"), [
    ("add.s32 %r3, %r2, 32;", 16), ("mad.lo.s32 %r3, %r1, 8, %r2;", 8),
    ("shl.b32 %r3, %r1, -1;", 1), ("shl.b32 %r3, %r1, 255;", 1), ("shl.b32 %r3, %r2, 2;", 64),
    ("mov.b64 {%r4, %r3}, %d1;", 1),  # the upper half of a multiple of 2^16 may be anything
    ("mov.b32 %f1, %r2; cvt.rzi.s32.f32 %r3, %f1;", 1),
    ("cvt.sat.u8.u32 %r3, %r2;", 1),  # 255
    ("mov.u32 %r3, %r2; @%p1 mov.u32 %r3, 4;", 4),
])  # fmt: skip
def test_what_a_register_is_a_multiple_of(line, known):
    entry = read(f"{HEAD} .reg .pred %p<2>; {line} ret; }}").entry()
    assert multiples(entry, {"t": 0})["%r3"] == known
