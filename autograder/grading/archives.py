"""Notebooks out of a zip that somebody else made: bounded, in memory, never on the disk.

    budget = Budget(20 << 20)
    for entry in notebooks_in(Path("ada.zip"), budget):
        entry.name, entry.data, entry.problem, entry.time

What a zip says about its own sizes is not believed: bytes are counted while they are unpacked, and
the budget is one for everything that a student handed in. A zip in a zip is not opened.

Next room: submissions.py, where names become students.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from autograder.grading.names import printable

MAX_FILES = 200  # notebooks of one student
MAX_BYTES = 20 << 20  # of one notebook
MAX_ZIP = 64 << 20  # of a student's zip as it lies there
MAX_DIRECTORY = 8 << 20  # of its list of contents, which is read whole
CHUNK = 1 << 18
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What systems leave in folders; nobody means to hand it in.
SYSTEM = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")


@dataclass
class Budget:
    """Bytes that may still be unpacked or read."""

    left: int

    def take(self, count: int) -> bool:
        """Count these bytes; False once there are more than the budget has."""
        self.left -= count
        return self.left >= 0


@dataclass(frozen=True)
class Entry:
    """One file of a zip, or why it cannot be read. `time` has no zone: a zip keeps none."""

    name: str
    data: bytes = b""
    problem: str = ""
    time: datetime | None = None


def is_systems(parts: tuple[str, ...]) -> bool:
    """True for what no person made: resource forks, checkpoints, folder views."""
    return any(part in SYSTEM or part.startswith("._") for part in parts)


def notebooks_in(file: Path | bytes, budget: Budget) -> Iterator[Entry]:
    """The notebooks of one student's zip, and a word on each thing that is not read."""
    try:
        if isinstance(file, Path) and file.stat().st_size > MAX_ZIP:
            raise ValueError(f"it has more than {MAX_ZIP >> 20} MB")
        stream = file.open("rb") if isinstance(file, Path) else io.BytesIO(file)
        with stream, opened(stream) as archive:
            yield from _entries(archive, budget)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        yield Entry("", problem=f"The zip cannot be read: {error}.")


def opened(stream: io.BufferedIOBase) -> zipfile.ZipFile:
    """The zip, if its list of contents has a size that one wants to read."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - (1 << 16) - 22))
    tail = stream.read()
    end = tail.rfind(b"PK\x05\x06")
    if end >= 0:
        if tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
            raise ValueError("it has the format for more than 4 GB")
        if int.from_bytes(tail[end + 12 : end + 16], "little") > MAX_DIRECTORY:
            raise ValueError("it lists too many files")
    stream.seek(0)
    return zipfile.ZipFile(stream)  # type: ignore[arg-type]


def read_entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int, budget: Budget
) -> Entry:
    """At most `limit` bytes, whatever the zip says about its sizes."""
    if info.compress_type not in METHODS:
        return Entry(info.filename, problem="It is packed in an unusual way; use an ordinary zip.")
    content = bytearray()
    try:
        with archive.open(info) as stream:
            while chunk := stream.read(CHUNK):
                content += chunk
                if not budget.take(len(chunk)):
                    return Entry(info.filename, problem="The files are too large together.")
                if len(content) > limit:
                    problem = f"The file has more than {limit >> 20} MB."
                    return Entry(info.filename, problem=problem)
    except Exception as error:  # damaged, encrypted, an unknown method: zipfile raises many kinds
        return Entry(info.filename, problem=f"It cannot be read from the zip: {error}.")
    return Entry(info.filename, bytes(content), "", time_of(info))


def time_of(info: zipfile.ZipInfo) -> datetime | None:
    """When the entry was last changed, to two seconds; None where the zip says nonsense."""
    try:
        return datetime(*info.date_time) if info.date_time[0] > 1980 else None
    except ValueError:
        return None


def _entries(archive: zipfile.ZipFile, budget: Budget) -> Iterator[Entry]:
    count = 0
    others: list[str] = []
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if info.is_dir() or is_systems(parts):
            continue
        if name.lower().endswith(".zip"):
            yield Entry(name, problem="A zip inside a zip is not opened.")
        elif name.lower().endswith(".ipynb"):
            count += 1
            if count > MAX_FILES or budget.left <= 0:
                yield Entry(name, problem="The zip holds too much; the rest is ignored.")
                return
            entry = read_entry(archive, info, MAX_BYTES, budget)
            yield Entry(name, entry.data, entry.problem, entry.time)
        else:
            others.append(name)
    if not count:
        yield Entry("", problem=f"There is no notebook in the zip.{listed(others)}")
    elif others:
        yield Entry("", problem=not_notebooks(others))


def not_notebooks(names: list[str]) -> str:
    """The sentence about files that nobody grades."""
    what = "1 other file is" if len(names) == 1 else f"{len(names)} other files are"
    return f"{what} no notebook and not graded.{listed(names)}"


def listed(names: list[str]) -> str:
    """A few of the names."""
    more = ", ..." if len(names) > 3 else ""
    return f" ({', '.join(map(printable, names[:3]))}{more})" if names else ""
