"""tinygrad with some width of its search, in a process of its own, wherever clang is installed.

    by_tinygrad(CHILD, 1)      ->  what the last line of CHILD's output says, as JSON
    by_tinygrad(CHILD, 1)      ->  None where tinygrad or clang is missing

tinygrad reads these settings when it is imported, so it is never imported here. Unit 9 and its lab
use it. Next room: lessons/u09/wild.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

CLANGS = ("clang", *(f"clang-{version}" for version in (22, 19, 18, 17, 16, 15, 14)))


def by_tinygrad(child: str, width: int, seconds: float = 300) -> dict[str, Any] | None:
    """Run the program `child` with BEAM=width. RuntimeError has its words if it fails."""
    clang = next(filter(None, map(shutil.which, CLANGS)), None)
    if clang is None or find_spec("tinygrad") is None:
        return None
    env = {**os.environ, "DEV": "CPU", "CC": clang, "CACHELEVEL": "0", "BEAM": str(width),
           "PARALLEL": "0"}  # fmt: skip
    command = [sys.executable, "-c", child]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])
