"""Slices of a trace: they add up to the cycles, and the file is what Chrome reads."""

import json

import pytest
from hypothesis import given

from course_lib.accelerator.array.closed import cycles
from course_lib.accelerator.array.dataflow import Folding
from course_lib.accelerator.array.timeline import LANES, slices, trace_of
from course_lib.accelerator.array.timing import timing
from course_lib.accelerator.systolic import SystolicArray
from course_lib.trace.chrome import chrome_trace, write_trace

from .test_levels import ARRAYS, SIZES


@given(SIZES, SIZES, SIZES, ARRAYS)
def test_the_slices_of_the_array_add_up_to_the_cycles(m, k, n, array):
    folding = Folding(array, m, k, n)
    found = slices(folding)
    clock = 0
    for one in [s for s in found if s.lane == "array"]:
        assert one.start == clock and one.length > 0
        clock += one.length
    assert clock == cycles(m, k, n, array)
    streamed = [s.length for s in found if s.name == "stream"]
    assert streamed == [folding.time] * folding.folds
    loads = [(s.start, s.length) for s in found if s.name == "load"]
    assert loads == [(f.load, array.rows) for f in timing(folding) if f.load is not None]


def test_short_streams_show_where_the_array_waits_for_weights():
    found = slices(Folding(SystolicArray(8, 2, dataflow="ws", shadow=True), 3, 16, 2))
    assert [(s.name, s.lane, s.start, s.length) for s in found] == [
        ("load", "array", 0, 8),
        ("fill", "array", 8, 8),
        ("stream", "array", 16, 3),
        ("wait", "array", 19, 5),
        ("stream", "array", 24, 3),
        ("load", "shadow load", 8, 8),
    ]


def test_the_file_has_the_events_of_the_format(tmp_path):
    path = tmp_path / "t.json"
    folding = Folding(SystolicArray(4, 4, drain=True), 8, 4, 4)
    write_trace(trace_of(folding), path)
    assert [f.name for f in tmp_path.iterdir()] == ["t.json"]
    trace = json.loads(path.read_text())
    assert trace == chrome_trace(trace_of(folding))
    named, drawn = ([e for e in trace["traceEvents"] if e["ph"] == kind] for kind in "MX")
    assert {e["args"].get("name") for e in named} - {None} == {*LANES, str(folding.array)}
    assert len(drawn) == 2 * 3
    for event in drawn:
        assert {"name", "ph", "ts", "dur", "pid", "tid"} <= event.keys()


def test_too_many_folds_are_refused(tmp_path):
    with pytest.raises(ValueError, match="folds are too many to draw"):
        write_trace(trace_of(Folding(SystolicArray(1, 1), 1000, 1, 1000)), tmp_path / "t.json")
    assert not list(tmp_path.iterdir())
