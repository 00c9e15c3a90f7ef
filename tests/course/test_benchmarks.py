"""`make bench` measures what it says: each engine for a model or a product, in milliseconds.

    | mlp | 1 | 0.152 | 0.0755 (0.50×) | 0.0393 (0.26×) |

How large the times are is not asserted: this is a check of the measuring, not of the speed.
"""

import argparse
import importlib
import json
import shutil
import subprocess
import sys

import pytest

from course_lib.peers.contest import Contest, Entry
from course_lib.peers.peer import PEERS as PEER_TABLE
from course_lib.peers.peer import lacking

QUICK = ["--threads", "1", "--rounds", "1", "--seconds", "0.01", "--json"]
PEERS = {"course", "onnxruntime"}
INSTALLED = {name for name in ("openvino", "mnn") if not lacking(PEER_TABLE[name])}


@pytest.mark.parametrize(
    ("program", "options", "named", "engines"),
    [
        ("models", ["--model", "mlp"], ("model", "mlp"), PEERS | {"torch-eager"}),
        (
            "breadth",
            ["--model", "styletransfer"],
            ("model", "styletransfer"),
            PEERS | {"course+winograd"},
        ),
        ("matmul", ["--size", "96"], ("size", 96), PEERS | {"torch-eager", "numpy"}),
        ("compiling", ["--model", "mlp"], ("model", "mlp"), PEERS | {"course, the first time"}),
    ],
)
def test_each_engine_gets_a_time(root, tmp_path, program, options, named, engines):
    script = root / "benchmarks" / f"{program}.py"
    command = [sys.executable, script, *options, *QUICK, "--out", tmp_path]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    (row,) = found["rows"]
    what, value = named
    assert (row[what], row["threads"]) == (value, 1)
    if program == "models" and shutil.which("g++"):
        engines = engines | {"torch.compile+freezing"}
    engines = engines | INSTALLED
    assert set(row["ms"]) == engines, found["left_out"]
    assert set(row["fastest"]) and set(row["fastest"]) <= {e for e in engines if "course" not in e}
    assert all(milliseconds > 0 for milliseconds in row["ms"].values())
    assert not set(found["left_out"]) & engines
    assert json.loads((tmp_path / f"{program}.json").read_text()) == found
    plot = (tmp_path / f"{program}.svg").read_text()
    assert "<svg" in plot and "onnxruntime" in plot


def test_what_torch_compile_costs_is_told_apart_from_what_we_cost(root, tmp_path):
    script = root / "benchmarks" / "torch_compile.py"
    command = [sys.executable, script, "--model", "mlp", *QUICK, "--out", tmp_path]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    (row,) = found["rows"]
    assert list(row["ms"]) == ["course", "Dynamo alone", "backend=course", "modules unguarded",
                               "inputs guarded"]  # fmt: skip
    assert all(milliseconds > 0 for milliseconds in row["ms"].values())
    assert "Dynamo alone" in (tmp_path / "torch_compile.svg").read_text()


def test_a_table_tells_no_ratio_that_its_spread_does_not_allow(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    measuring = importlib.import_module("measuring")
    steady = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0]
    found = Contest("mlp", entries=[
        Entry("course", 1, rounds=steady),
        Entry("mnn", 1, rounds=[2 * x for x in steady]),
        Entry("onnxruntime", 1, rounds=[1.3, 0.8, 1.2, 0.9, 1.1, 1.1]),
        Entry("openvino", 1, problem="it is wrong"),
    ])  # fmt: skip
    text = measuring.table(measuring.rows_of(found, "model"), "model")
    assert text.splitlines()[-1] == "| mlp | 1 | 1e+03 | 2e+03 (2.00×) | ▸ 1.1e+03 (≈) |"
    assert measuring.left_out_of([found]) == {"openvino": "it is wrong (mlp)"}


def test_three_levels_of_the_array_get_a_time_and_a_missing_peer_is_named(root):
    script = root / "benchmarks" / "systolic.py"
    product = ["--product", "33", "40", "50", "--scalesim", "/nowhere/python"]
    command = [sys.executable, script, *product, *QUICK]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["left_out"] == {"SCALE-Sim": "/nowhere/python has no package scalesim"}
    cycles = {row["product"]: row["cycles"] for row in found["rows"]}
    assert cycles == {"33 x 40 x 50, os": 4 * 102, "33 x 40 x 50, ws": 4 * 127,
                      "33 x 40 x 50, is": 4 * 144}  # fmt: skip
    for row in found["rows"]:
        assert set(row["ms"]) == {"course", "level 1", "level 0"}


def test_the_peer_of_the_array_has_to_report_the_same_cycles(root, tmp_path):
    """A Python that has the package, as far as can be seen, and reports another number."""
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 'Compute cycles: 408'\n")
    other.chmod(0o755)
    script = root / "benchmarks" / "systolic.py"
    command = [sys.executable, script, "--product", "33", "40", "50", "--scalesim", other, *QUICK]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "not 407: no figures" in result.stderr


def test_a_class_is_graded_in_seconds_and_megabytes(root):
    script = root / "benchmarks" / "classes.py"
    options = ["--units", "0", "--students", "2", "--jobs", "1", "--engine", "pool", "--json"]
    result = subprocess.run([sys.executable, script, *options], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    (row,) = found["rows"]
    assert (row["assignment"], row["graded"]) == ("u00", 2)
    assert row["seconds"]["pool"] > 0
    assert max(row["megabytes"]["pool"]) > 50, "Python and numpy alone"
    assert "2/2" in result.stderr, "the bar says how many are graded"


def test_an_estimate_counts_every_kind_of_the_class(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    answers = importlib.import_module("answers")
    costs = dict.fromkeys(answers.MEASURED, 2.0)
    row = {"assignment": "u00", "prepare": 60.0, "seconds": costs}
    nothing = sum(answers.KINDS[kind] for kind in answers.NOTHING)
    assert sum(answers.KINDS.values()) == 100
    more = {"looping": 30.0, "hostile": 0.0}
    endless = answers.KINDS["looping"] * 30
    expected = (60 + 200 - 2 * nothing + endless) / 60
    assert answers.estimate(row, more, 100) == pytest.approx(expected)
    assert answers.estimate(row, more, 200) == pytest.approx(2 * expected - 1)


@pytest.mark.parametrize("alike", [True, False])
def test_engines_that_differ_get_no_figures(root, tmp_path, monkeypatch, alike):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    classes = importlib.import_module("classes")

    def grades(place, unit, engine, options, bar):
        (place / engine).mkdir()
        points = "5" if alike or engine == "pool" else "6"
        (place / engine / "grades.csv").write_text(f"student,file,final\nada,a.ipynb,{points}\n")
        return (2.0, [90.0, 91.0, 200.0]) if engine == "pool" else (3.0, [250.0, 240.0, 300.0])

    monkeypatch.setattr(classes, "graded", grades)
    monkeypatch.setattr(classes, "make_class", lambda *_: None)
    asked = argparse.Namespace(students=1, seed=0, jobs=2, engine=None)
    if not alike:
        with pytest.raises(SystemExit, match=r"u00: the engines differ in .'grades.csv'"):
            classes.row_of("u00", asked, tmp_path, None)
        return
    row = classes.row_of("u00", asked, tmp_path, None)
    assert classes.line(row) == "| u00 | 1 | 2.0 | 90→91, 200 | 3.0 (1.50×) | 250→240, 300 |"
    both = classes.total([row, row])
    assert both["seconds"]["dask"] == 6 and both["megabytes"]["dask"] == [250, 240, 300]


def test_memory_is_told_over_the_first_and_the_last_answers(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    classes = importlib.import_module("classes")
    flat = [(0, 500.0), *((done, 100.0) for done in range(1, 101)), (50, 2000.0), (100, 100.0)]
    assert classes.over_time(flat) == [100, 100, 2000]
    grows = [(done, 100.0 + done) for done in range(1, 101)]
    assert classes.over_time(grows) == [113, 188, 200]


def test_units_of_a_class_are_those_that_there_are(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    classes = importlib.import_module("classes")
    assert classes.keys_of(["2", "u07_lab_matmul"]) == ["u02", "u07_lab_matmul"]
    every = classes.keys_of(["all"])
    assert {"u00", "u07_lab_matmul", "u18"} <= set(every)
    with pytest.raises(SystemExit, match="no notebook source for u77"):
        classes.keys_of(["0", "77"])
