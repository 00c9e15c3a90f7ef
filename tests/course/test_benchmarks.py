"""`make bench` measures what it says: each engine for a model or a product, in milliseconds.

    | mlp | 1 | 0.152 | 0.0755 (0.50×) | 0.0393 (0.26×) |

How large the times are is not asserted: this is a check of the measuring, not of the speed.
"""

import json
import shutil
import subprocess
import sys

import pytest

QUICK = ["--threads", "1", "--rounds", "1", "--seconds", "0.01", "--json"]
PEERS = {"course", "torch eager", "onnxruntime"}


@pytest.mark.parametrize(
    ("program", "options", "named", "engines"),
    [
        ("models", ["--model", "mlp"], ("model", "mlp"), PEERS),
        (
            "breadth",
            ["--model", "styletransfer"],
            ("model", "styletransfer"),
            {"course", "course, Winograd", "onnxruntime"},
        ),
        ("matmul", ["--size", "96"], ("size", 96), PEERS | {"OpenBLAS"}),
        (
            "compiling",
            ["--model", "mlp"],
            ("model", "mlp"),
            {"course", "the first time", "onnxruntime"},
        ),
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
        engines = engines | {"torch.compile"}
    assert set(row["ms"]) == engines
    assert all(milliseconds > 0 for milliseconds in row["ms"].values())
    assert not set(found["left_out"]) & engines
    assert json.loads((tmp_path / f"{program}.json").read_text()) == found
    plot = (tmp_path / f"{program}.svg").read_text()
    assert "<svg" in plot and "onnxruntime" in plot


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
