"""Caches: addresses are those of the loop interpreter, misses those of other models of a cache.

Outside witness: Valgrind 3.19's cachegrind on the same loops, compiled from C++ by g++ 12.2 so that
no access is optimized away. Its figures were taken once and stand here.
"""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cost.cache import SMALL, Cache, misses, set_by_set, without_repeats
from course_lib.cost.reuse import distances
from course_lib.cost.trace import in_registers, trace
from course_lib.exercises import slot
from course_lib.ir.expr import loads
from course_lib.ir.loops.nest import Accumulate, Kernel, Local, Loop
from course_lib.ir.loops.parse import parse_kernel
from course_lib.schedule.script import parse_schedule

SCHEDULES = [
    "",
    "reorder(m, k, n)",
    "reorder(n, m, k)\nsplit(m, 4)\nsplit(k, 3)",  # with what is left over
    "split(n, 4)\nreorder(no, m, k, ni)\ncache(w, no)",
    "split(m, 2)\nsplit(n, 4)\nreorder(mo, no, k, mi, ni)\nunroll(mi)\nvectorize(ni)\n"
    "promote(out, k)",
    "promote(out, k)\ncache(x, m)",
]


def product(m: int, n: int, k: int) -> Kernel:
    return parse_kernel(f"""
kernel @product(x: f32[{m},{k}], w: f32[{k},{n}], out: f32[{m},{n}]) {{
  for m in 0..{m} {{ for n in 0..{n} {{ for k in 0..{k} {{
    out[m, n] += x[m, k] * w[k, n]
  }} }} }}
}}""")


def walked(kernel: Kernel) -> list[int]:
    """The addresses one by one, as the loops run."""
    kept, found = in_registers(kernel), []
    starts, end = {}, 0
    for buffer in kernel.buffers.values():
        if buffer.name not in kept:
            starts[buffer.name] = end
            end += -(-buffer.type.nbytes // 64) * 64

    def touch(name, indices, at):
        if name not in starts:
            return
        dims = kernel.buffers[name].type.dims
        point = tuple(i.evaluate(at) for i in indices)
        found.append(starts[name] + 4 * int(np.ravel_multi_index(point, dims) if dims else 0))

    def run(body, at):
        for stmt in body:
            if isinstance(stmt, Loop):
                start = max(bound.evaluate(at) for bound in stmt.starts)
                for i in range(start, min(bound.evaluate(at) for bound in stmt.stops)):
                    run(stmt.body, {**at, stmt.var: i})
            elif not isinstance(stmt, Local):
                if isinstance(stmt, Accumulate):
                    touch(stmt.buffer, stmt.indices, at)
                for load in loads(stmt.value):
                    touch(load.buffer, load.indices, at)
                touch(stmt.buffer, stmt.indices, at)

    run(kernel.body, {})
    return found


@pytest.mark.parametrize("steps", SCHEDULES)
def test_the_trace_is_what_the_loops_touch(steps):
    kernel = parse_schedule(steps).apply(product(6, 8, 10))
    assert trace(kernel).addresses.tolist() == walked(kernel)


def test_a_trace_of_no_iterations_and_of_what_it_cannot_know():
    assert trace(product(0, 4, 4)).addresses.tolist() == []
    data = parse_kernel("""kernel @g(x: f32[8], i: i64[4], out: f32[4]) {
      for n in 0..4 { out[n] = x[i[n]] } }""")
    with pytest.raises(ValueError, match="data decides which x is meant"):
        trace(data)
    with pytest.raises(ValueError, match="too many to keep"):
        trace(product(1000, 1000, 1000))


ROW = """kernel @row(out: f32[30]) {
  for t in 0..8 { for i in 1..29 { out[i] = out[i - 1] + out[i + 1] } }
}"""
TRIANGLE = """kernel @t(x: f32[4,9], out: f32[4]) {
  for i in 0..4 { for j in 0..i { out[i] += x[i, j] } for k in i + 4..3*i { out[i] += x[i, k] } }
}"""


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (ROW, "skew(t, i, 1)"),
        (ROW, "skew(t, i, 1)\nreorder(i, t)"),
        (ROW, "skew(t, i, 2)\nsplit(t, 4)\nsplit(i, 6)\nreorder(to, io, ti, ii)"),
        (TRIANGLE, ""),
    ],
)
def test_the_trace_follows_bounds_that_move(text, steps):
    kernel = parse_schedule(steps).apply(parse_kernel(text))
    assert trace(kernel).addresses.tolist() == walked(kernel)


def test_a_local_is_in_registers_if_it_fits_and_only_written_out_loops_move_in_it():
    steps = "split(m, {})\nsplit(n, 16)\nreorder(mo, no, k, mi, ni)\nunroll(mi)\nvectorize(ni)\n"
    steps += "promote(out, k)"
    kept = {rows: in_registers(parse_schedule(steps.format(rows)).apply(product(48, 32, 8)))
            for rows in (4, 6, 8)}  # fmt: skip
    assert kept == {4: {"acc"}, 6: {"acc"}, 8: set()}
    rolled = parse_schedule(steps.format(4).replace("unroll(mi)\n", "")).apply(product(48, 32, 8))
    assert in_registers(rolled) == set()


@given(st.lists(st.integers(0, 12), max_size=80))
def test_reuse_distance_is_the_number_of_others_since(lines):
    slow = []
    for t, line in enumerate(lines):
        before = [s for s in range(t) if lines[s] == line]
        slow.append(len(set(lines[before[-1] + 1 : t])) if before else -1)
    assert distances(lines).tolist() == slow


@given(st.lists(st.integers(0, 30), max_size=120), st.integers(1, 5), st.integers(1, 4))
def test_three_ways_to_simulate_agree(lines, sets, ways):
    missed = slot("cost.cache.missed").reference
    assert missed(lines, sets, ways) == set_by_set(lines, sets, ways)
    in_set = [distances([n for n in lines if n % sets == s]).tolist() for s in range(sets)]
    far = [in_set[n % sets].pop(0) for n in lines]
    gone = [n for n, others in zip(lines, far, strict=True) if not 0 <= others < ways]
    assert missed(lines, sets, ways) == gone
    without = without_repeats(np.array(lines, np.int64), sets).tolist()
    assert missed(without, sets, ways) == missed(lines, sets, ways)


def test_one_pass_says_the_misses_of_every_size():
    """Mattson's theorem, on a product."""
    touched = trace(product(16, 16, 16)).addresses // 64
    found = distances(touched)
    for size in (1, 2, 5, 16, 40):
        assert len(set_by_set(touched.tolist(), 1, size)) == ((found < 0) | (found >= size)).sum()


# Misses of a first cache of 2 KiB, 4 ways, and a second of 16 KiB, 8 ways: cachegrind's figures
# with the product less those without it.
CACHEGRIND = {
    "reorder(m, n, k)": (266_990, 39_347),
    "reorder(m, k, n)": (17_006, 3_568),
    "reorder(n, m, k)": (282_734, 53_896),
    "reorder(n, k, m)": (528_494, 163_431),
    "reorder(k, m, n)": (20_846, 10_347),
    "reorder(k, n, m)": (524_654, 137_031),
    "split(m, 8)\nsplit(n, 16)\nsplit(k, 16)\nreorder(mo, no, ko, mi, ki, ni)": (18_158, 2_727),
    "split(n, 16)\nsplit(k, 16)\nreorder(no, ko, m, ki, ni)\ncache(w, ko)": (2_508, 2_026),
}


@pytest.mark.parametrize("steps", CACHEGRIND)
def test_cachegrind_counts_the_same(steps):
    """But for what the end of its program brings in again: 110 lines, or 95 where a copy lies on
    the stack beside other things."""
    assert list(SMALL) == [Cache(2048, 4), Cache(16384, 8)]
    found = [sum(one.values()) for one in misses(parse_schedule(steps).apply(product(64, 64, 64)))]
    first, second = CACHEGRIND[steps]
    assert first - found[0] == (95 if "cache(" in steps else 110)
    assert 0 < second - found[1] < 110


def test_the_six_orders_are_those_of_cachegrind():
    orders = {f"reorder({', '.join(order)})" for order in permutations("mnk")}
    assert orders <= set(CACHEGRIND)


def test_a_cache_has_whole_sets():
    assert Cache(512, 8).sets == 1
    for size, ways in ((100, 1), (2048, 3), (0, 1), (64, 0)):
        with pytest.raises(ValueError, match="multiple of ways x line"):
            Cache(size, ways)
    with pytest.raises(ValueError, match="lines of one size"):
        misses(product(2, 2, 2), (Cache(256, 1), Cache(1024, 1, 128)))
