"""How much memory a model may take, checked before it is allocated.

    check_room(4 * 10**12, "cos(x) : f32[1000000,1000000]")
    ->  ValueError: cos(x) : f32[1000000,1000000] takes 4,000,000,000,000 bytes, and this process
        may take 18,878,103,552: ...

The limit is three quarters of what there is: of the machine's memory, of the container's (cgroups),
or of what `ulimit -v` allows, whichever is least. The rest is for Python and for the system. Beyond
it, a machine that promises more memory than it has would end this process, or another one, without
a word. COURSE_LIB_MEMORY=4000000000 in the environment, in bytes, replaces this limit. Next
room: `files.py`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

CGROUPS = ("memory.max", "memory/memory.limit_in_bytes")  # version 2 and 1
WITHOUT = 8 << 30  # bytes of a system that does not say what it has


def check_room(size: int, what: str) -> None:
    """ValueError in words if `what` takes more bytes than this process may take."""
    limit = memory_limit()
    if size > limit:
        raise ValueError(
            f"{what} takes {size:,} bytes, and this process may take {limit:,}: three quarters of "
            "the memory that it can have, or what COURSE_LIB_MEMORY says"
        )


def memory_limit() -> int:
    """How many bytes this process may take. ValueError if the environment says nonsense."""
    setting = os.environ.get("COURSE_LIB_MEMORY")
    if setting is None:
        return _three_quarters()
    if not setting.isdecimal():
        raise ValueError(f"COURSE_LIB_MEMORY is a number of bytes, got {setting!r}")
    return int(setting)


@cache
def _three_quarters() -> int:
    return min(_machine(), _container(), _process()) * 3 // 4


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return WITHOUT


def _container(folder: Path = Path("/sys/fs/cgroup")) -> int:
    for name in CGROUPS:
        with suppress(OSError, ValueError):  # no such file; "max" is no number: no limit
            return int((folder / name).read_text())
    return _machine()


def _process() -> int:
    try:
        import resource  # not every system has it
    except ImportError:
        return _machine()
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return _machine() if limit == resource.RLIM_INFINITY else limit
