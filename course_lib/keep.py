"""What took long to make is kept on this machine, for the next process that asks.

    kept("kernels", key, make)      # the first time what make() returns, later the same bytes

One file each, in `~/.cache/course_lib/KIND`. Its name is the hash of `key`, which says all that the
bytes depend on: so nothing in there is ever out of date, and any file may be deleted at any time.
COURSE_LIB_CACHE=folder keeps them elsewhere, COURSE_LIB_CACHE=off nowhere. Next room:
`llvm/objects.py`, who asks.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

LIMIT = 256 << 20  # bytes in a folder; beyond, the half that was made first is deleted


def kept(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` made the first time that this key was asked for, by whichever process.

    key  every text that the bytes depend on
    """
    folder = _folder(kind)
    if folder is None:
        return make()
    path = folder / hashlib.sha256(key.encode()).hexdigest()
    if (found := _read(path)) is None:
        found = make()
        with suppress(OSError):  # a full disk: the next process makes it again
            _write(path, found)
    return found


def _read(path: Path) -> bytes | None:
    """None where no whole file is there: half a machine code would crash us."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, made = data[:32], data[32:]
    return made if hashlib.sha256(made).digest() == digest else None


def _write(path: Path, made: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(hashlib.sha256(made).digest() + made)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _folder(kind: str) -> Path | None:
    """Where this kind of thing is kept; None if nothing is."""
    said = os.environ.get("COURSE_LIB_CACHE", "")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return None if said == "off" else _made(f"{said or f'{home}/course_lib'}/{kind}")


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
