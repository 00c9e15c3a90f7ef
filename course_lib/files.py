"""Files that the user names: read, or refused with a reason; written completely or not at all.

    write("int8.onnx", data)                   # a full disk, ctrl-C: the old file is still there
    with replacing("run.vcd") as unfinished:   # the same for what is written piece by piece
        ...
    read_text("model.mlir")                    # ValueError: model.mlir is a folder, not a file

Every option of the commands that names a file ends here, and so does what the autograder writes.
Next room: `keep.py`.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 40  # letters of the old name in the unfinished one, which must not grow too long


def write(path: str | os.PathLike[str], data: str | bytes) -> Path:
    """Put the text, in UTF-8, or the bytes in the place of what the file held.

    OSError in words, and the old file, if that cannot be done.
    """
    with replacing(path) as unfinished:
        unfinished.write_bytes(data.encode() if isinstance(data, str) else data)
    return Path(path)


@contextmanager
def replacing(path: str | os.PathLike[str], anew: bool = False) -> Iterator[Path]:
    """A new file in the same folder, which takes this one's place when the block has ended well.

    If it ends in any other way, the new file is gone and the old one as it was. The rights of the
    file stay, and a link stays a link; what is not a file but a device, such as /dev/stdout, is
    written to directly. `anew`: nothing of what was there stays, be it read-only or a link.
    """
    target = Path(path) if anew else Path(os.path.realpath(path))
    with _in_words(path, target):
        mode = os.stat(path).st_mode if os.path.exists(path) and not anew else None
        if mode is not None and not stat.S_ISREG(mode):
            yield Path(path)  # by its own name: a pipe behind /dev/stdout has no real path
            return
        unfinished = target.with_name(f".{target.name[:LONGEST]}.{secrets.token_hex(4)}.tmp")
        unfinished.touch(exist_ok=False)
        try:
            if mode is not None:
                unfinished.chmod(stat.S_IMODE(mode))
            yield unfinished
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what a process that was killed left unfinished under the folder."""
    for path in folder.rglob(f".*.{8 * '[0-9a-f]'}.tmp"):
        path.unlink(missing_ok=True)


@contextmanager
def _in_words(path: str | os.PathLike[str], target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        held = "; its old contents are still there" if target.is_file() else ""
        raise OSError(f"{path} cannot be written: {error.strerror or error}{held}") from error


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8. ValueError in words if there is none, or something else."""
    try:
        return _there(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start} is {error.object[error.start]:#x}"
        raise ValueError(f"{path} is not text in UTF-8: {wrong}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None


def readable(path: str | os.PathLike[str]) -> Path:
    """The path of a file that can be read. ValueError says why it cannot be."""
    file = _there(path)
    if not file.is_file():
        raise ValueError(f"{path} is a device or a pipe, not a file")
    if not os.access(file, os.R_OK):
        raise ValueError(f"{path} cannot be read: you do not have permission")
    return file


def _there(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{path} is a folder, not a file")
    if not os.path.lexists(file):
        raise ValueError(f"there is no file {path}")
    return file
