"""A student at home: the zip of unit 0, an empty environment, and the README's way to fill it.

    unzip; python -m venv; pip install -r requirements.txt; run the notebook     ->  no cell fails

It takes packages of 1 GB, so it runs in CI only. uv is not tried: it wants to reach PyTorch's own
index. pip compiles nothing ahead, which would take longer than the rest.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.edition.handout import FIRST_CELL
from autograder.edition.release import release


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="installs 1 GB: only in .ci/run")
def test_the_zip_of_unit_0_installs_into_an_empty_environment_and_runs(tmp_path: Path) -> None:
    release(tmp_path, 0)
    with zipfile.ZipFile(tmp_path / "u00_tour.zip") as archive:
        archive.extractall(tmp_path / "home")
    folder, bin_ = tmp_path / "home" / "u00_tour", tmp_path / "home" / "course-venv" / "bin"
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    mine = {name: value for name, value in os.environ.items() if name not in ours}
    mine |= {"JUPYTER_DATA_DIR": str(tmp_path / "data")}

    def run(*command: str | Path) -> None:
        done = subprocess.run(command, cwd=folder, env=mine, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]

    run(sys.executable, "-m", "venv", bin_.parent)
    run(bin_ / "python", "-m", "pip", "install", "--no-compile", "-r", "requirements.txt")
    run(bin_ / "jupyter", "nbconvert", "--to", "notebook", "--execute", "--output", "done",
        "u00_tour.ipynb")  # fmt: skip
    done = nbformat.read(folder / "done.ipynb", as_version=4)
    assert done.cells[0].source == FIRST_CELL and done.cells[0].outputs == [], "it is quiet"
    outputs = [output for cell in done.cells for output in cell.get("outputs", [])]
    assert len(outputs) > 20
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
