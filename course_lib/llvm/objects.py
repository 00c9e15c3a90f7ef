"""Machine code that is kept: LLVM compiles a kernel once on this machine, not once a process.

    kept(key, lambda: Object(optimized, code))    # the second time, nothing is made

One file a kernel, in `~/.cache/course_lib/kernels`. Its name is the hash of all that the machine
code depends on: so nothing in there is ever out of date, and any file may be deleted at any time.
COURSE_LIB_CACHE=folder keeps them elsewhere, COURSE_LIB_CACHE=off nowhere. Next room: `jit.py`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIMIT = 256 << 20  # bytes in the folder; beyond, the half that was made first is deleted


@dataclass(frozen=True)
class Object:
    """One kernel: its LLVM IR after the optimizer, and the object file of its machine code."""

    optimized: str
    code: bytes


def kept(key: str, make: Callable[[], Object]) -> Object:
    """What `make` made the first time that this key was asked for, by whichever process.

    key  every text that the machine code depends on
    """
    folder = _folder()
    if folder is None:
        return make()
    path = folder / hashlib.sha256(key.encode()).hexdigest()
    if (found := _read(path)) is None:
        found = make()
        with suppress(OSError):  # a full disk: the next process compiles again
            _write(path, found)
    return found


def _read(path: Path) -> Object | None:
    """None where no whole file is there: LLVM would crash on half of one."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, size, rest = data[:32], int.from_bytes(data[32:40], "little"), data[40:]
    if hashlib.sha256(data[32:]).digest() != digest:
        return None
    return Object(rest[:size].decode(), rest[size:])


def _write(path: Path, made: Object) -> None:
    text = made.optimized.encode()
    rest = len(text).to_bytes(8, "little") + text + made.code
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(rest).digest() + rest)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _folder() -> Path | None:
    """Where objects are kept; None where they are not."""
    said = os.environ.get("COURSE_LIB_CACHE", "")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return None if said == "off" else _made(said or f"{home}/course_lib/kernels")


@cache
def _made(name: str) -> Path | None:
    """The folder, which nobody else may write to, and with room in it. None: it cannot be had."""
    try:
        folder = Path(name).expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o022:
            return None
        files = sorted((f.stat().st_mtime, f.stat().st_size, f) for f in folder.iterdir())
        if sum(size for _, size, _ in files) > LIMIT:
            for _, _, file in files[: len(files) // 2]:
                file.unlink(missing_ok=True)
    except (OSError, RuntimeError):  # read only, no home, gone while we looked
        return None
    return folder
