"""A process that branches off from one that has imported everything, where the sandbox allows it.

    if branches(mode()):
        copy = branched(command)         # a Running, as a Child is, but there at once

    branched(command, mode(), given=file)     # a copy of one that has read the file

`command` is a command line of start.py with `keeps=KEEPS`, whose script calls zygote.branch().
Zygotes that are free wait for the next one who needs the same; they end with this process.

Next room: zygote.py, the other end; autograder/grading/sandbox.py, who asks.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import select
import signal
import socket
import subprocess
import sys

from autograder.process.running import Running
from autograder.process.start import ENVIRONMENT, HERE, PACKAGES, command_line, protected, user
from autograder.process.zygote import ASKED, ENDED, GIVEN
from autograder.process.zygote import HERE as PRESENT

SLOWLY = (
    "Each submission's process starts from scratch here, which takes longer: under {mode}, a "
    "process cannot branch off from one that has imported everything."
)
KEEPS = ("CAP_SYS_ADMIN",)  # in its own namespaces: to make others for the copies
PATIENCE = 300.0  # seconds by the clock for what takes half a second
FREE = 2  # zygotes that wait for work, at most
SCM_CREDENTIALS = 2
CREDENTIALS = 12  # bytes: process, user, group

_free: list[Zygote] = []


@functools.cache
def branches(mode: str) -> bool:
    """Can a zygote do in that mode what it has to? Where it cannot, processes are started."""
    if not (sys.platform.startswith("linux") and protected(mode)):
        return False
    mounts = {"/zygote.py": HERE / "zygote.py", "/process": HERE}
    command = command_line(mode, "/zygote.py", ["/process", str(PACKAGES)], mounts, KEEPS)
    try:
        copy = branched(command, mode)
        try:
            return copy.wait(PATIENCE) == 0
        finally:
            copy.close()
    except OSError:
        return False


def slowly(mode: str) -> str:
    """What is to be said where processes do not branch off; nothing where they do."""
    return "" if branches(mode) else SLOWLY.format(mode=mode)


def branched(
    command: list[str], mode: str, patience: float = PATIENCE, given: int | None = None
) -> Branch:
    """A copy of a zygote that runs this command and has read the file `given`, a descriptor that
    stays open; OSError if there is none after so many seconds."""
    known = (z for z in reversed(_free) if z.command == command and z.given == given)
    zygote = next((z for z in known if z.process.poll() is None), None)
    if zygote is None:
        zygote = Zygote(command, given)
    else:
        _free.remove(zygote)
    try:
        return Branch(zygote, user(mode), patience)
    except BaseException:
        zygote.close()
        raise


class Zygote:
    """The process inside, as its owner sees it. It has one copy at a time."""

    def __init__(self, command: list[str], given: int | None = None):
        self.command, self.given = command, given
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=ENVIRONMENT,
                start_new_session=True,
            )
        if given is not None:
            socket.send_fds(self.control, [GIVEN], [given])

    def ask(self, uid: str, pipes: list[int], patience: float) -> int:
        """A copy, which becomes that user and has these pipes. Returns its number out here."""
        self.control.settimeout(patience)
        socket.send_fds(self.control, [ASKED.pack(int(uid))], pipes)
        data, more, *_ = self.control.recvmsg(len(PRESENT), socket.CMSG_SPACE(CREDENTIALS))
        if data != PRESENT or not more or more[0][1] != SCM_CREDENTIALS:
            raise OSError("The process from which others branch off has ended.")
        return int.from_bytes(more[0][2][:4], sys.byteorder)

    def ended(self, seconds: float) -> int | None:
        """How its copy ended, once it has; None if it has not after so many seconds."""
        if not select.select([self.control], [], [], seconds)[0]:
            return None
        data = self.control.recv(ENDED.size)
        if len(data) < ENDED.size:
            return -signal.SIGKILL  # the zygote is gone, and with it everything in there
        return ENDED.unpack(data)[0]

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.control.close()
        self.process.wait()


class Branch(Running):
    """A copy of a zygote."""

    def __init__(self, zygote: Zygote, uid: str, patience: float):
        super().__init__()
        self.zygote, self._status, self._is_closed = zygote, None, False
        theirs, self.writing = os.pipe()
        self.reading, answers = os.pipe()
        try:
            self.number = zygote.ask(uid, [theirs, answers], patience)
            self._handle = os.pidfd_open(self.number)
        except BaseException:
            os.close(self.writing)
            os.close(self.reading)
            raise
        finally:
            os.close(theirs)
            os.close(answers)

    def poll(self) -> int | None:
        return self.wait(0)

    def wait(self, seconds: float) -> int | None:
        if self._status is None and not self._is_closed:
            self._status = self.zygote.ended(seconds)
        return self._status

    def close(self) -> None:
        if self._is_closed:
            return
        with contextlib.suppress(OSError):
            self.seconds()
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        status = self.wait(PATIENCE)
        self._is_closed = True
        self._status = -signal.SIGKILL if status is None else status
        for number in (self.writing, self.reading, self._handle):
            os.close(number)
        self.writing = self.reading = -1
        self._look_away()
        _set_free(self.zygote)


def _set_free(zygote: Zygote) -> None:
    if zygote.process.poll() is not None:
        return zygote.close()
    _free.append(zygote)
    while len(_free) > FREE:
        _free.pop(0).close()


def close_all() -> None:
    """End the zygotes that wait for work."""
    while _free:
        _free.pop().close()


def _forget() -> None:
    """In a process that has branched off from this one: they are not its own."""
    for zygote in _free:
        zygote.control.close()
    _free.clear()


atexit.register(close_all)
os.register_at_fork(after_in_child=_forget)
