"""Every notebook runs in the 2 GB that a Binder gives; `make test` prints what each one needs.

    u02_rewrites                     612 MB of 1600 MB,  14 s

Each notebook of the self-learner's edition is executed untouched, in a kernel of its own. Its
figures are the peak of the largest process of that run, which is the kernel, and the processor
time. JupyterLab's server comes on top; test_make_lab.py holds it to 400 MB.
"""

import subprocess
import sys
from pathlib import Path

import pytest

LIMIT_MB = 2000 - 400

# Execute a notebook from the first to the last cell; print the peak of the largest child in MB and
# the processor time in seconds.
EXECUTE = """
import os, resource, sys, nbformat
from nbclient import NotebookClient
folder, name = os.path.split(sys.argv[1])
os.chdir(folder)
notebook = nbformat.read(name, as_version=4)
NotebookClient(notebook, allow_errors=True, timeout=300).execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
assert all(cell.execution_count for cell in code), "not every cell was executed"
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss // 1024, round(used.ru_utime + used.ru_stime))
"""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def course(root, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    run(
        sys.executable, "-m", "autograder", "build", "--edition", "open", "--into", folder, cwd=root
    )
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured the Linux way")
def test_every_notebook_fits_into_a_binder(course, table):
    notebooks = sorted(course.rglob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        peak, seconds = map(int, run(sys.executable, "-c", EXECUTE, notebook).split()[-2:])
        row = f"{notebook.stem:<30} {peak:5} MB of {LIMIT_MB} MB, {seconds:3} s"
        table("Peak memory of the notebooks", row)
        assert peak < LIMIT_MB, f"{notebook.name} needs {peak} MB; a Binder has {LIMIT_MB} MB"
