"""Dependence: what a loop carries, by kind; and nothing where the iterations are independent."""

import pytest

from course_lib.ir.loops.dependence import carried
from course_lib.ir.loops.nest import Loop
from course_lib.ir.loops.parse import parse_kernel


def body_loop(body: str) -> Loop:
    kernel = parse_kernel(f"kernel @k(x: f32[99], out: f32[99]) {{ for i in 0..10 {{ {body} }} }}")
    (loop,) = kernel.body
    assert isinstance(loop, Loop)
    return loop


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("out[i] = x[0]", ""),
        ("out[2*i] = x[i]", ""),
        ("for j in 0..3 { out[3*i + j] = x[j] }", ""),
        ("for j in 0..3 { out[i] = out[i] + x[j] }", ""),
        ("for j in 0..3 { out[i] += x[j] }", ""),
        ("local t: f32[] t[] = x[i] out[i] = t[]", ""),
        ("out[2*i] = x[i] out[2*i + 1] = 0.0", ""),
        ("for j in 0..3 { out[4*i + j] = x[j] } for l in 3..4 { out[4*i + l] = 0.0 }", ""),
        ("for j in i..i + 1 { out[j] = x[i] }", ""),
        ("for j in 0..3 { out[16*j + i] = x[j] }", ""),
        ("out[i + 50] = out[i]", ""),
        ("out[0] = x[i] * out[1]", "output"),
        ("for j in 0..3 { out[4*i + j] = x[j] } for l in 3..5 { out[4*i + l] = 0.0 }", "output"),
        ("out[0] = x[i]", "output"),
        ("out[0] = out[0] + x[i]", "anti flow output"),
        ("out[0] += x[i]", "anti flow output"),
        ("out[i + 1] = out[i] + x[i]", "flow"),
        ("out[i] = out[i + 1] + x[i]", "anti"),
        ("out[9 - i] = out[i]", "anti flow"),
        ("for j in 0..4 { out[3*i + j] = x[j] }", "output"),
        ("for j in 0..3 { out[4*j + i] = x[j] }", "output"),
        ("for j in 0..i { out[i + j] = x[j] }", "output"),
        ("for j in i..i + 1 { out[j - i] = x[i] }", "output"),
        ("out[i] = x[i] out[i + 1] = 0.0", "output"),
    ],
)  # fmt: skip
def test_what_a_loop_carries(body: str, kinds: str) -> None:
    found = carried(body_loop(body))
    assert sorted(d.kind for d in found) == kinds.split()
    assert {d.buffer for d in found} <= {"out"}


def test_an_index_that_is_data_may_be_anywhere() -> None:
    text = "kernel @k(p: i64[4], out: f32[4]) { for i in 0..4 { out[p[i]] = 1.0 } }"
    (loop,) = parse_kernel(text).body
    assert isinstance(loop, Loop)
    assert [str(d) for d in carried(loop)] == ["an output dependence through out"]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("out[p[i], j] += x[i, j]", "anti flow output | "),  # a row of the table for each i
        ("out[p[j], i] += x[i, j]", " | anti flow output"),
        ("out[p[i], p[j]] = x[i, j]", "output | output"),
    ],
)
def test_data_decides_along_its_own_axis_only(body: str, kinds: str) -> None:
    text = f"""kernel @k(p: i64[4], x: f32[4,4], out: f32[4,4]) {{
      for i in 0..4 {{ for j in 0..4 {{ {body} }} }} }}"""
    (outer,) = parse_kernel(text).body
    assert isinstance(outer, Loop) and isinstance(outer.body[0], Loop)
    found = [sorted(d.kind for d in carried(loop)) for loop in (outer, outer.body[0])]
    assert " | ".join(map(" ".join, found)) == kinds


def test_dependences_through_several_buffers_are_all_found() -> None:
    text = """kernel @k(x: f32[4], out: f32[4]) {
      local acc: f32[]
      acc[] = 0.0
      for j in 0..4 {
        acc[] += out[j]
        out[3 - j] = acc[]
      }
    }"""
    loop = parse_kernel(text).body[-1]
    assert isinstance(loop, Loop)
    assert {d.buffer for d in carried(loop)} == {"acc", "out"}
