"""Loops as C++: what g++ makes of the text computes what the loop interpreter computes."""

import numpy as np
import pytest

from course_lib.bridges.gxx import CppError, apart, build, compiler
from course_lib.ir.loops.cpp import cpp
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.script import parse_schedule

TILED = """split(m, 2)
split(n, 4)
reorder(mo, no, k, mi, ni)
unroll(mi)
vectorize(ni)
promote(out, k)
cache(w, no)"""


def product(dtype: str = "f32"):
    return parse_kernel(f"""
kernel @product(x: {dtype}[6,5], w: {dtype}[5,8], out: {dtype}[6,8]) {{
  for m in 0..6 {{ for n in 0..8 {{ for k in 0..5 {{ out[m, n] += x[m, k] * w[k, n] }} }} }}
}}""")


def test_the_text():
    kernel = parse_kernel("""kernel @k(x: f32[8], out: f32[8]) {
      unroll i in 0..8 { out[i] max= exp(x[i]) / (x[0] - 2.0) } }""")
    assert (
        cpp(kernel)
        == """#include <cmath>

extern "C" void k(const float *__restrict x, float *__restrict out) {
  #pragma GCC unroll 8
  for (long i = 0; i < 8; ++i) {
    out[i] = std::fmax(out[i], (std::exp(x[i]) / (x[0] - 2.0f)));
  }
}
"""
    )


@pytest.mark.skipif(compiler() is None, reason="needs g++")
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("steps", ["", "reorder(m, k, n)", TILED])
def test_gxx_computes_what_the_interpreter_does(steps, dtype):
    kernel = parse_schedule(steps).apply(product(dtype))
    rng = np.random.default_rng(0)
    arrays = {p.name: rng.random(p.type.dims).astype(p.type.dtype.numpy) for p in kernel.params}
    expected = {name: array.copy() for name, array in arrays.items()}
    run_kernel(kernel, expected)
    build(cpp(kernel), "product")(*arrays.values())
    np.testing.assert_allclose(arrays["out"], expected["out"], rtol=1e-5)


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_the_negative_of_a_negative_number_is_no_decrement():
    kernel = parse_kernel("""kernel @k(out: f32[2]) {
      for i in 0..2 { out[i] = neg(-1.0) } }""")
    assert "(-(-1.0f))" in cpp(kernel)
    out = np.zeros(2, np.float32)
    build(cpp(kernel), "k")(out)
    assert out.tolist() == [1, 1]


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_loading_it_leaves_subnormal_numbers_alone():
    build('extern "C" void nothing() {}', "nothing")()
    smallest = np.finfo(np.float32).smallest_subnormal
    assert smallest * np.float32(1) == smallest != 0


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_in_a_process_of_its_own_arrays_come_back_and_each_call_is_timed():
    text = """extern "C" long twice(float *x, long n) {
      for (long i = 0; i < n; ++i) x[i] *= 2;
      return n; }"""
    array = np.ones((2, 3), np.float32)
    ran = apart(text, "twice")(array, 6, repeat=3)
    assert (array == 8).all() and ran.value == 6 and len(ran.seconds) == 3
    assert min(ran.seconds) > 0  # no clock that goes in ticks
    with pytest.raises(ValueError, match="in one piece"):
        apart(text, "twice")(np.zeros((4, 4), np.float32)[:, 0], 4)


@pytest.mark.skipif(compiler() is None, reason="needs g++")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("volatile long i = 0; while (x[0] == 0) ++i;", "did not end within 0.5 seconds"),
        ("for (volatile long i = 0; ; ++i) x[i << 20] = 1;", "memory that it does not have"),
        ("std::abort();", "gave up"),
        ("std::exit(0);", "it ended the process"),
    ],
)
def test_what_never_ends_or_crashes_costs_a_sentence(body, why):
    text = f'#include <cstdlib>\nextern "C" void run(float *x) {{ {body} }}'
    with pytest.raises(CppError, match=f"The C\\+\\+ failed: .*{why}"):
        apart(text, "run", seconds=0.5)(np.zeros(4, np.float32))


def test_what_has_no_form_in_cpp_is_refused():
    for text, why in [
        ("kernel @k(x: i64[8], out: i64[8]) { for i in 0..8 { out[i] = x[i] } }", "f32 and f64"),
        ("kernel @k(x: f32[8], i: i64[8], out: f32[8]) { for n in 0..8 { out[n] = x[i[n]] } }",
         "f32 and f64"),
        ("kernel @k(x: f32[8], out: f32[8]) { for i in 0..8 { out[i] = relu(x[i]) } }", "no C"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=why):
            cpp(parse_kernel(text))


@pytest.mark.skipif(compiler() is None, reason="needs g++")
def test_what_gxx_refuses_is_shown_without_our_folders():
    with pytest.raises(ValueError, match=r"g\+\+ says:\nkernel.cpp:1:"):
        build("extern int", "f")
    call = build('extern "C" long first(float *x) { return (long)x[0]; }', "first")
    assert call(np.array([7.0], np.float32)) == 7
    with pytest.raises(ValueError, match="in one piece"):
        call(np.zeros((4, 4), np.float32)[:, 0])
