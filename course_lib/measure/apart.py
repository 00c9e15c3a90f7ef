"""A process that answers requests, a line of JSON each, and may crash or hang.

    Apart("course_lib.tune.child").ask(request, 200.0)   ->   {"at": 0}, {"timings": ...}
    answer_all(lambda request, say: {"timings": ...})         the other side, in `tune/child.py`

It is started when it is first asked, and again when it has ended. How it ended is said in words.
Only text crosses. Next room: `course_lib/tune/measure.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

HANGS = "hangs: nothing was heard of it for too long"
STARTING = 120.0  # seconds that a process may take until it is ready, on a busy machine

Said = dict[str, Any]


class Ended(Exception):
    """The process ended, or nothing is heard of it: why, in words."""


class Apart:
    """One process, which runs `main()` of a module.

    environment  variables that it has beside those of this process
    cores        the processors that it may use, before it imports anything; None: all
    errors       the file that gets what it prints; None: nobody
    """

    def __init__(
        self,
        module: str,
        environment: Mapping[str, str] | None = None,
        cores: Sequence[int] | None = None,
        errors: str | None = None,
    ) -> None:
        self.module = module
        self.environment, self.cores, self.errors = environment or {}, cores, errors
        self.process: subprocess.Popen[bytes] | None = None
        self.rest = b""

    def ask(self, request: Said, patience: float) -> Iterator[Said]:
        """What the process says, one thing after another; whoever asks knows which is the last.

        Ended, if it is silent for more than `patience` seconds, or if it has ended.
        """
        process = self._started()
        assert process.stdin
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        while True:
            yield self._line(patience)

    def _line(self, patience: float) -> Said:
        """The next thing that the process says."""
        assert self.process and self.process.stdout
        end = time.monotonic() + patience
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            if not ready or time.monotonic() > end:
                raise Ended(HANGS)
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise Ended(ended(self.process.wait()))
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def _started(self) -> subprocess.Popen[bytes]:
        """A process that imports from where this one does."""
        if self.process is None:
            code = f"import os, sys; sys.path[:] = {sys.path!r}; import {self.module} as asked"
            if self.cores is not None and hasattr(os, "sched_setaffinity"):
                code = f"import os; os.sched_setaffinity(0, {list(self.cores)}); {code}"
            with open(self.errors or os.devnull, "ab") as errors:
                self.process = subprocess.Popen(
                    [sys.executable, "-c", f"{code}; asked.main()"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, **self.environment},
                    start_new_session=True,  # Ctrl-C is for this process
                )
            self.rest = b""
            self._line(STARTING)
        return self.process

    def stop(self) -> None:
        """End the process, if there is one, and those that it has started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # they are gone
                os.killpg(self.process.pid, signal.SIGKILL)
            for stream in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            self.process.wait()
            self.process = None


def ended(status: int) -> str:
    """Why a process ended that should not have."""
    if status == -signal.SIGPROF:
        return HANGS
    if status == -signal.SIGKILL:
        return "was killed (SIGKILL), as a system does that runs out of memory"
    if status < 0:
        return f"crashed: {signal.Signals(-status).name}"
    return f"failed: the process ended with status {status}"


# ── the other side ──


def answer_all(answer: Callable[[Said, Callable[[Said], None]], Said]) -> None:
    """Answer requests until there are no more: the last thing said is what `answer(request, say)`
    returns. What else the process prints goes nowhere."""
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever else prints

    def say(message: Said) -> None:
        print(json.dumps(message), file=reports)

    say({"ready": True})
    for line in sys.stdin:
        say(answer(json.loads(line), say))


def end_after(seconds: float) -> None:
    """After so many seconds of processor time, SIGPROF ends this process. 0: no limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(size: int) -> None:
    """No more addresses than that: what asks for more gets a MemoryError, or ends the process."""
    import resource  # not every system has it

    with contextlib.suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))
