"""The lab of unit 18: its recording and its facts are whole, and its text says what they say."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from autograder.check.framework import mutants_of
from autograder.check.here import Here
from autograder.check.judging import judge
from autograder.check.meaning import in_double
from autograder.edition.contents import COURSE
from course_lib.exercises import plugged, slot, using
from course_lib.ir.graph import build
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.registry import OPS
from course_lib.measure.interval import interval
from course_lib.models.traced import traced
from lessons.u18_lab_report.bench import BY_BENCH, RECORDED, here, measured
from lessons.u18_lab_report.facts import DEVICES, FACTS, FORMATS, SAYS, SOURCES, needs
from lessons.u18_lab_report.shown import (
    advice_table,
    by_chance,
    claims_table,
    conditions,
    facts_text,
    gains_table,
    pairs_told,
)

OURS = {name: slot(f"u18_lab_report.{name}").reference
        for name in ("model", "claims", "scales", "advice")}  # fmt: skip
TEXT = " ".join((COURSE / "notebooks/u18_lab_report.md").read_text("utf-8").split())
PAGE = " ".join((COURSE / "docs/units/u18_lab_report.md").read_text("utf-8").split())


def test_the_recording_has_eight_systems_on_one_thread_and_on_two():
    ms = {(row["system"], row["threads"]): row["ms"] for row in RECORDED["rows"]}
    assert BY_BENCH.by == "lessons.u18_lab_report.makers:mobilenet" and len(ms) == 16
    assert {"tvm", "onnxruntime", "tinygrad", "course"} <= {system for system, _ in ms}
    assert {len(row["rounds"]) for row in RECORDED["rows"]} == {8}
    assert not any(row["problem"] for row in RECORDED["rows"])
    assert "8 rounds on one thread" in TEXT and BY_BENCH.how.startswith("8 rounds in turns")
    assert 0 <= pairs_told(RECORDED, OURS["claims"], interval) <= 28 and "28 pairs" in TEXT


def test_chance_makes_as_many_claims_as_the_text_says():
    assert round(36 * 2 / 128, 2) == 0.56 and "of 36 intervals 0.56 do" in TEXT
    assert 0 < by_chance(OURS["claims"], interval) < 0.56


def test_two_claims_never_contradict_each_other():
    found = OURS["claims"](RECORDED, interval)
    faster = {one[1:4] for one in found if one[0] == "faster"}
    assert not any((n, b, a) in faster for n, a, b in faster)
    gains = {one[:4] for one in OURS["scales"](RECORDED, interval)}
    assert not any((b, a, *rest) in gains for a, b, *rest in gains)


def test_each_fact_has_a_source_and_names_what_there_is():
    assert [n for n, *_ in FACTS] == [*SOURCES] and all(len(SOURCES[n]) > 10 for n in SOURCES)
    assert {says for _, _, says, _ in FACTS} == {*SAYS}
    for _, _, says, value in FACTS:
        if says == "runs":
            assert value[0] in FORMATS and {*value[1]} <= {*OPS, "relu6"}
            assert len({*value[1]}) == len(value[1])
    listed = facts_text()
    assert all(f"{n:>2}  " in listed for n in SOURCES)
    assert "Fact 25 has a part of a table" in TEXT and "as far as Reshape" in SOURCES[25]
    assert "Facts 18 and 19 are read off the source" in PAGE and "90b983c2" in SOURCES[18]


def test_what_the_facts_say_of_our_model_and_of_mobilenet():
    """The rubric's samples name these facts."""
    ours, mobilenet = OURS["model"](0), traced("mobilenet_v2", [(1, 3, 224, 224)])
    found = {(name, device, compiler, form): OURS["advice"](needs(graph, form), device, compiler,
                                                            FACTS)
             for name, graph in (("ours", ours), ("mobilenet", mobilenet))
             for device, compiler in ((DEVICES[0], "TensorRT"), (DEVICES[1], "LiteRT Micro"),
                                      (DEVICES[1], "TVM"), (DEVICES[2], "edgetpu_compiler"))
             for form in FORMATS}  # fmt: skip
    assert found["ours", DEVICES[0], "TensorRT", "f32"] == [1, 2, 4, 5, 6, 7]
    assert found["ours", DEVICES[1], "LiteRT Micro", "f32"] == "memory"
    assert found["ours", DEVICES[1], "LiteRT Micro", "int8"] == [12, 14, 15, 16, 17, 19]
    assert found["ours", DEVICES[1], "TVM", "int8"] == "target"
    assert found["ours", DEVICES[2], "edgetpu_compiler", "int8"] == "operations"
    assert found["mobilenet", DEVICES[1], "LiteRT Micro", "int8"] == "memory"
    assert needs(mobilenet, "f32")["operations"] == ["add", "conv", "matmul", "mean", "relu6"]


def test_the_tables_show_what_they_are_given():
    found = [("faster", 1, "a", "b", 1.5), ("fastest", 1, "a"), ("smaller", 1, "b", "a", 2.25)]
    shown = str(claims_table(found, "a"))
    assert "1.5" in shown and "fastest" in shown and "2.25" not in shown
    assert "2.25" in str(claims_table(found)) and "none" in str(claims_table([]))
    assert "1.75" in str(gains_table([("a", "b", 1, 2, 1.75)])) and "none" in str(gains_table([]))
    assert f"{RECORDED['others']['2']:.0%} of the time on 2 threads" in conditions(RECORDED)
    table = str(advice_table(OURS["advice"], OURS["model"](0)))
    assert "missing: memory" in table and "facts 12, 14" in table


def test_a_report_of_ones_own_has_the_same_form():
    report = measured(OURS["model"](0), here(["course"]), seconds=0.1)
    assert report.keys() == RECORDED.keys()
    assert {row["system"] for row in report["rows"]} == {"course"}
    assert all(row.keys() == RECORDED["rows"][0].keys() for row in report["rows"])
    assert OURS["claims"](report, interval) == []


@pytest.mark.parametrize("name", ["claims", "scales", "advice"])
def test_a_misunderstanding_is_told_before_it_is_handed_in(name):
    for label, wrong in mutants_of(f"u18_lab_report.{name}").items():
        with plugged(f"u18_lab_report.{name}", wrong):
            call = Here(slot(f"u18_lab_report.{name}"))
            with using({}):
                told = judge(f"u18_lab_report.{name}", call, shrink=False)
        assert (told.earned or 0) < told.points, label


def test_samples_of_the_rubric_earn_less_and_less():
    rubric = slot("u18_lab_report.defended").reference()
    points = [sample.points for sample in rubric.samples]
    assert points == sorted(points, reverse=True) and len(points) == 3
    assert all(a != b for a, b in permutations([s.text for s in rubric.samples], 2))


def test_every_type_in_a_model_becomes_double():
    graph = build.trace(
        lambda x: build.cast(build.cast(x, "i32"), "f32") + build.softmax(x * 0.1), "f32[2,3]"
    )
    x = np.array([[1.5, -2.5, 1e-9], [3.0, 0.1, 7.0]])
    (wide,) = run(in_double(graph), [x])
    (narrow,) = run(graph, [x.astype(np.float32)])
    assert wide.dtype == np.float64 and narrow.dtype == np.float32
    assert 0 < np.abs(wide - narrow).max() < 1e-6
