"""No system tells anybody that it is used: importing OpenVINO would send an event.

MNN's converter installs a package and asks a server when it is imported, so it is never imported.
"""

import os
import subprocess
import sys

import pytest

from course_lib.peers.peer import PEERS, lacking

IMPORT = """
import importlib, sys
importlib.import_module("course_lib.peers." + sys.argv[1])
print(*(name for name, module in sys.modules.items() if module is not None))
"""


@pytest.mark.parametrize(
    ("name", "speaks"), [("openvino", "openvino_telemetry"), ("mnn", "MNN.tools")]
)
def test_what_would_send_something_is_not_loaded_and_nothing_is_written(
    tmp_path, name, speaks, missing
):
    if lacks := lacking(PEERS[name]):
        missing(lacks)
    command = [sys.executable, "-c", IMPORT, PEERS[name].file]
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, env=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert f"course_lib.peers.{name}" in loaded
    assert [one for one in loaded if one == speaks or one.startswith(f"{speaks}.")] == []
    assert list(tmp_path.iterdir()) == []
