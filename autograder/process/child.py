"""Inside a limited process: what it gives up before it runs anything that is not ours.

    lock(uid, LIMITS)     # another user, limits, no new processes, no network, ends with its parent

Only the standard library is used, so that any child can begin with it. The limits bind on every
system; the list of refused system calls is Linux's (x86-64 and Arm), where it also holds without
bubblewrap: no other process can be signalled, traced or started, and no socket opened.

Next room: start.py, the other end.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import struct
import sys

NOBODY = 65534
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
SECCOMP_MODE_FILTER = 2
CLONE_THREAD = 0x10000

# Refused system calls: their numbers on x86-64 and on 64-bit Arm (None: it has no such call).
# Memory that belongs to no process (shmget, memfd_create) would escape its limit.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
}
MACHINES = {  # AUDIT_ARCH_*, column of REFUSED, then: kill, tgkill, clone, clone3, prctl
    "x86_64": (0xC000003E, 0, (62, 234, 56, 435, 157)),
    "aarch64": (0xC00000B7, 1, (129, 131, 220, 435, 167)),
}
THREADS = 4096  # of one user: where processes are refused by name, their number may be large


def lock(uid: int, limits: dict[str, int]) -> None:
    """Become `uid` (0: stay who we are), end with the parent, take the limits, refuse calls."""
    if uid:
        become(uid)
    die_with_parent()
    filtered = _refuse_calls()
    limit({**limits, "RLIMIT_NPROC": THREADS if filtered else 0})


def limit(limits: dict[str, int], hard: bool = True) -> None:
    """Set resource limits of this process by name: for good, or such that it may raise them."""
    import resource

    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        most = resource.getrlimit(kind)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value if hard else most))


def die_with_parent() -> None:
    """Linux: end when the process that started this one ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def become(uid: int) -> None:
    """A user of its own for each process: none can signal or read another one."""
    os.setgroups([])
    try:
        os.setgid(uid)
        os.setuid(uid)
    except OSError:  # a container that knows few users
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def _refuse_calls() -> bool:
    """Install the filter of system calls; False where there is none for this machine."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return False

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    code = _filter(*MACHINES[platform.machine()])
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0


def _filter(arch: int, column: int, special: tuple[int, ...]) -> bytes:
    """The filter as a program of the kernel's packet filter: 8 bytes for each instruction.

    A jump says how many instructions are skipped if the comparison holds, and if it does not.
    """
    load, equal, at_least, has_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    number, machine, first_argument = 0, 4, 16  # offsets in what the kernel hands over
    allow, no, unknown = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS

    def step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("<HBBI", code, then, otherwise, value)

    kill, tgkill, clone, clone3, prctl = special
    steps = [step(load, machine), step(equal, arch, 1, 0), step(answer, no), step(load, number)]
    steps += [step(at_least, 1 << 30, 0, 1), step(answer, no)]  # the x32 calls of x86-64
    for numbers in REFUSED.values():
        if (refused := numbers[column]) is not None:
            steps += [step(equal, refused, 0, 1), step(answer, no)]
    steps += [step(equal, clone3, 0, 1), step(answer, unknown)]  # the C library then takes clone
    for call, test, value, if_so, if_not in (
        (kill, equal, os.getpid(), allow, no),  # a signal to itself
        (tgkill, equal, os.getpid(), allow, no),
        (clone, has_bit, CLONE_THREAD, allow, no),  # a thread, no process
        (prctl, equal, PR_SET_PDEATHSIG, no, allow),  # it ends with its parent
    ):
        steps += [step(equal, call, 0, 4), step(load, first_argument), step(test, value, 0, 1)]
        steps += [step(answer, if_so), step(answer, if_not)]
    return b"".join([*steps, step(answer, allow)])


if __name__ == "__main__":  # a probe: can this user read what it may need later?
    place, who = sys.argv[1:]
    sys.path.insert(0, place)
    import numpy

    lock(int(who), {})
    import numpy.linalg

    assert numpy.zeros(1).size == 1
