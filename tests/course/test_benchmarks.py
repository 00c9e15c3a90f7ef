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
            ["--model", "autoencoder"],
            ("model", "autoencoder"),
            {"course", "onnxruntime"},
        ),
        ("matmul", ["--size", "96"], ("size", 96), PEERS | {"OpenBLAS"}),
    ],
)
def test_each_engine_gets_a_time(root, tmp_path, program, options, named, engines):
    plot = tmp_path / "ratios.svg"
    script = root / "benchmarks" / f"{program}.py"
    command = [sys.executable, script, *options, *QUICK, "--plot", plot]
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
    assert "<svg" in plot.read_text() and "onnxruntime" in plot.read_text()
