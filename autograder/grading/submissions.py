"""Finding what was handed in: files, folders and zips with whatever names an LMS gives them.

    submissions/ada.ipynb                                    one file for each student
    submissions/Ada Lovelace_4711_assignsubmission_file_/    one folder (Moodle)
    submissions/lovelaceada_LATE_88_5091_u02_rewrites-1.zip  one zip (Canvas)
    submissions/ada/u02_rewrites/u02_rewrites.ipynb          nbgrader's own exchange
    all.zip                                                  a zip of any of these

A student is the outermost name, less the assignment's name, and nothing inside can change that.
Zips are read in memory, notebooks only, with limits on number and size; a zip in a zip is not
opened. Which notebook answers which assignment is decided by what it answers, not by its name.

Next room: classroom.py, which grades what was found.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MAX_FILES = 200  # notebooks of one student
MAX_BYTES = 20 << 20  # of one notebook
MAX_ZIP = 100 << 20  # of all notebooks of one zip


@dataclass(frozen=True)
class Handed:
    """One notebook file, or (without data) something that cannot be read, and why."""

    student: str
    name: str  # where it was, for the teacher
    data: bytes = b""
    problem: str = ""


def collect(place: Path, assignments: Iterable[str] = ()) -> list[Handed]:
    """Everything handed in under `place` (a folder or a zip), sorted by student."""
    if not place.exists():
        raise ValueError(f"{place} does not exist")
    names = sorted(assignments, key=len, reverse=True)
    if place.is_file() and place.suffix.lower() == ".zip":
        try:
            found = list(_from_bulk_zip(place))
        except zipfile.BadZipFile as error:
            raise ValueError(f"{place} cannot be read: {error}") from None
    elif place.is_dir():
        found = [handed for entry in sorted(place.iterdir()) for handed in _from_entry(entry)]
    else:
        raise ValueError(f"{place} is neither a folder nor a zip")
    handed = [Handed(_student(h.student, names), h.name, h.data, h.problem) for h in found]
    return sorted(handed, key=lambda h: (h.student, h.name))


def _from_entry(entry: Path) -> Iterator[Handed]:
    student = entry.stem if entry.is_file() else entry.name
    if entry.name.startswith((".", "__MACOSX")):
        return
    if entry.is_symlink():
        yield Handed(student, entry.name, problem="It is a link, not a file.")
    elif entry.is_dir():
        yield from _from_folder(entry, student)
    elif not entry.is_file():
        yield Handed(student, entry.name, problem="It is a pipe or a device, not a file.")
    elif entry.suffix.lower() == ".zip":
        yield from _from_zip(entry, student, entry.name)
    elif entry.suffix.lower() == ".ipynb":
        yield _from_file(entry, student, entry.name)


def _from_folder(folder: Path, student: str) -> Iterator[Handed]:
    count = 0
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        name = f"{folder.name}/{inside.as_posix()}"
        if any(part.startswith(".") for part in inside.parts) or path.is_dir():
            continue
        if path.suffix.lower() not in (".ipynb", ".zip"):
            continue
        count += 1
        if count > MAX_FILES:
            yield Handed(student, name, problem=f"More than {MAX_FILES} files; some are ignored.")
            return
        if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            yield Handed(student, name, problem="It is a link, not a file.")
        elif not path.is_file():
            yield Handed(student, name, problem="It is a pipe or a device, not a file.")
        elif path.suffix.lower() == ".zip":
            yield from _from_zip(path, student, name)
        else:
            yield _from_file(path, student, name)
    if not count:
        yield Handed(student, folder.name, problem="There is no notebook in the folder.")


def _from_file(path: Path, student: str, name: str) -> Handed:
    if path.stat().st_size > MAX_BYTES:
        return Handed(student, name, problem=f"The file has more than {MAX_BYTES >> 20} MB.")
    try:
        return Handed(student, name, path.read_bytes())
    except OSError as error:
        return Handed(student, name, problem=f"The file cannot be read: {error.strerror}.")


def _from_zip(file: Path | io.BytesIO, student: str, name: str) -> Iterator[Handed]:
    """The notebooks of one student's zip."""
    found = False
    for inside, content, problem in _entries(file):
        found = True
        yield Handed(student, f"{name}/{inside}" if inside else name, content, problem)
    if not found:
        yield Handed(student, name, problem="There is no notebook in the zip.")


def _from_bulk_zip(path: Path) -> Iterator[Handed]:
    """A zip that an LMS made of everybody's files: the first part of each name is a student."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            inside = PurePosixPath(info.filename.replace("\\", "/"))
            top = next(iter(inside.parts), "")
            if info.is_dir() or not top or top.startswith((".", "__MACOSX")):
                continue
            suffix = inside.suffix.lower()
            student = top if len(inside.parts) > 1 else inside.stem
            if suffix == ".zip":
                content, problem = _read_entry(archive, info, MAX_ZIP)
                if problem:
                    yield Handed(student, info.filename, problem=problem)
                else:
                    yield from _from_zip(io.BytesIO(content), student, info.filename)
            elif suffix == ".ipynb":
                content, problem = _read_entry(archive, info, MAX_BYTES)
                yield Handed(student, info.filename, content, problem)


def _entries(file: Path | io.BytesIO) -> Iterator[tuple[str, bytes, str]]:
    """(name, content, problem) of the notebooks in a zip."""
    try:
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        yield "", b"", f"The zip cannot be read: {error}."
        return
    total = count = 0
    for info in infos:
        name = info.filename.replace("\\", "/")
        parts = PurePosixPath(name).parts
        if info.is_dir() or any(p.startswith(".") or p == "__MACOSX" for p in parts[-2:]):
            continue
        if name.lower().endswith(".zip"):
            yield name, b"", "A zip inside a zip is not opened."
        elif name.lower().endswith(".ipynb"):
            count += 1
            content, problem = _read_entry(archive, info, MAX_BYTES)
            total += len(content)
            if count > MAX_FILES or total > MAX_ZIP:
                yield name, b"", "The zip holds too much; the rest is ignored."
                return
            yield name, content, problem


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> tuple[bytes, str]:
    """At most `limit` bytes, whatever the zip says about its sizes."""
    try:
        with archive.open(info) as stream:
            content = stream.read(limit + 1)
    except Exception as error:  # damaged, encrypted, an unknown method: zipfile raises many kinds
        return b"", f"It cannot be read from the zip: {error}."
    if len(content) > limit:
        return b"", f"The file has more than {limit >> 20} MB."
    return content, ""


def _student(outer: str, assignments: list[str]) -> str:
    """The outermost name without the assignment's name and what an LMS appends."""
    name = outer
    for assignment in assignments:
        name = re.sub(rf"[\s_.-]*{re.escape(assignment)}([\s_.-]*\(?\d+\)?)?$", "", name)
    name = re.sub(r"_assignsubmission_file_?$", "", name)
    return re.sub(r"[^\w .@+-]", "_", name).strip() or outer
