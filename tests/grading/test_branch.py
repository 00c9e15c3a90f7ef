"""Processes that branch off from one that has imported everything: alone, limited as ever."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from autograder.check.framework import Changed, Died, Stop
from autograder.grading import sandbox
from autograder.grading.ahead import prepared
from autograder.grading.frames import frame
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.program import read
from autograder.grading.sandbox import Worker
from autograder.process import branch
from autograder.process.branch import Branch, branches
from autograder.process.start import COURSE, mode, trust_ours
from course_lib.ir.graph.build import relu, trace

trust_ours()
PATIENT = Limits(start=300, cell=300, call=300)


@pytest.fixture(autouse=True)
def where_a_process_can_branch_off(missing) -> None:
    if not branches(mode()):
        missing("bubblewrap in which a process may make namespaces")


@pytest.fixture
def edition(assignment) -> Path:
    return assignment.edition


def told(worker: Worker, expression: str) -> str:
    """What an expression is in the student's process."""
    error = worker.cell(f"raise ValueError({expression})", "<cell 1>")
    assert error is not None
    return error[0].removeprefix("ValueError: ")


def zygote_of(worker: Worker) -> branch.Zygote:
    assert isinstance(worker.child, Branch)
    return worker.child.zygote


def test_one_zygote_serves_one_submission_after_the_other(edition):
    zygotes, users = set(), set()
    for _ in range(3):
        with Worker(edition, PATIENT) as worker:
            zygotes.add(zygote_of(worker).process.pid)
            assert worker.cell("import os", "<cell 1>") is None
            users.add(told(worker, "os.getuid()"))
    assert len(zygotes) == 1 and (len(users) == 3 or os.getuid() != 0)


def test_a_checkout_in_the_temporary_folder_branches_as_any_other():
    """Each copy has a temporary folder of its own, but Python's packages are still there."""
    code = "from autograder.process import branch, start; print(branch.branches(start.mode()))"
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        venv = Path(folder) / "a clone" / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        (packages,) = venv.glob("lib/python*/site-packages")
        for part in Path(np.__file__).parents[1].glob("numpy*"):
            if part.is_dir():
                shutil.copytree(part, packages / part.name)
        done = subprocess.run(
            [venv / "bin" / "python", "-c", code],
            env={**os.environ, "PYTHONPATH": str(COURSE)},
            capture_output=True,
            text=True,
        )
    assert done.stdout == "True\n", done.stderr


def test_a_copy_that_ends_before_anybody_has_looked_at_it_has_been_there(monkeypatch):
    """On a busy machine, the probe had ended before its number was opened: "cannot branch off"."""
    ask = branch.Zygote.ask

    def late(zygote: branch.Zygote, *arguments) -> int:
        number = ask(zygote, *arguments)
        assert select.select([zygote.control], [], [], branch.PATIENCE)[0], "it has not ended"
        return number

    monkeypatch.setattr(branch.Zygote, "ask", late)
    assert branches.__wrapped__(mode())


def test_a_later_submission_finds_nothing_of_an_earlier_one(edition):
    places = ("/tmp/mine", "/dev/shm/mine")
    leave = "\n".join(f"open({place!r}, 'w').write('x')" for place in places)
    plug = 'import numpy\nnumpy.mine = 1\n@implements("u99.bytes")\ndef f(): return 24'
    with Worker(edition, PATIENT) as worker:
        assert worker.cell(f"{leave}\n{plug}", "<cell 1>") is None
        assert worker.answered() == ["u99.bytes"]
    with Worker(edition, PATIENT) as worker:
        assert worker.answered() == []
        assert worker.cell("import os, numpy", "<cell 1>") is None
        look = "os.listdir('/tmp'), os.listdir('/dev/shm'), hasattr(numpy, 'mine')"
        assert told(worker, look) == "([], [], False)"


def test_it_is_alone_and_can_do_nothing_to_others(edition):
    with Worker(edition, PATIENT) as worker, Worker(edition, PATIENT) as other:
        assert worker.child.number != other.child.number
        assert worker.cell("import os, socket, ctypes", "<cell 1>") is None
        seen = "sorted(n for n in os.listdir('/proc') if n.isdigit()), os.getpid()"
        assert told(worker, seen) == "(['1'], 1)"
        held = "[l.split()[1] for l in open('/proc/self/status') if l[:6] in ('CapEff', 'CapPrm')]"
        assert told(worker, f"set(''.join({held}))") == "{'0'}"
        for refused in (
            "os.fork()",
            "os.execv('/bin/sh', ['sh'])",
            "socket.socket()",
            "os.kill(2, 9)",
            "os.kill(-1, 9)",
            "open('/proc/self/mem', 'r+b').seek(0) or open('/proc/sys/kernel/hostname', 'w')",
            "open('/course/course_lib/__init__.py', 'a')",
        ):
            error = worker.cell(refused, "<cell 1>")
            assert error and "Error" in error[0].split(":")[0], (refused, error)
        unmount = "ctypes.CDLL(None).umount2(b'/tmp', 2), ctypes.CDLL(None).unshare(0x10000000)"
        assert told(worker, unmount) == "(-1, -1)"
        assert other.answered() == []


def test_its_files_and_memory_are_limited(edition):
    with Worker(edition, PATIENT) as worker:
        fill = "for n in range(99): open(f'/tmp/{n}', 'wb').write(bytes(15 << 20))"
        error = worker.cell(fill, "<cell 1>")
        assert error and "No space left" in error[0]
        error = worker.cell("bytes(4 << 30)", "<cell 1>")
        assert error and "MemoryError" in error[0]


def test_its_end_is_known_and_the_next_one_starts(edition):
    with Worker(edition, PATIENT) as worker:
        zygote = zygote_of(worker)
        with pytest.raises(Died, match="exit status 7"):
            worker.cell("import os; os._exit(7)", "<cell 1>")
    with Worker(edition, PATIENT) as worker:
        assert zygote_of(worker) is zygote
        with pytest.raises(Died, match="segmentation fault"):
            worker.cell("import ctypes; ctypes.string_at(0)", "<cell 1>")


def test_a_zygote_that_is_gone_is_replaced(edition):
    with Worker(edition, PATIENT) as worker:
        zygote = zygote_of(worker)
        os.killpg(zygote.process.pid, signal.SIGKILL)
        with pytest.raises(Died):
            worker.cell("while True: pass", "<cell 1>")
    with Worker(edition, PATIENT) as worker:
        assert zygote_of(worker) is not zygote and worker.answered() == []


def test_no_more_zygotes_wait_than_are_needed(edition):
    workers = [Worker(edition, PATIENT) for _ in range(4)]
    for worker in workers:
        worker.close()
        worker.close()  # twice: the same
    assert len(branch._free) == branch.FREE
    assert all(zygote.process.poll() is None for zygote in branch._free)


def test_a_process_that_branches_off_from_the_grader_has_zygotes_of_its_own(edition):
    with Worker(edition, PATIENT):
        pass
    child = os.fork()
    if not child:
        os._exit(len(branch._free))
    assert os.waitpid(child, 0)[1] == 0 and branch._free


def test_the_report_is_the_one_of_a_process_that_is_started(
    assignment, notebook, solved, monkeypatch
):
    wrong = notebook('@implements("u99.bytes")\ndef f(): return 1 / 0')
    quick = [grade(assignment, read(data)).to_json() for data in (solved, wrong)]
    monkeypatch.setattr(sandbox, "branches", lambda mode: False)
    assert quick == [grade(assignment, read(data)).to_json() for data in (solved, wrong)]


def test_a_zygote_that_never_answers_is_the_graders_fault(edition, monkeypatch):
    monkeypatch.setattr(
        sandbox, "command_line", lambda *_: [sys.executable, "-c", "import time; time.sleep(99)"]
    )
    begin = time.monotonic()
    with pytest.raises(Stop, match="did not start"):
        Worker(edition, Limits(start=0.01))
    assert time.monotonic() - begin < 60


def test_calls_that_were_read_beforehand_are_those_that_are_sent(edition, tmp_path):
    """A copy has the arguments made; what a call does to them is not the next one's."""
    plug = "@implements('u99.sweep')\ndef f(graph): {}"
    call = prepared("u99.sweep", (trace(relu, "f32[4]"),), {})
    numbers = prepared("u99.sweep", ([1, 2],), {})
    assert call is not None and numbers is not None
    file = tmp_path / "calls"
    file.write_bytes(frame(call.data) + frame(b"no message") + frame(numbers.data))
    with file.open("rb") as opened:
        given = opened.fileno()
        for _ in range(2):
            with Worker(edition, PATIENT, None, (), given) as worker:
                assert zygote_of(worker).given == given
                assert worker.cell(plug.format("return graph"), "<cell 1>") is None
                assert worker.call("u99.sweep", call.args, {}) is call.args[0]
                assert worker.cell(plug.format("graph.append(3); return graph"), "<c>") is None
                for _ in range(2):
                    with pytest.raises(Changed):
                        worker.call("u99.sweep", numbers.args, {})
