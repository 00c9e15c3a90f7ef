"""Prices of kernels: traffic against a simulated cache, order against what is faster."""

import doctest
import math
from dataclasses import replace

import pytest

import course_lib
from course_lib.cost import footprint, nest
from course_lib.cost.cache import Cache, misses_of
from course_lib.cost.footprint import LINE, Reach, extents
from course_lib.cost.machine import AVX512, Machine
from course_lib.cost.nest import predict
from course_lib.cost.trace import in_registers, trace
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import loops
from course_lib.lower.lower import lower
from course_lib.models import build, example_inputs
from course_lib.passes.infra.bodies import everywhere
from course_lib.passes.prepare.decompose import decompose
from course_lib.schedule.choose import choose
from course_lib.schedule.schedule import distinct
from course_lib.schedule.script import parse_schedule

TILED = (
    "split(m, 8)\nsplit(n, 32)\nreorder(mo, no, k, mi, ni)\nunroll(mi)\nvectorize(ni)\n"
    "promote(out, k)\n"
)


def product(m: int, n: int, k: int) -> Kernel:
    return parse_kernel(f"""
kernel @product(x: f32[{m},{k}], w: f32[{k},{n}], out: f32[{m},{n}]) {{
  for m in 0..{m} {{ for n in 0..{n} {{ for k in 0..{k} {{
    out[m, n] += x[m, k] * w[k, n]
  }} }} }}
}}""")


def scheduled(kernel: Kernel, text: str) -> Kernel:
    return parse_schedule(text).apply(kernel)


def clocks(kernel: Kernel, machine: Machine = AVX512) -> float:
    return predict(kernel, machine).clocks


@pytest.mark.parametrize("module", [footprint, nest])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_a_footprint_counts_whole_lines_of_what_moves():
    kernel = parse_kernel("""
kernel @matvec(x: f32[64,64], v: f32[64], out: f32[64]) {
  for i in 0..64 { for j in 0..64 { out[i] += x[i, j] * v[j] } }
}""")
    reach = Reach.of(kernel)
    assert reach.footprint(loops(kernel.body)[0].body) == {"out": 64, "x": 256, "v": 256}
    assert reach.footprint(kernel.body) == {"out": 256, "x": 16384, "v": 256}
    assert reach.traffic(kernel.body, 1024) == 16384 + 256 + 256
    assert reach.traffic(kernel.body, 256) > reach.traffic(kernel.body, 1024) + 62 * 256


@pytest.mark.parametrize(
    "steps",
    [
        "",
        "reorder(m, k, n)",
        "reorder(n, m, k)",
        "split(n, 4)\nreorder(no, m, k, ni)\ncache(w, no)",
        "split(m, 8)\nsplit(n, 8)\nsplit(k, 8)\nreorder(mo, no, ko, mi, ki, ni)",
    ],
)
@pytest.mark.parametrize("size", [512, 2048, 8192])
def test_traffic_is_what_a_simulated_cache_fetches(steps, size):
    kernel = scheduled(product(48, 40, 56), steps)
    simulated = misses_of(trace(kernel), [Cache(size, size // LINE)])[0]
    reach = Reach.of(kernel, in_registers(kernel))
    assert reach.traffic(kernel.body, size) / LINE == pytest.approx(
        sum(simulated.values()), rel=0.25
    )


def test_columns_are_counted_by_the_line():
    kernel = parse_kernel("""
kernel @column(x: f32[64,64], out: f32[64]) { for i in 0..64 { out[i] = x[i, 0] } }""")
    assert Reach.of(kernel).footprint(kernel.body) == {"x": 64 * 64, "out": 256}


def test_ragged_loops_count_as_in_the_middle():
    kernel = parse_kernel("""
kernel @triangle(x: f32[9,9], out: f32[9,9]) {
  for i in 0..9 { for j in i..9 { out[i, j] = x[i, j] } }
}""")
    assert extents(kernel.body) == {"i": 9, "j": 5}


def test_each_step_of_a_good_schedule_lowers_the_price():
    plain = product(512, 512, 512)
    steps = ["", "reorder(m, k, n)", "reorder(m, k, n)\nvectorize(n)", TILED]
    prices = [clocks(scheduled(plain, text)) for text in steps]
    assert prices == sorted(prices, reverse=True) and prices[0] > 10 * prices[-1]


def test_more_accumulators_than_registers_cost():
    plain = product(128, 512, 512)
    few, many = (scheduled(plain, TILED.replace("split(m, 8)", f"split(m, {m})")) for m in (8, 64))
    small = replace(AVX512, registers=16)
    assert predict(many, AVX512).instructions > 1.9 * predict(few, AVX512).instructions
    assert predict(few, small).instructions > 1.9 * predict(few, AVX512).instructions


def test_one_chain_of_additions_waits_for_each():
    (one,) = [scheduled(product(64, 64, 1000), "promote(out, k)")]
    eight = scheduled(one, "split(m, 8)\nreorder(mo, n, mi)")
    strided = 64 * 64 * 1000  # multiply-adds; w is read down its columns, so there are no lanes
    assert predict(one, AVX512).instructions >= 4 * strided
    assert predict(eight, AVX512).instructions >= 4 * strided


def test_threads_divide_what_can_be_dealt_out_evenly():
    kernel = scheduled(product(512, 512, 512), TILED + "parallelize(mo)\n")
    one, two, three = (predict(kernel, replace(AVX512, threads=n)) for n in (1, 2, 3))
    assert two.instructions == pytest.approx(one.instructions / 2)
    assert three.instructions == pytest.approx(one.instructions * 22 / 64)
    inside = scheduled(product(512, 512, 512), TILED + "parallelize(no)\n")
    assert predict(inside, replace(AVX512, threads=2)) == predict(inside, AVX512)
    small = scheduled(product(8, 32, 8), "parallelize(m)")
    assert clocks(small, replace(AVX512, threads=2)) > clocks(small)


@pytest.mark.parametrize("model", ["mlp", "block"])
def test_every_kernel_of_the_models_has_a_price_and_its_schedule_a_lower_one(model):
    graph = course_lib.compile(build(model), example_inputs(model), target="interpreter").graph
    before, after = 0.0, 0.0
    for kernel, constants in distinct(lower(everywhere(graph, decompose))):
        plain, chosen = clocks(kernel), clocks(choose(kernel, AVX512, constants))
        assert math.isfinite(plain) and plain > 0 and chosen > 0
        assert clocks(kernel) == plain, "the same again"
        before, after = before + plain, after + chosen
    assert before > 5 * after
