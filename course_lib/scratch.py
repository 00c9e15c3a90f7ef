"""Temporary folders that go with their process, also where it was killed.

    folder = Folder("course-u02-")
    Path(folder.path)                     # 0.6 GB of models
    folder.close()

What a killed process left behind, the next one with the same prefix removes. It needs a system that
locks files (`fcntl`). Next room: `files.py`, for the files that stay.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
import time

STALE = 60.0  # seconds: an unlocked folder of that age belongs to no process


class Folder:
    """A temporary folder that is locked while its process lives, and swept when it is not."""

    def __init__(self, prefix: str):
        sweep(prefix)
        self.path = tempfile.mkdtemp(prefix=prefix)
        self._lock = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def close(self) -> None:
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


@functools.cache
def sweep(prefix: str) -> None:
    """Remove the folders that killed processes of this user left behind; once in a process."""
    for entry in os.scandir(tempfile.gettempdir()):
        if not entry.name.startswith(prefix) or not entry.is_dir(follow_symlinks=False):
            continue
        with contextlib.suppress(OSError):
            about = entry.stat(follow_symlinks=False)
            if about.st_uid != os.getuid() or time.time() - about.st_mtime < STALE:
                continue
            flags = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
            number = os.open(entry.path, flags)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: it is in use
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(number)
