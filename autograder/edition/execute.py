"""A notebook, run as a reader runs it: from the first cell to the last, in a kernel of its own.

    execute(folder / "u02_rewrites.ipynb")
    # the file now holds what each cell showed, and in its metadata what the run used:
    # {"used": {"peak_mb": 612, "cpu_seconds": 14}}

Next room: autograder/grading/grade.py, what happens to a notebook that comes back.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CELL_SECONDS = 3600  # for a cell that never ends; no cell of ours needs a minute

# In a process of its own, whose only child is the kernel: so the figures are those of the kernel.
EXECUTE = """
import os, resource, sys, tempfile, nbformat
from nbclient import NotebookClient
from traitlets.config import Config
folder, name = os.path.split(sys.argv[1])
os.chdir(folder)
notebook = nbformat.read(name, as_version=4)
with tempfile.TemporaryDirectory() as talk:  # through files: two kernels may choose the same port
    way = {"transport": "ipc", "connection_file": talk + "/kernel.json", "ip": talk + "/kernel"}
    seconds, config = int(sys.argv[2]), Config({"KernelManager": way})
    client = NotebookClient(notebook, timeout=seconds, startup_timeout=seconds, config=config)
    client.execute()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
kilo = 1024 if sys.platform == "linux" else 1024 * 1024  # ru_maxrss is in KB, elsewhere in bytes
seconds = round(used.ru_utime + used.ru_stime)
notebook.metadata["used"] = {"peak_mb": used.ru_maxrss // kilo, "cpu_seconds": seconds}
nbformat.write(notebook, name)
"""


def execute(path: Path) -> None:
    """Run the notebook in its folder and write what its cells show into the file itself.

    Raises ValueError with the cell and its error where one fails; the file is then as before.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-c", EXECUTE, str(path.resolve()), str(CELL_SECONDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{path.name} does not run from top to bottom:\n{done.stderr[-4000:]}")
