"""No process of a student outlives the grader, however either of them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.check.framework import TimedOut
from autograder.edition.contents import COURSE
from autograder.grading.limits import Limits
from autograder.grading.sandbox import Worker

ENDLESS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
GRADER = """
import sys
from pathlib import Path
from autograder.grading.limits import Limits
from autograder.grading.sandbox import Worker
worker = Worker(Path(sys.argv[1]), Limits(start=300, cell=300))
print(worker.child.number, flush=True)
worker.cell(sys.argv[2], "<cell 1>")
"""


def is_gone(number: int) -> bool:
    """Waits for it: the kernel takes its time on a busy machine."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    os.kill(number, signal.SIGKILL)
    return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_process_that_is_stopped_is_gone(assignment):
    worker = Worker(assignment.edition, Limits(start=300, cell=1))
    number = worker.child.number
    with pytest.raises(TimedOut):
        worker.cell(ENDLESS, "<cell 1>")
    assert is_gone(number)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_killing_the_grader_ends_what_it_runs(assignment):
    command = [sys.executable, "-c", GRADER, str(assignment.edition), ENDLESS]
    with subprocess.Popen(command, cwd=COURSE, stdout=subprocess.PIPE, text=True) as grader:
        assert grader.stdout is not None
        number = int(grader.stdout.readline())
        time.sleep(0.5)  # it is in the middle of the cell
        grader.kill()
    assert is_gone(number)
