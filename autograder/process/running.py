"""A process that may be hostile, as its owner sees it: two pipes, what it uses, and its end.

    child = Child(command_line(mode(), SCRIPT, [...], {SCRIPT: path}), folder)
    child.writing, child.reading         # file descriptors: into it, and out of it
    child.seconds()                      # processor time that it has used
    child.close()                        # it is gone, and everything that it started

Next room: branch.py, a quicker way to have one; autograder/grading/sandbox.py and
autograder/check/outside.py, which talk with one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.process.start import ENVIRONMENT

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Running:
    """What all such processes have in common; `number` is the process, as it is numbered here."""

    number: int
    writing = reading = -1

    def __init__(self) -> None:
        self._stat, self._used, self._state = -1, 0.0, "R"

    def poll(self) -> int | None:
        """How it ended: a status, or minus a signal; None while it runs."""
        raise NotImplementedError

    def wait(self, seconds: float) -> int | None:
        """`poll`, once it has ended or so many seconds are over."""
        raise NotImplementedError

    def close(self) -> None:
        """End it and everything that it started."""
        raise NotImplementedError

    def seconds(self) -> float:
        """Processor time of all its threads so far; after its end, what was seen last."""
        if self.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                self._look()
        return self._used

    @property
    def asleep(self) -> bool:
        """When last looked at, it waited for something that is no processor and no disk."""
        return self._state == "S"

    def _look(self) -> None:
        if not sys.platform.startswith("linux"):
            return self._ask()
        if self._stat < 0:
            self._stat = os.open(f"/proc/{self.number}/stat", os.O_RDONLY | os.O_CLOEXEC)
        fields = os.pread(self._stat, 4096, 0).rpartition(b")")[2].split()
        self._state = fields[0].decode()
        self._used = max(self._used, (int(fields[11]) + int(fields[12])) / TICKS)

    def _ask(self) -> None:
        """Where there is no /proc."""
        import psutil

        try:
            process = psutil.Process(self.number)
            times, status = process.cpu_times(), process.status()
        except psutil.Error:
            return
        self._state = "S" if status == psutil.STATUS_SLEEPING else "R"
        self._used = max(self._used, times.user + times.system)

    def _look_away(self) -> None:
        if self._stat >= 0:
            os.close(self._stat)
        self._stat = -1


class Child(Running):
    """A process that is started for this."""

    def __init__(self, command: list[str], folder: str | None = None):
        super().__init__()
        info = -1
        passed: tuple[int, ...] = ()
        self._is_first = "--as-pid-1" in command
        if command[0] == "bwrap":  # it says which process is the one inside
            info, theirs = os.pipe()
            passed = (theirs,)
            command = [command[0], "--info-fd", str(theirs), *command[1:]]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder or "/",
                env=ENVIRONMENT,
                start_new_session=True,
                bufsize=0,
                pass_fds=passed,
            )
        except BaseException:
            os.close(info) if info >= 0 else None
            raise
        finally:
            for number in passed:
                os.close(number)
        self._info = info
        assert self.process.stdin is not None and self.process.stdout is not None
        self.writing, self.reading = self.process.stdin.fileno(), self.process.stdout.fileno()

    def poll(self) -> int | None:
        return self.process.poll()

    def wait(self, seconds: float) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.seconds()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.writing = self.reading = -1
        self.process.wait()
        self._look_away()
        if self._info >= 0:
            os.close(self._info)
        self._info = -1

    @functools.cached_property
    def number(self) -> int:
        """The process that runs Python, as it is numbered out here."""
        if self._info < 0:
            return self.process.pid
        with os.fdopen(self._info, "rb") as stream:
            self._info = -1
            first = int(json.load(stream)["child-pid"])
        # For root, bubblewrap's own process is the first in there: a worker that has become another
        # user outlives its parent, but no process outlives the first one.
        return first if self._is_first else next(_children(first))


def _children(number: int) -> Iterator[int]:
    """The processes that it started, once there is one."""
    while True:
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[1]
                if int(parent) == number:
                    yield int(entry.name)
        Path(f"/proc/{number}/stat").read_bytes()  # OSError: it is gone
        time.sleep(0.001)
