"""A trace of anything: lanes, spans, arrows and curves become events that a viewer accepts."""

import json

import pytest

from course_lib.trace.chrome import Arrow, Curve, Span, Trace, chrome_trace, rate, write_trace

KERNELS = Trace(
    "a model on two threads",
    ("thread 1", "thread 2"),
    [
        Span("matmul_0", "thread 2", 2_000, 500, about={"origin": "layer1"}),
        Span("conv_0", "thread 1", 0, 2_500, kind="kernel"),
    ],
    [Arrow("reads", "a", ("thread 1", 2_000), ("thread 2", 2_000))],
    [Curve("bytes", [(0, 64), (2_500, 0)])],
    per_microsecond=1000,
    about={"machine": "a small one"},
)


def test_times_are_microseconds_and_events_are_in_order(tmp_path):
    path = write_trace(KERNELS, tmp_path / "trace.json")
    found = json.loads(path.read_text())
    assert found == chrome_trace(KERNELS) and [p.name for p in tmp_path.iterdir()] == [path.name]
    head, timed = found["traceEvents"][:5], found["traceEvents"][5:]
    assert [e["args"].get("name") for e in head] == [
        KERNELS.name,
        "thread 1",
        None,
        "thread 2",
        None,
    ]
    assert [(e["ph"], e["ts"], e["tid"]) for e in timed] == [
        ("X", 0, 0), ("C", 0, 0), ("X", 2, 1), ("s", 2, 0), ("f", 2, 1), ("C", 2.5, 0)
    ]  # fmt: skip
    assert timed[0]["dur"] == 2.5 and timed[0]["cat"] == "kernel"
    assert timed[2]["args"] == {"origin": "layer1"}
    assert found["otherData"] == {"machine": "a small one"}


def test_a_rate_is_the_sum_of_all_that_is_done_at_a_time():
    curve = rate("macs", [(0, 4, 8), (2, 4, 6), (3, 3, 9)])
    assert curve.points == [(0, 2), (2, 5), (4, 0)]


def test_a_lane_that_is_not_there_and_time_that_runs_backwards_are_refused():
    with pytest.raises(ValueError, match="two has no lane 'c'; it has a, b"):
        chrome_trace(Trace("two", ("a", "b"), [Span("x", "c", 0, 1)]))
    with pytest.raises(ValueError, match="no less than nothing"):
        chrome_trace(Trace("two", ("a", "b"), [Span("x", "a", 3, -1)]))
