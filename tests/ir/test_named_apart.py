"""Every name of a kernel is given once, also where one block has several locals of one name."""

from dataclasses import replace

from course_lib.ir.loops.nest import Loop, print_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import named_apart


def test_three_locals_of_one_name_in_a_row_are_three() -> None:
    kernel = parse_kernel(
        """kernel @k(x: f32[2], out: f32[2]) {
  for a in 0..2 {
    local t: f32[]
    t[] = x[a]
    out[a] = t[]
  }
}"""
    )
    (loop,) = kernel.body
    assert isinstance(loop, Loop)
    three = replace(kernel, body=(replace(loop, body=loop.body * 3),))
    lines = [line.strip() for line in print_kernel(verify_kernel(named_apart(three))).splitlines()]
    assert [x for x in lines if x.startswith("out")] == [
        f"out[a] = {t}[]" for t in ("t", "t_2", "t_3")
    ]
    assert [x for x in lines if x.startswith("local")] == [
        f"local {t}: f32[]" for t in ("t", "t_2", "t_3")
    ]
