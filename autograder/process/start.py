"""How a process that may be hostile is started: in which sandbox, and what it is shown.

    Child(command_line(mode(), SCRIPT, [...], {SCRIPT: path}), folder)

Under bubblewrap: no network, own process ids (nothing survives), read-only files, and of those only
Python, its packages and what is mounted by name; the course, and what `hide` was told, never.
Elsewhere a plain process, which has to be asked for: COURSE_SANDBOX=none. Started by root, the
child becomes a user of its own before it runs anything; COURSE_SANDBOX=account takes that where
bubblewrap does not work, and nothing less (grading/platforms: a container that is root's alone).

Next room: running.py, the process as its owner sees it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
COURSE = HERE.parents[1]
PACKAGES = Path(sysconfig.get_path("purelib"))
PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
BUBBLEWRAP, PLAIN, AS_NOBODY = "bubblewrap", "plain process", " as nobody"
OURS = ("course_lib", "autograder", "lessons")
SETTING = "COURSE_SANDBOX"  # "none": without bubblewrap; "account": where that fails, as nobody
OTHER_ACCOUNT = (
    "Graded without a sandbox, in a process of a user that nobody else is (plain process as "
    "nobody): a submission could read the files that every user of the machine may read, write "
    "where every user may, and change nothing else."
)
NO_ACCOUNT = (
    "There is no sandbox: `bwrap` does not work here, and no process can become another user. That "
    "takes root, and a Python and packages that every user may read. Nothing was run."
)
UNPROTECTED = (
    "Graded without a sandbox (plain process): a submission could read and change the files of the "
    "user who graded, other submissions and earlier reports among them, and use the network."
)
MISSING = (
    "There is no sandbox: submissions are run in bubblewrap, and `bwrap` was not found or does not "
    "work here. On Debian and Ubuntu: apt install bubblewrap. To grade without it, where you trust "
    "every submission: --no-sandbox, or make grade SANDBOX=none. Each report then says so."
)
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "COURSE_LIB_CACHE": "off",  # machine code that one submission leaves for another
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
TMP = 64 << 20  # bytes of files in memory
USERS = (1_900_000_000, 100_000_000)  # the first, and how many: numbers that nobody has

_hidden: set[Path] = set()


class NoSandbox(ValueError):
    """bubblewrap is missing, and nobody said that it may be."""


def hide(*places: Path) -> None:
    """Folders and files that no sandbox shows, wherever they lie."""
    _hidden.update(place.resolve() for place in places)


def mode() -> str:
    """How processes are started here; NoSandbox if nothing protects and nobody asked for that."""
    if os.environ.get(SETTING) == "none":
        return _plain()
    confined = _confined()
    if not confined and os.environ.get(SETTING) == "account":
        return _other_account()
    if not confined:
        raise NoSandbox(MISSING)
    return confined


def protected(mode: str) -> bool:
    return mode.startswith(BUBBLEWRAP)


def unprotected(mode: str) -> str:
    """What a report says about that mode: nothing, or what it did not protect."""
    if mode == PLAIN + AS_NOBODY:
        return OTHER_ACCOUNT
    return UNPROTECTED if mode.startswith(PLAIN) else ""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One block at a time among all processes of this user."""
    path = Path(tempfile.gettempdir()) / f"course-alone-{os.getuid()}"
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def strongest() -> str:
    """The best that there is here, for what may also run on a learner's own machine."""
    return _plain() if os.environ.get(SETTING) == "none" else _confined() or _plain()


def trust_ours() -> None:
    """Where there is no bubblewrap, do without: for answers that are ours, not a student's."""
    if not _confined():
        os.environ[SETTING] = "none"


@functools.cache
def _confined() -> str:
    names = [BUBBLEWRAP + AS_NOBODY, BUBBLEWRAP] if _is_root() else [BUBBLEWRAP]
    return next((name for name in names if shutil.which("bwrap") and _works(name)), "")


@functools.cache
def _plain() -> str:
    return PLAIN + AS_NOBODY if _is_root() and _works(PLAIN + AS_NOBODY) else PLAIN


def _other_account() -> str:
    """Root's own container, where nothing else runs and what is secret is root's alone."""
    if _plain() != PLAIN + AS_NOBODY:
        raise NoSandbox(NO_ACCOUNT)
    return PLAIN + AS_NOBODY


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _works(mode: str) -> bool:
    """Does a process start there, and can it import what a student's code may import late?"""
    arguments = [str(PACKAGES), user(mode)]
    command = command_line(mode, "/child.py", arguments, {"/child.py": HERE / "child.py"})
    try:
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=300)
        return done.returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def user(mode: str) -> str:
    """The user that a child becomes: a number that no other one has; 0: it stays who it is."""
    first, count = USERS
    return str(first + secrets.randbelow(count)) if mode.endswith(AS_NOBODY) else "0"


def command_line(
    mode: str,
    script: str,
    arguments: Iterable[str],
    mounts: Mapping[str, Path],
    keeps: Iterable[str] = (),
) -> list[str]:
    """Python with these arguments in that mode. `mounts` says what each name stands for there, and
    `keeps` names the capabilities that a sandboxed process of ours has, inside its namespaces."""
    python = [PYTHON, "-s", "-S", "-P"]
    if not protected(mode):
        return [*python, *(str(mounts.get(part, part)) for part in (script, *arguments))]
    alone = ["--unshare-all", "--as-pid-1"]  # no process of bubblewrap's that it could write to
    if mode.endswith(AS_NOBODY):  # root keeps what it needs to become another, until it is
        alone = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    bwrap = ["bwrap", *alone, "--die-with-parent", "--new-session"]
    bwrap += ["--cap-drop", "ALL"]
    if mode.endswith(AS_NOBODY):
        keeps = ["CAP_SETUID", "CAP_SETGID", *keeps]
    bwrap += [part for name in keeps for part in ("--cap-add", name)]
    files = ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for place, size in (("/tmp", TMP), ("/dev/shm", TMP // 4)):
        files += ["--perms", "1777", "--size", str(size), "--tmpfs", place]
    for name, path in mounts.items():
        files += [*_around(Path(name)), "--ro-bind", str(path), name]
    files += [*_shown(), "--remount-ro", "/", "--chdir", "/tmp"]
    return [*bwrap, *files, *python, script, *arguments]


def _shown() -> list[str]:
    """What Python needs to run, and nothing else: outer folders first, what is secret over them."""
    system = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/nix/store"]
    system += ["/etc/ld.so.cache", "/etc/alternatives"]
    ours = [f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64", PYTHON]
    ours += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    ours += [os.path.realpath(path) for path in ours]  # where a link leads
    secret = {PACKAGES / name for name in OURS} | _hidden
    if COURSE != PACKAGES:
        secret.add(COURSE)
    plan = {Path(path): True for path in (*system, *ours)} | {path: False for path in secret}
    arguments, mounts = [], []
    for path in sorted(plan, key=lambda path: (len(path.parts), path)):
        outer = next((p for p in reversed(mounts) if path.is_relative_to(p)), None)
        if not path.exists() or plan[path] == (outer is not None and plan[outer]):
            continue
        mounts.append(path)
        if plan[path]:
            arguments += [*_around(path), "--ro-bind", str(path), str(path)]
        elif path.is_dir():
            arguments += ["--perms", "0755", "--size", "1048576", "--tmpfs", str(path)]
        else:
            arguments += ["--ro-bind", os.devnull, str(path)]
    closed = [path for path in mounts if not plan[path] and path.is_dir()]
    return [*arguments, *(part for path in closed for part in ("--remount-ro", str(path)))]


def _around(path: Path) -> list[str]:
    """The folders in which it lies, for any user to go through."""
    outside = reversed(path.parents[:-1])
    return [part for place in outside for part in ("--perms", "0755", "--dir", str(place))]
