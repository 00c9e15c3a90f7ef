"""Where a student's code runs: a process of its own, with nothing to find and little to break.

    with Worker(edition) as worker:
        worker.cell("@implements('passes.dce') ...", "<cell 4>")
        worker.call("passes.dce", (graph,), {})       # TimedOut, Died, Crashed, or the value

Under bubblewrap: no network, an own PID namespace (nothing survives), an empty home, a small /tmp
in memory, read-only Python, and the student edition. Elsewhere: a plain process with the same
limits, which can read the machine's files; the report says which. Started by root, the worker
becomes `nobody` before it runs anything, because no limit on processes binds root.

Everything that comes back is hostile: frames have a maximal size, reading has a deadline, and
autograder/wire/codec.py decides what a value may be.

Next room: grade.py, which turns a Program into a report.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.check.framework import Crashed, Died, NotAttempted, Stop, TimedOut, Unusable, Wrong
from autograder.grading.worker import HEADER, NEW_CALL
from autograder.wire.codec import Codec, Unsendable

MAX_FRAME = 256 << 20
WORKER = Path(__file__).with_name("worker.py")
SCRIPT, EDITION = "/worker.py", "/course"  # inside the sandbox
PACKAGES = Path(sysconfig.get_path("purelib"))


@dataclass(frozen=True)
class Limits:
    """Seconds. They guard against answers that do not end; nothing is graded by time."""

    start: float = 60.0
    cell: float = 10.0
    call: float = 10.0
    exercise: float = 60.0
    cells: float = 120.0  # all cells together, those that end the process with those before them


class Worker:
    """One student's process."""

    def __init__(self, edition: Path, limits: Limits = Limits(), mode: str = ""):
        self.limits = limits
        self.mode = mode or best_mode()
        self.home = tempfile.mkdtemp(prefix="course-worker-")
        os.chmod(self.home, 0o777)
        self.codec = Codec()
        self.deadline = self.limit = 0.0
        self.printed = ""
        self.process = self._start(edition)
        try:
            self._within(limits.start)
            self._receive()  # it is ready
        except (Died, TimedOut) as stop:  # before any of the student's code: our fault
            self.close()
            raise Stop(f"The answer's process did not start. {stop.problem}") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End the process and everything that it started, and remove its folder."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def cell(self, source: str, filename: str, checked: tuple[str, ...] = ()) -> tuple | None:
        """Run a cell: None, or (error, line, code). The answers to `checked` will be called with
        the names as they are then, whatever later cells make of them."""
        self._within(self.limits.cell)
        self._send(("cell", source, filename, checked))
        kind, *rest = self._receive()
        if kind != "done" or len(rest) != 1:
            raise self._lost("The cell's process answered out of turn.")
        return _error(rest[0])

    def answered(self) -> list[str]:
        """The exercises that have an answer plugged in."""
        self._within(self.limits.cell)
        self._send(("answered",))
        kind, *rest = self._receive()
        if kind != "answered" or len(rest) != 1 or not isinstance(rest[0], list):
            raise self._lost("The cell's process answered out of turn.")
        return [name for name in rest[0] if isinstance(name, str)]

    def call(self, name: str, args: tuple, kwargs: dict) -> Any:
        """Call the student's function there. Functions among the arguments are called here."""
        self.printed = ""
        self.codec.reset()
        self._within(self.limits.call)
        self._send(("call", name, args, kwargs), NEW_CALL)
        while True:
            kind, *rest = self._receive()
            if kind != "callback":
                return self._outcome(kind, rest)
            self._answer_callback(rest)

    def _outcome(self, kind: Any, rest: list) -> Any:
        if rest and isinstance(rest[-1], str) and kind in ("return", "raised", "unsendable"):
            self.printed = rest[-1][:2000]
        if kind == "return" and rest:
            return rest[0]
        if kind == "not attempted":
            raise NotAttempted
        if kind == "raised" and (error := _error(tuple(rest[:3]))):
            raise Crashed(*error)
        if kind == "unsendable" and rest:
            raise Unusable(str(rest[0])[:500])
        raise self._lost("The answer's process spoke out of turn.")

    def _answer_callback(self, rest: list) -> None:
        try:
            number, args, kwargs = rest
            function = self.codec.functions[number]
        except (ValueError, TypeError, IndexError):
            raise self._lost(
                "The answer's process called a function that it was not given."
            ) from None
        try:
            self._send(("result", function(*args, **kwargs)))
        except (Stop, Wrong, Crashed):
            self._abort()
            raise
        except Exception as error:  # it was called with what it does not take: raise it there
            self._send(("error", type(error).__name__, str(error)[:500]))

    def _abort(self) -> None:
        """Make the worker drop the running call, or else the worker."""
        try:
            self._within(1.0)
            self._send(("abort",))
            if self._receive() != ("aborted",):
                self.close()
        except (Died, TimedOut):
            self.close()

    def _send(self, message: tuple, flag: int = 0) -> None:
        data = self.codec.encode(message)
        view = memoryview(HEADER.pack(flag, len(data)) + data)
        assert self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        while view:
            _, ready, _ = select.select([], [pipe], [], self._left())
            if not ready:
                raise self._too_long()
            try:
                view = view[os.write(pipe, view[: 1 << 16]) :]
            except OSError:
                raise self._lost("") from None

    def _receive(self) -> tuple:
        _, length = HEADER.unpack(self._read(HEADER.size))
        if length > MAX_FRAME:
            raise self._lost(f"The answer is larger than {MAX_FRAME >> 20} MB.")
        data = self._read(length)
        try:
            message = self.codec.decode(data)
        except Unsendable as error:
            self.close()  # the two ends no longer agree on what they have seen
            raise Unusable(error) from None
        if not (isinstance(message, tuple) and message and isinstance(message[0], str)):
            raise self._lost("The answer's process sent something else than a message.")
        return message

    def _read(self, size: int) -> bytes:
        assert self.process.stdout is not None
        pipe, parts = self.process.stdout.fileno(), []
        while size:
            ready, _, _ = select.select([pipe], [], [], self._left())
            if not ready:
                raise self._too_long()
            part = os.read(pipe, min(size, 1 << 20))
            if not part:
                raise self._lost("")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _within(self, seconds: float) -> None:
        self.limit = seconds
        self.deadline = time.monotonic() + seconds

    def _left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _too_long(self) -> TimedOut:
        self.close()
        plural = "" if self.limit == 1 else "s"
        return TimedOut(f"It did not end within {self.limit:g} second{plural}.")

    def _lost(self, why: str) -> Died:
        status = self.process.poll()
        if not why:
            try:
                status = self.process.wait(1)
            except subprocess.TimeoutExpired:
                status = None
            why = f"The process that ran your code ended{_reason(status)}."
        self.close()
        return Died(why)

    def _start(self, edition: Path) -> subprocess.Popen:
        if not self.mode.startswith("bubblewrap"):  # here it could be written to: one for each
            edition = Path(shutil.copytree(edition, Path(self.home) / "course"))
        return subprocess.Popen(
            command_line(self.mode, edition, [SCRIPT, "serve", self.mode, EDITION, str(PACKAGES)]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.home,
            env=ENVIRONMENT,
            start_new_session=True,
            bufsize=0,
        )


ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def command_line(mode: str, edition: Path, arguments: list[str]) -> list[str]:
    """Python with these arguments in that mode; EDITION and SCRIPT stand for what they name."""
    python = [sys.executable, "-I", "-S"]
    if not mode.startswith("bubblewrap"):
        places = {EDITION: str(edition), SCRIPT: str(WORKER)}
        return [*python, *(places.get(part, part) for part in arguments)]
    shared: list[str] = []
    for path in dict.fromkeys(["/usr", "/lib", "/lib64", "/bin", sys.base_prefix, sys.prefix]):
        for parent in reversed(Path(path).parents[:-1]):
            shared += ["--perms", "0755", "--dir", str(parent)]
        shared += ["--ro-bind-try", path, path]
    for name in ("course_lib", "autograder"):  # where the whole course is installed for real
        if (PACKAGES / name).exists():
            shared += ["--tmpfs", str(PACKAGES / name)]
    alone = ["--unshare-all"]
    if mode.endswith(" as nobody"):  # root keeps what it needs to become nobody, until it is
        alone = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    bwrap = ["bwrap", *alone, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if mode.endswith(" as nobody"):
        bwrap += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    own = ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(64 << 20)]
    own += ["--tmpfs", "/tmp", "--chdir", "/tmp"]
    course = ["--ro-bind", str(edition), EDITION, "--ro-bind", str(WORKER), SCRIPT]
    return [*bwrap, *own, *shared, *course, *python, *arguments]


@functools.cache
def best_mode() -> str:
    """The strongest way of running a worker that works on this machine."""
    modes = ["bubblewrap", "plain process"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        modes = [m for mode in modes for m in (f"{mode} as nobody", mode)]
    return next(mode for mode in modes if mode == "plain process" or _works(mode))


def _works(mode: str) -> bool:
    """Does a worker start there, and can it import what a student's code may import late?"""
    if mode.startswith("bubblewrap") and shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        command = command_line(mode, Path(folder), [SCRIPT, "probe", mode, str(PACKAGES)])
        try:
            result = subprocess.run(
                command, env=ENVIRONMENT, cwd=folder, capture_output=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError):
            return False
    return result.returncode == 0


def _error(value: Any) -> tuple[str, int | None, str] | None:
    if not isinstance(value, tuple) or len(value) != 3:
        return None
    error, line, code = value
    line = line if isinstance(line, int) and 0 < line < 1_000_000 else None
    return str(error)[:600], line, str(code)[:300]


def _reason(status: int | None) -> str:
    if status is None:
        return ""
    number = -status if status < 0 else status - 128
    names: dict[int, str] = {
        signal.SIGSEGV: "in native code (segmentation fault)",
        signal.SIGKILL: "by force (too much memory or time)",
        signal.SIGXCPU: "after too much computing",
        signal.SIGABRT: "in native code (abort)",
    }
    return f" {names[number]}" if number in names else f" by itself (exit status {status})"
