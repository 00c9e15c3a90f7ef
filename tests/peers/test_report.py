"""What a report says, and what it refuses to say: no process runs here."""

import json
import re

import pytest

from course_lib.peers.contest import Contest, Entry
from course_lib.peers.report import Report

STEADY = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 1.0]
NOISY = [1.3, 0.7, 1.2, 0.9, 1.5, 0.8, 1.1]
MACHINE = {"date": "2026-11-28 12:00 UTC", "processor": "a <fast> one", "processors": 2,
           "code_for": "znver4, vectors of 64 bytes", "system": "Linux", "python": "3.11.2",
           "governor": "performance", "load": 0.1}  # fmt: skip


def entry(system: str, rounds, factor: float = 1e-3, **more) -> Entry:
    return Entry(system, 1, f"{system} 1.0", rounds=[factor * x for x in rounds], **more)


@pytest.fixture
def report() -> Report:
    found = Contest("mlp", "PyTorch in float64", others={1: 0.01})
    found.entries = [
        entry("course", STEADY, error=3e-7, kernels=3, compile_seconds=1.2, peak_bytes=130_000_000),
        entry("mnn", STEADY, 1.5e-3),
        entry("onnxruntime", NOISY, 1.08e-3),
        entry("openvino", [], problem="its result is wrong: 1.0e-02 of the largest value away"),
    ]
    return Report(found, MACHINE, "python -m course_lib bench mlp")


def line(report: Report, system: str) -> str:
    return next(x for x in report.text.splitlines() if re.match(f"(▸ )?{system}  ", x))


def test_a_ratio_is_printed_only_if_it_is_larger_than_its_spread(report):
    assert "1.50 times as long" in line(report, "mnn")
    assert "not told apart" in line(report, "onnxruntime")
    assert not re.search(r"1\.0\d times", report.text)
    assert "▸ fastest: course and onnxruntime, not told apart" in report.text
    rows = {row["system"]: row for row in report.data["rows"]}
    assert rows["mnn"]["ratio"] == pytest.approx(1.5) and rows["mnn"]["told_apart"]
    assert rows["onnxruntime"]["ratio"] is None and rows["onnxruntime"]["fastest"]


def test_who_is_wrong_has_no_time_but_a_reason(report):
    assert "openvino: its result is wrong: 1.0e-02" in report.text
    (row,) = [row for row in report.data["rows"] if row["system"] == "openvino"]
    assert row["ms"] is None and row["ratio"] is None and not row["fastest"]


def test_the_head_says_where_with_what_and_how_to_do_it_again(report):
    head = ("a <fast> one, 2 processors", "mnn 1.0", "python -m course_lib bench mlp",
            "PyTorch in float64", "the machine was quiet", "governor performance")  # fmt: skip
    assert [words for words in head if words not in report.text] == []
    json.dumps(report.data)


def test_a_busy_machine_is_said(report):
    report.found.others[1] = 0.4
    assert "THE MACHINE WAS BUSY" in report.text
    assert "1 thread, beside other processes with 40% of the processors" in report.text


def test_the_page_fetches_nothing_and_means_what_it_says(report):
    page = report.page
    assert page.startswith("<!DOCTYPE html>") and "a &lt;fast&gt; one" in page
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert "<svg" in page and "cl-num" in page and "not told apart" in page


def test_an_interrupted_contest_says_so(report):
    report.found.interrupted = True
    assert report.text.splitlines()[1].startswith("INTERRUPTED")


def test_where_nobody_has_a_time_the_reasons_are_told(report):
    del report.found.entries[:3]
    assert "left out:" in report.text and "<svg" not in report.page
