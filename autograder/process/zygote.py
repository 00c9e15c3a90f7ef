"""Inside the sandbox: one process imports everything; each submission gets a copy of it.

    uid = branch(read)    # returns in every copy, never in the first process, the zygote

To start Python and import the library takes half a second, to copy a process that has done both a
hundredth. The zygote runs nobody's code but ours. A copy has process ids, files in memory and
message queues of its own, as if bubblewrap had started it alone; it sees neither the zygote nor an
earlier copy, and has given up every capability before it runs anything of a student's. Out there
somebody asks over a socket, which is the zygote's standard input.

What all copies need may be handed over once, as a file, before any of them is there: `read` gets
its descriptor.

Linux only. Next room: branch.py, the other end; child.py, what else a copy gives up.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import re
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable

ASKED = struct.Struct("<q")  # the copy's user
ENDED = struct.Struct("<i")  # its exit code; of a copy that a signal ended, minus the signal
GIVEN = b"given"  # here is a file for all copies
HERE = b"here"  # what a copy says first; the kernel adds which process it is
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x00020000, 0x08000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
CAPABILITIES = 0x20080522  # the version of the structure that `capset` takes
FILES = (("/tmp", 64 << 20), ("/dev/shm", 16 << 20))  # folders in memory, and their bytes


def branch(read: Callable[[int], object]) -> int:
    """Serve whoever asks. Returns in each copy, with the user that it is to become."""
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), 0)
    _must("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)  # nobody reads or writes its memory
    _be_the_first()
    mine = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    _freeze()
    copy = 0
    while True:
        data, pipes, *_ = socket.recv_fds(control, ASKED.size, 2)
        if copy:
            os.waitpid(copy, 0)  # only now may its number become another process's
            copy = 0
        if data == GIVEN and len(pipes) == 1:
            read(pipes[0])
            os.close(pipes[0])
            _freeze()
            continue
        if len(data) < ASKED.size or len(pipes) != 2:
            os._exit(0)  # nobody asks any more
        _must("unshare", CLONE_NEWPID)  # for those that branch off from now on
        copy = os.fork()
        if not copy:
            (uid,) = ASKED.unpack(data)
            _move_in(control, mine, pipes)
            if not uid:
                _give_up_capabilities()  # who becomes another user loses them by that
            return uid
        _must("setns", mine, CLONE_NEWPID)
        for number in pipes:
            os.close(number)
        control.send(ENDED.pack(_exit_code(copy)))


def _exit_code(copy: int) -> int:
    """How a copy has ended. Its number stays its own: the one who asked may not have opened it."""
    end = os.waitid(os.P_PID, copy, os.WEXITED | os.WNOWAIT)
    assert end
    return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status


def _freeze() -> None:
    """The copies share these objects; collecting them would copy their pages."""
    gc.collect()
    gc.freeze()


def confirm() -> None:
    """End here and now if any capability is left."""
    with open("/proc/self/status") as file:
        held = [line.split()[1] for line in file if line.startswith(("CapPrm:", "CapEff:"))]
    if len(held) != 2 or any(int(value, 16) for value in held):
        os._exit(1)


def _be_the_first() -> None:
    """Go on in process ids of our own: only to those that it owns can a process come back."""
    _must("unshare", CLONE_NEWPID)
    first = os.fork()
    if first:
        os._exit(os.waitpid(first, 0)[1] != 0)
    _must("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _move_in(control: socket.socket, namespace: int, pipes: list[int]) -> None:
    """The copy's own files and pipes; it says that it is there, and lets go of all else."""
    _must("unshare", CLONE_NEWNS | CLONE_NEWIPC)
    _must("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    for place, size in FILES:
        below = [(path, os.open(path, os.O_PATH)) for path in _mounted_below(place)]
        options = f"mode=1777,size={size}".encode()
        _must("mount", b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options)
        for path, number in below:
            _show_again(path, number)
    closed = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY
    _must("mount", b"proc", b"/proc", b"proc", closed, None)
    os.chdir("/tmp")
    control.send(HERE)
    control.close()
    os.dup2(pipes[0], 0)
    os.dup2(pipes[1], 1)
    os.close(namespace)
    os.closerange(3, 4096)


def _mounted_below(place: str) -> list[str]:
    """What the sandbox shows inside a folder that each copy gets anew, outer places first: a whole
    checkout may lie there, with the packages that Python needs."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [line.split(" ")[4] for line in file]
    paths = [re.sub(r"\\([0-7]{3})", lambda c: chr(int(c[1], 8)), point) for point in points]
    return [path for path in paths if path.startswith(f"{place}/")]


def _show_again(path: str, number: int) -> None:
    """Mount what an open file stands for where it was before its folder was covered."""
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    if stat.S_ISDIR(os.fstat(number).st_mode):
        os.makedirs(path, 0o755, exist_ok=True)
    elif not os.path.exists(path):
        open(path, "x").close()
    _must("mount", b"/proc/self/fd/%d" % number, os.fsencode(path), None, MS_BIND, None)
    os.close(number)


def _give_up_capabilities() -> None:
    header = struct.pack("<Ii", CAPABILITIES, 0)
    _must("capset", header, bytes(24))


def _must(name: str, *arguments: int | bytes | None) -> None:
    """Call the C library; whoever cannot do what it has to, ends."""
    words = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    if getattr(ctypes.CDLL(None), name)(*words):
        os._exit(1)


if __name__ == "__main__":  # a probe: can all of it be done here?
    sys.path[:0] = sys.argv[1:]
    import numpy
    from child import lock  # type: ignore[import-not-found]

    lock(branch(os.fstat), {})
    confirm()
    # Packages may lie where a copy has files of its own: what is new is still imported from there.
    for name in ("numpy.linalg", "numpy.ma", "numpy.f2py"):
        importlib.import_module(name)
    assert numpy.zeros(1).size == 1
