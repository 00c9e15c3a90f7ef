"""What took long to make is kept on this machine, for the next process that asks.

    kept("kernels", key, make)      # the first time what make() returns, later the same parts

One file each, in `~/.cache/course_lib/KIND`. Its name is the hash of `key`, which says all that the
parts depend on: so nothing in there is ever out of date, and any file may be deleted at any time.
COURSE_LIB_CACHE=folder keeps them elsewhere, COURSE_LIB_CACHE=off nowhere. Next room:
`llvm/objects.py`, who asks; `schedule/schedule.py`, `llvm/jit.py` and
`schedule/search/tuned.py` ask, and so do `models/traced.py` and `exported.py`.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from course_lib.files import write

Parts = tuple[bytes, bytes]
HEAD = struct.Struct("<32sQ")  # the hash of both parts, and how long the first part is
LIMIT = 256 << 20  # bytes in a folder; beyond, the half that was made first is deleted
LOOKS = 16  # for that, until so many bytes are written: a look at many small files takes long
BLOCK = 4096  # bytes that a file takes on a disk, however small it is


def kept(kind: str, key: str, make: Callable[[], Parts]) -> Parts:
    """What `make` made the first time that this key was asked for, by whichever process.

    key  every text that the parts depend on
    """
    parts = look_up(kind, key)
    if parts is None:
        parts = make()
        put(kind, key, parts)
    return parts


def look_up(kind: str, key: str) -> Parts | None:
    """What is kept for this key; None if nothing is."""
    folder = _folder(kind)
    return None if folder is None else _read(folder / _name(key))


def put(kind: str, key: str, parts: Parts) -> None:
    """Keep this for the key, in the place of what was there."""
    folder = _folder(kind)
    if folder is not None:
        path = folder / _name(key)
        with suppress(OSError):  # a full disk: the next process makes it again
            _write(path, parts)
            if _looks(path.name, path.stat().st_size):
                _make_room(folder)


def is_kept(kind: str, key: str) -> bool:
    """Is there a file for this key? True, too, where nothing can be kept."""
    folder = _folder(kind)
    return folder is None or (folder / _name(key)).exists()


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


@cache
def sources(*rooms: str) -> str:
    """The hash of all source files in these folders of course_lib: a part of the key, where what is
    kept depends on what the code there does."""
    files = (f for room in rooms for f in sorted(Path(__file__).with_name(room).rglob("*.py")))
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()


def _read(path: Path) -> Parts | None:
    """None where no whole file is there: half a machine code would crash us."""
    try:
        data = path.read_bytes()
        digest, size = HEAD.unpack_from(data)
    except (OSError, struct.error):
        return None
    end = HEAD.size + size
    parts = data[HEAD.size : end], data[end:]
    return parts if _digest(parts) == digest else None


def _write(path: Path, parts: Parts) -> None:
    write(path, HEAD.pack(_digest(parts), len(parts[0])) + b"".join(parts))


def _digest(parts: Parts) -> bytes:
    """Of the two and of where the first one ends."""
    start = hashlib.sha256(str(len(parts[0])).encode())
    for part in parts:
        start.update(part)
    return start.digest()


def _folder(kind: str) -> Path | None:
    """Where this kind of thing is kept; None if nothing is."""
    setting = os.environ.get("COURSE_LIB_CACHE", "")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return None if setting == "off" else _own_folder(f"{setting or f'{home}/course_lib'}/{kind}")


@cache
def _own_folder(name: str) -> Path | None:
    """The folder, which nobody else may write to. None: it cannot be had."""
    try:
        folder = Path(name).expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o022:
            return None
    except (OSError, RuntimeError):  # read only, no home, gone while we looked
        return None
    return folder


def _looks(name: str, size: int) -> bool:
    """Does who wrote this file look how much there is? For a large one always, for a small one as
    its name, a hash, has it: rarely."""
    return int(name[:8], 16) * LIMIT < max(size, BLOCK) * LOOKS << 32


def _make_room(folder: Path) -> None:
    """Delete the older half of the files if they are too large together."""
    with os.scandir(folder) as entries:
        files = sorted((e.stat().st_mtime, e.stat().st_size, e.path) for e in entries)
    if sum(max(size, BLOCK) for _, size, _ in files) > LIMIT:
        for _, _, path in files[: len(files) // 2]:
            Path(path).unlink(missing_ok=True)
