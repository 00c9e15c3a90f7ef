"""What a run shows: traces that a viewer accepts, counts that numpy repeats, clocks that sum up."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.build import build
from course_lib.accelerator.core.simulate import simulate
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.trace.counters import by_origin, counters
from course_lib.accelerator.trace.energy import energy, sram_access
from course_lib.accelerator.trace.gantt import gantt, part_roofline
from course_lib.accelerator.trace.lanes import LANES, trace_of
from course_lib.accelerator.trace.waterfall import waterfall
from course_lib.ir.graph.build import trace
from course_lib.ir.graph.node import apply, const
from course_lib.trace.chrome import chrome_trace, write_trace

NPU, SMALL = PRESETS["npu"], PRESETS["teaching"]


@pytest.fixture(scope="module")
def run(product):
    program, dram, _ = product(NPU, 600, 128, 64)
    return simulate(program, dram, NPU)


# ── the trace ──

KEYS = {"M": {"args"}, "X": {"ts", "dur", "cat", "args"}, "C": {"ts", "args"},
        "s": {"ts", "cat", "id"}, "f": {"ts", "cat", "id", "bp"}}  # fmt: skip


def slices(trace):
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found[event["tid"]].append((event["ts"], event["ts"] + event["dur"], event))
    return {lane: sorted(spans, key=lambda s: s[:2]) for lane, spans in found.items()}


def test_the_file_is_what_the_trace_event_format_asks_for(run, tmp_path):
    path = write_trace(trace_of(run), tmp_path / "trace.json")
    trace = json.loads(path.read_text())
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]
    for event in trace["traceEvents"]:
        assert {"name", "ph", "pid", "tid"} | KEYS[event["ph"]] <= event.keys()
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"]
    assert names == list(LANES)
    for spans in slices(trace).values():
        for (_, end, _), (start, _, _) in pairwise(spans):
            assert start >= end - 1e-9, "slices of a lane neither overlap nor nest"


def test_every_token_is_an_arrow_between_two_slices(run):
    trace = chrome_trace(trace_of(run))
    start, end = run.times.start, run.times.busy_end
    first = {(e["tid"], e["ts"]) for e in trace["traceEvents"] if e["ph"] == "X"}
    arrows = Counter()
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            arrows[event["id"], event["ph"]] += 1
            giver, taker = map(int, event["id"].split("-"))
            clock = start[taker] if event["ph"] == "f" else end[giver] - 1
            assert event["ts"] == clock / 1000, "a token is given at the end of the giver's slice"
            assert event["ph"] == "s" or (event["tid"], event["ts"]) in first
    taken = sum(len(i.wait) for i in run.program)
    assert len(arrows) == 2 * taken and set(arrows.values()) == {1}


def test_slices_carry_where_in_the_model_they_come_from(run):
    products = [e for e in chrome_trace(trace_of(run))["traceEvents"] if e["name"] == "matmul"]
    assert {e["args"]["origin"] for e in products} == {"rows 0", "rows 170", "rows 340", "rows 510"}
    assert sum(e["args"]["macs"] for e in products) == 600 * 128 * 64


def test_the_area_under_a_curve_is_what_was_done(run):
    done = Counter()
    for name, total in (("MACs in a clock", 600 * 128 * 64),
                        ("DRAM bytes in a clock", counters(run).dram)):  # fmt: skip
        points = [e for e in chrome_trace(trace_of(run))["traceEvents"] if e["name"] == name]
        for a, b in pairwise(points):
            done[name] += a["args"]["value"] * (b["ts"] - a["ts"]) * 1000
        assert done[name] == pytest.approx(total, rel=1e-6)
        assert points[-1]["args"]["value"] == pytest.approx(0, abs=1e-5)
        assert max(p["args"]["value"] for p in points) <= 1024 + 1e-3


# ── counts ──


def test_counts_are_those_of_the_product(run):
    found = counters(run)
    assert found.macs == 600 * 128 * 64
    assert found.utilization == found.macs / (run.total * 1024)
    assert found.written["dram"] == 600 * 64
    assert found.read["dram"] == 600 * 128 + 128 * 64 + 2 * 32 * 8
    assert found.written["weights"] == 128 * 64 and found.read["weights"] == 4 * 128 * 64
    assert found.written["accs"] == 600 * 64 * 4 * 4  # once for each of four tiles of k
    assert found.read["accs"] == 600 * 64 * 4 * 4  # three additions, and the output pipeline
    assert found.rescaled == 600 * 64
    assert found.instructions["halt"] == 1
    assert found.issued == found.macs
    assert found.program_bytes == 32 * len(run.program)
    assert f"{found.macs:,} MACs" in str(found) and "issued" not in str(found)
    assert f"program {found.program_bytes:>14,} B, whose fetching is not counted" in str(found)


def test_zeros_beside_the_diagonal_of_depthwise_weights_are_issued_and_not_useful():
    def model(x):
        w = const(np.ones((64, 1, 3, 3), np.int8))
        total = apply("conv", x, w, groups=64, sums="i32", pads=(1, 1, 1, 1))
        return apply("requantize", total, const(np.float32(0.1)))

    made = build(trace(model, "i8[1,64,14,14]"), NPU)
    asked = 64 * 9 * 14 * 14
    said = f"{32 * asked:,} MACs were issued, with zeros"
    for run in (made.timing, made.checked([np.ones((1, 64, 14, 14), np.int8)])[1]):
        found = counters(run)
        assert (found.macs, found.issued) == (asked, 32 * asked)
        assert found.utilization == asked / (run.total * NPU.macs)
        assert said in str(found)
        assert [p.macs for p in by_origin(run)] == [asked]
        lost = waterfall(run).lost
        assert lost["all that must be"] == -(-asked // 1024)
        assert lost["all that must be"] + lost["not asked for"] == -(-32 * asked // 1024)
        assert sum(lost.values()) == run.total
        assert energy(found, NPU)["multiply-accumulate"] == pytest.approx(32 * asked * 0.3)


def test_the_parts_of_the_model_share_all_clocks_and_counts(run):
    parts, found = by_origin(run), counters(run)
    assert [p.origin[0] for p in parts] == ["rows 0", "rows 170", "rows 340", "rows 510"]
    assert sum(p.clocks for p in parts) == run.total
    assert sum(p.macs for p in parts) == found.macs
    assert sum(p.dram for p in parts) == found.dram


def test_energy_is_that_of_the_published_table(run):
    found = counters(run)
    used = energy(found, NPU)
    assert used["multiply-accumulate"] == pytest.approx(found.macs * 0.3)
    assert used["dram"] == pytest.approx(found.dram / 8 * 1950)
    assert used["acts"] == pytest.approx((found.read["acts"] + found.written["acts"]) / 8 * 10)
    assert [sram_access(s) for s in (4096, 8192, 32768, 2**20, 2**24)] == pytest.approx(
        [10, 10, 20, 100, 100]
    )
    assert 10 < sram_access(16384) < 20


# ── where the clocks went ──


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 9), st.integers(1, 16), st.booleans())
def test_the_lines_of_the_waterfall_sum_to_the_total(product, m, k, n, width, shadow):
    chip = replace(SMALL, dma_bytes=width, shadow=shadow, acts=256)
    program, dram, _ = product(chip, m, k, n)
    run = simulate(program, dram, chip)
    found = waterfall(run)
    assert sum(found.lost.values()) == found.total == run.total
    assert found.lost["all that must be"] == -(-m * k * n // 16)
    rows, cols = -(-k // 4), -(-n // 4)
    assert found.lost["ragged tiles"] == m * rows * cols - -(-m * k * n // 16)
    assert "total" in str(found)


def test_the_waterfall_finds_the_cause_that_was_put_in(product):
    program, dram, _ = product(NPU, 600, 128, 64)
    slow = {"DMA": {"dma_bytes": 1}, "loading weights": {"shadow": False, "dma_bytes": 4096}}
    for name, change in slow.items():
        chip = replace(NPU, dma_latency=0, **change)
        lost = waterfall(simulate(program, dram.copy(), chip)).lost
        others = {k: v for k, v in lost.items() if k not in ("all that must be", "drain")}
        assert max(others, key=others.__getitem__) == name, lost


# ── pictures ──


def test_the_gantt_says_who_worked_and_who_waited(run, tmp_path):
    text = str(gantt(run))
    for part in (
        f"{run.total:,} clocks on npu",
        "matmul",
        "wait=load",
        "stall",
        "execute: weights",
    ):
        assert part in text
    assert "clocks 100 to 500" in str(gantt(run, 100, 500))
    assert "<svg" in gantt(run).save(tmp_path / "gantt.html").read_text()
    with pytest.raises(ValueError, match="hold nothing of a run"):
        gantt(run, 10**9)


def test_a_long_run_is_shown_as_far_as_it_can_be_seen(product):
    program, dram, _ = product(SMALL, 1500, 8, 8)
    long = simulate(program, dram, SMALL)
    assert "clocks 0 to" in str(gantt(long))
    assert f"to {long.total:,}" not in str(gantt(long)).splitlines()[0]


def test_no_part_stands_above_the_roof(run):
    pytest.importorskip("matplotlib")
    text = str(part_roofline(run))
    assert "peak 2.05 Top/s, memory 16 GB/s, ridge at 128 op/byte" in text and "FLOP" not in text
    shares = [float(line.split(" % of the roof")[0].split()[-1]) for line in text.splitlines()[2:]]
    assert len(shares) == 4 and max(shares) <= 100


def test_a_program_without_products_can_be_looked_at():
    empty = simulate([Halt()], np.zeros(1, np.int8), SMALL)
    assert empty.total == 0 and counters(empty).macs == 0
    assert by_origin(empty) == [] and waterfall(empty).total == 0
