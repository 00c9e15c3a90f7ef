"""A stencil over time, skewed, in blocks, block after block and along wavefronts: the same bits."""

import sys

import numpy as np
import pytest

from course_lib.bridges.gxx import build, compiler
from course_lib.bridges.isl import scheduled
from course_lib.cost.footprint import extents
from course_lib.ir.loops.cpp import cpp
from course_lib.ir.loops.loop_interp import run_kernel
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.polyhedra import points
from course_lib.ir.loops.walk import loops
from course_lib.llvm.jit import compile_kernels
from course_lib.schedule.legality import may_parallelize, may_reorder, may_tile
from course_lib.schedule.primitives.skew import skew
from course_lib.schedule.script import parse_schedule

SEIDEL = """kernel @seidel(x: f32[40], out: f32[40]) {
  for a in 0..40 { out[a] = x[a] }
  for t in 0..12 {
    for i in 1..39 { out[i] = (out[i - 1] + out[i] + out[i + 1]) * 0.25 }
  }
}"""
JACOBI = """kernel @jacobi(x: f32[40], out: f32[13,40]) {
  for a in 0..40 { out[0, a] = x[a] }
  for b in 0..13 { out[b, 0] = x[0] out[b, 39] = x[39] }
  for t in 0..12 {
    for i in 1..39 { out[t + 1, i] = (out[t, i - 1] + out[t, i] + out[t, i + 1]) * 0.25 }
  }
}"""
STEPS = """
skew(t, i, 1)          // no dependence leads to an earlier i any more
split(t, 4)
split(i, 16)           // blocks of the skewed i, clipped where the rows begin and end
reorder(to, io, ti, ii)
"""
WAVES = """
skew(to, io, 1)        // blocks on one wavefront have the same to + io
reorder(io, to)
parallelize(to)
"""


def results(kernel: Kernel) -> dict[str, np.ndarray]:
    """What the loop interpreter and machine code make of the kernel."""
    x = np.random.default_rng(3).standard_normal(40).astype(np.float32)
    found = {}
    arrays = {"x": x, "out": np.zeros(kernel.out.type.dims, np.float32)}
    run_kernel(kernel, arrays)
    found["interpreter"] = arrays["out"]
    code, out = compile_kernels([kernel]), np.zeros(kernel.out.type.dims, np.float32)
    for function, count in code.functions[kernel.name]:
        assert function(x.ctypes.data, out.ctypes.data, 0, count) == 0
    found["machine code"] = out
    if compiler():
        out = np.zeros(kernel.out.type.dims, np.float32)
        build(cpp(kernel), kernel.name, flags=("-O2", "-std=c++17", "-ffp-contract=off"))(x, out)
        found["C++"] = out
    return found


@pytest.mark.parametrize("text", [SEIDEL, JACOBI], ids=["seidel", "jacobi"])
@pytest.mark.parametrize("steps", ["", "skew(t, i, 2)", STEPS, STEPS + WAVES],
                         ids=["plain", "skewed", "tiled", "waves"])  # fmt: skip
def test_the_results_are_the_same(text: str, steps: str) -> None:
    plain = parse_kernel(text)
    want = results(plain)["interpreter"]
    kernel = parse_schedule(steps).apply(plain)
    assert repr(parse_kernel(repr(kernel))) == repr(kernel)
    for who, got in results(kernel).items():
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=f"{who}\n{kernel}")
    np.testing.assert_array_equal(results(kernel)["interpreter"], want)


@pytest.mark.parametrize("text", [SEIDEL, JACOBI], ids=["seidel", "jacobi"])
def test_only_skewed_it_may_be_tiled_and_only_waves_are_parallel(text: str) -> None:
    plain = parse_kernel(text)
    for kernel, allowed in [(plain, False), (skew(plain, "t", "i", 1), True)]:
        assert bool(may_tile(kernel, {"t": 4, "i": 16})) is allowed
        assert bool(may_reorder(kernel, ("i", "t"))) is allowed
    with pytest.raises(ValueError, match="would run backwards"):
        parse_schedule("split(t, 4) split(i, 19) reorder(to, io, ti, ii)").apply(plain)
    tiled = parse_schedule(STEPS).apply(plain)
    assert not may_parallelize(tiled, "to") and not may_parallelize(tiled, "io")
    waves = parse_schedule(STEPS + WAVES).apply(plain)
    assert not may_parallelize(waves, "io")
    assert [loop.var for loop in loops(waves.body) if loop.kind == "parallel"] == ["to"]
    assert extents(waves.body)["to"] == 3 and extents(waves.body)["ii"] == 16  # in the middle


PLATE = """kernel @plate(out: f32[18,18]) {
  for t in 0..8 { for i in 1..17 { for j in 1..17 {
    out[i, j] = 0.5 * out[i, j] + 0.125 * (out[i - 1, j] + out[i + 1, j] + out[i, j - 1])
  } } }
}"""
CUT = """
skew(t, i, 1) skew(t, j, 1) split(t, {0}) split(i, {1}) split(j, {2})
reorder(to, io, jo, ti, ii, ji)
"""


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 2, 2), (8, 8, 8), (4, 4, 2), (2, 4, 8)], ids=str)
def test_all_three_loops_of_a_plate_may_be_cut(sizes: tuple[int, int, int]) -> None:
    plain = parse_kernel(PLATE)
    kernel = parse_schedule(CUT.format(*sizes)).apply(plain)
    want, got = (np.random.default_rng(3).standard_normal((18, 18), np.float32) for _ in "ab")
    run_kernel(plain, {"out": want})
    run_kernel(kernel, {"out": got})
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="would run backwards"):
        parse_schedule(CUT.format(*sizes).replace("skew(t, j, 1)", "")).apply(plain)


def test_what_is_too_hard_to_say_is_refused_and_called_that(monkeypatch) -> None:
    monkeypatch.setattr(points, "_solution", points._solution.__wrapped__)  # asks anew each time
    monkeypatch.setattr(points, "ROWS", 0)
    for step, words in (("reorder(i, t)", "reorder i, t"), ("parallelize(i)", "parallelize i")):
        with pytest.raises(ValueError, match="too hard") as refused:
            parse_schedule(step).apply(parse_kernel(PLATE))
        said = str(refused.value).partition(": ")[2]
        assert said == f"{words}: whether this is legal is too hard to say, so it is refused"


def test_a_refusal_says_which_split_would_do() -> None:
    wide = parse_kernel(PLATE.replace("i - 1", "i - 3").replace("1..17 { for j", "3..15 { for j"))
    steps = "skew(t, i, 3) split(t, 4) {} reorder(to, {}, j)"
    with pytest.raises(ValueError, match=r"quotients. After split\(i, ...\), the bounds of io do"):
        parse_schedule(steps.format("", "i, ti")).apply(wide)
    parse_schedule(steps.format("split(i, 1)", "io, ti, ii")).apply(wide)
    with pytest.raises(
        ValueError, match=r"it has: tt, i, j\. Of t there is only tt, the rest of a"
    ):
        parse_schedule("split(t, 9) reorder(to, i)").apply(wide)
    with pytest.raises(ValueError, match=r"it has: t, i, j$"):
        parse_schedule("reorder(to, i)").apply(wide)


def test_skew_refuses_loops_that_do_not_stand_one_in_another() -> None:
    with pytest.raises(ValueError, match="skew a, i: i does not stand in a loop over a"):
        skew(parse_kernel(SEIDEL), "a", "i", 1)
    with pytest.raises(ValueError, match="has no loop 'q'"):
        skew(parse_kernel(SEIDEL), "t", "q", 1)


@pytest.mark.parametrize("text", [SEIDEL, JACOBI], ids=["seidel", "jacobi"])
def test_isl_finds_the_skew_itself(text: str) -> None:
    pytest.importorskip("islpy")
    plain = parse_kernel(text)
    found = scheduled(plain)
    assert "permutable: 1" in found.tree
    outer, inner = (loop for loop in loops(found.kernel.body)[-2:])
    assert not may_tile(plain, {"t": 4, "i": 16})
    assert may_tile(found.kernel, {outer.var: 4, inner.var: 16})
    blocks = parse_schedule(f"split({outer.var}, 4) split({inner.var}, 16) reorder({outer.var}o, "
                            f"{inner.var}o, {outer.var}i, {inner.var}i)")  # fmt: skip
    want = results(plain)["interpreter"]
    for got in results(blocks.apply(found.kernel)).values():
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_what_isl_is_not_told(monkeypatch) -> None:
    data = "kernel @k(p: i64[4], out: f32[4]) { for i in 0..4 { out[p[i]] = 1.0 } }"
    local = "kernel @k(out: f32[4]) { for i in 0..4 { local t: f32[] t[] = 1.0 out[i] = t[] } }"
    monkeypatch.setitem(sys.modules, "islpy", None)
    with pytest.raises(ValueError, match=r"isl needs the package islpy: pip install 'course-lib"):
        scheduled(parse_kernel(data))
    monkeypatch.undo()
    pytest.importorskip("islpy")
    for text, words in [(data, "an index of out is data"), (local, "isl is not told of locals")]:
        with pytest.raises(ValueError, match=words):
            scheduled(parse_kernel(text))


def test_large_blocks_of_large_arrays_are_decided_too() -> None:
    """Each multiple of 4096 is far from the next: the search must not run through all between."""
    large = parse_kernel(SEIDEL.replace("40", "4194304").replace("39", "4194303"))
    sizes = {"t": 5, "i": 4096}
    assert "(t=1, i=4096) writes out[4096]" in str(may_tile(large, sizes))
    assert may_tile(skew(large, "t", "i", 1), sizes)
