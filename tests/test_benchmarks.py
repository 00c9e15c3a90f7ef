"""`make bench` measures what it says: three candidates for each model, with times and errors.

    mlp           course_lib       0.152 ms     0.76 x   error 7.9e-07

How large the times are is not asserted: this is a check of the measuring, not of the speed.
"""

import re
import subprocess
import sys


def test_each_candidate_gets_a_time_a_ratio_and_an_error(root):
    command = [sys.executable, root / "benchmarks" / "models.py", "mlp", "--rounds", "2"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    row = r"^mlp +(.+?) +([\d.]+) ms +([\d.]+) x +error (\S+)$"
    rows = {
        found[0]: tuple(map(float, found[1:])) for found in re.findall(row, result.stdout, re.M)
    }
    assert list(rows) == ["torch eager", "onnxruntime", "course_lib"]
    assert all(milliseconds > 0 and error < 1e-4 for milliseconds, _, error in rows.values())
    assert rows["torch eager"][1] == 1.0
