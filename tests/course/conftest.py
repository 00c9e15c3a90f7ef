"""The website, built once for all tests that look at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.edition.sources import sources


@pytest.fixture(scope="session")
def website(root: Path, once, run_notebook) -> Path:
    def make(folder: Path) -> None:
        (folder / "solved").mkdir()
        for source in sources(root / "notebooks"):
            shutil.copy(run_notebook("instructor", unit=source.key).path, folder / "solved")
        command = [sys.executable, str(root / "site" / "build.py")]
        command += ["--into", str(folder / "html"), "--solved", str(folder / "solved")]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]

    return once("website", make) / "html"
