"""`make bench` measures what it says: three engines for a model, in milliseconds.

    | mlp | 1 | 0.152 | 0.0755 (0.50×) | 0.0393 (0.26×) |

How large the times are is not asserted: this is a check of the measuring, not of the speed.
"""

import json
import subprocess
import sys


def test_each_engine_gets_a_time(root):
    options = ["--model", "mlp", "--threads", "1", "--rounds", "1", "--seconds", "0.01", "--json"]
    command = [sys.executable, root / "benchmarks" / "models.py", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    (row,) = json.loads(result.stdout.splitlines()[-1])["rows"]
    assert (row["model"], row["threads"]) == ("mlp", 1)
    assert set(row["ms"]) == {"course", "torch eager", "onnxruntime"}
    assert all(milliseconds > 0 for milliseconds in row["ms"].values())
