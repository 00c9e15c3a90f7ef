"""Finding what was handed in: files, folders and zips with whatever names an LMS gives them.

    submissions/ada.ipynb                                    one file for each student
    submissions/Ada Lovelace_4711_assignsubmission_file_/    one folder (Moodle)
    submissions/lovelaceada_LATE_88_5091_u02_rewrites-1.zip  one zip (Canvas)
    submissions/ada/u02_rewrites/u02_rewrites.ipynb          nbgrader's own exchange
    all.zip                                                  a zip of any of these

A student is an outermost name. Two outermost names are never merged: names.py says what each is
called. Everything that lies there becomes at least one `Handed`, if only to say why it cannot be
read. Which notebook answers which assignment is decided by what it answers, not by its name.

Next room: archives.py, what is taken out of a zip; classroom.py, which grades what was found.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from autograder.grading.archives import (
    MAX_BYTES,
    MAX_FILES,
    MAX_ZIP,
    Budget,
    Entry,
    is_systems,
    listed,
    not_notebooks,
    notebooks_in,
    read_entry,
    time_of,
)
from autograder.grading.names import labels, printable, shortened

STUDENT_BYTES = 100 << 20  # unpacked, all files of a student together
CLASS_BYTES = 8 << 30  # of a class: a student's share of it is never less than one notebook
MAX_LOOKED_AT = 20_000  # files of one student's folder
UNOPENED = (".rar", ".7z", ".tar", ".gz", ".tgz", ".xz", ".bz2")


@dataclass(frozen=True)
class Handed:
    """One notebook file, or (without data) something that cannot be read, and why."""

    student: str
    name: str  # where it was, for the teacher
    data: bytes = b""
    problem: str = ""
    outer: str = ""  # the outermost name as it is
    short: str = ""  # that name without the assignment's name
    time: datetime | None = None  # when the file was changed; without zone if from a zip


def collect(place: Path, assignments: Iterable[str] = ()) -> Iterator[Handed]:
    """Everything handed in under `place` (a folder or a zip), student by student.

    Only one student's files are in memory at a time. Raises ValueError where there is nothing.
    """
    if not place.exists():
        raise ValueError(f"{place} does not exist")
    names = list(assignments)
    if place.is_dir():
        entries = [e for e in sorted(place.iterdir()) if not is_systems((e.name,))]
        files = {e.name for e in entries if not _is_folder(e)}
        outers: dict[str, Path | list[zipfile.ZipInfo]] = {e.name: e for e in entries}
        return _collected(outers, files, names, None)
    if place.suffix.lower() == ".zip":
        try:
            archive = zipfile.ZipFile(place)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise ValueError(f"{place} cannot be read: {error}") from None
        return _collected(*_outer_names(archive), names, archive)
    raise ValueError(f"{place} is neither a folder nor a zip")


def collect_one(folder: Path, assignment: str) -> list[Handed]:
    """What one student has handed in: everything in this folder is theirs. What is no notebook is
    worth a word only where there is no notebook. Raises ValueError where there is no folder."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    blank = Handed(assignment, "the folder", outer=folder.name, short=folder.name)
    found = sorted(_from_folder(folder, blank, Budget(STUDENT_BYTES)), key=lambda h: h.name)
    named = [replace(h, name=h.name.removeprefix("the folder/")) for h in found]
    return [one for one in named if one.data] or named


def _collected(
    outers: dict[str, Path | list[zipfile.ZipInfo]],
    files: set[str],
    assignments: list[str],
    archive: zipfile.ZipFile | None,
) -> Iterator[Handed]:
    plain = {o: PurePosixPath(o).stem if o in files else o for o in outers}
    short = {o: shortened(name, assignments) for o, name in plain.items()}
    called = labels(short)
    share = min(STUDENT_BYTES, max(MAX_BYTES, CLASS_BYTES // max(1, len(outers))))
    for outer in sorted(outers, key=lambda o: called[o]):
        there, budget = outers[outer], Budget(share)
        blank = Handed(called[outer], printable(outer), outer=outer, short=short[outer])
        if isinstance(there, Path):
            handed = _from_entry(there, blank, budget)
        else:
            assert archive is not None
            handed = _from_infos(archive, there, blank, budget)
        yield from sorted(handed, key=lambda h: h.name)


def _is_folder(entry: Path) -> bool:
    return entry.is_dir() and not entry.is_symlink()


def _from_entry(entry: Path, blank: Handed, budget: Budget) -> Iterator[Handed]:
    """One entry of the folder: a file, or a folder of files."""
    if _is_folder(entry):
        yield from _from_folder(entry, blank, budget)
    else:
        yield from _from_file(entry, blank, budget)


def _from_folder(folder: Path, blank: Handed, budget: Budget) -> Iterator[Handed]:
    unreadable: list[OSError] = []
    others: list[str] = []
    count = 0
    for path in _files_under(folder, unreadable):
        inside = path.relative_to(folder)
        name = f"{blank.name}/{printable(inside.as_posix())}"
        if path.suffix.lower() not in (".ipynb", ".zip"):
            others.append(inside.as_posix())
            continue
        count += 1
        if count > MAX_FILES:
            problem = f"More than {MAX_FILES} files; some are ignored."
            yield replace(blank, name=name, problem=problem)
            break
        yield from _from_file(path, replace(blank, name=name), budget)
    others = [name for name in others if name.split("/")[-1] != "timestamp.txt"]
    for error in unreadable:
        problem = f"A folder cannot be read: {error.strerror}."
        yield replace(blank, problem=problem)
    if not count and not unreadable:
        problem = f"There is no notebook in the folder.{listed(others)}"
        yield replace(blank, problem=problem)
    elif others:
        yield replace(blank, problem=not_notebooks(others))


def _files_under(folder: Path, unreadable: list[OSError]) -> Iterator[Path]:
    """The files below, in order; links are named and not followed."""
    seen = 0
    for place, folders, files in os.walk(folder, onerror=unreadable.append):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = sorted(n for n in set(folders) - set(links) if not n.startswith("."))
        for name in sorted([*files, *links]):
            seen += 1
            if seen > MAX_LOOKED_AT:
                return
            if not is_systems((name,)):
                yield Path(place, name)


def _from_file(path: Path, blank: Handed, budget: Budget) -> Iterator[Handed]:
    """What one file holds: a notebook, the notebooks of a zip, or why nothing can be read."""
    problem = _problem_of(path)
    if problem:
        yield replace(blank, problem=problem)
        return
    when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if path.suffix.lower() == ".zip":
        for entry in notebooks_in(path, budget):
            yield replace(_unpacked(blank, entry), time=when)  # the time inside is the student's
        return
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        problem = f"The file cannot be read: {error.strerror}."
    else:
        if len(data) > MAX_BYTES:
            problem = f"The file has more than {MAX_BYTES >> 20} MB."
        elif not budget.take(len(data)):
            problem = "The files are too large together."
    yield replace(blank, problem=problem) if problem else replace(blank, data=data, time=when)


def _problem_of(path: Path) -> str:
    """Why a file is not even opened; empty for a notebook and a zip."""
    if path.is_symlink():
        return "It is a link, not a file."
    try:
        if not path.is_file():
            return "It is a pipe or a device, not a file."
    except OSError as error:
        return f"The file cannot be read: {error.strerror}."
    return _problem_of_kind(path.suffix.lower())


def _problem_of_kind(kind: str) -> str:
    if kind in (".ipynb", ".zip"):
        return ""
    if kind in UNOPENED:
        return f"A {kind} archive is not opened: the notebook or a .zip is what can be graded."
    what = f"a {kind} file" if kind else "a file without an ending"
    return f"It is {what}, not a notebook (.ipynb)."


def _outer_names(
    archive: zipfile.ZipFile,
) -> tuple[dict[str, Path | list[zipfile.ZipInfo]], set[str]]:
    """The first part of each name in a zip that an LMS made; which of them are files."""
    outers: dict[str, Path | list[zipfile.ZipInfo]] = {}
    files: set[str] = set()
    for info in archive.infolist():
        parts = PurePosixPath(info.filename.replace("\\", "/")).parts
        if not parts or is_systems(parts):
            continue
        infos = outers.setdefault(parts[0], [])
        assert isinstance(infos, list)
        if not info.is_dir():
            infos.append(info)
            if len(parts) == 1:
                files.add(parts[0])
    return outers, files


def _from_infos(
    archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], blank: Handed, budget: Budget
) -> Iterator[Handed]:
    """One student's entries in the zip of a class."""
    others: list[str] = []
    count = 0
    for info in infos:
        name, kind = printable(info.filename), PurePosixPath(info.filename).suffix.lower()
        here = replace(blank, name=name, time=time_of(info))
        if kind not in (".ipynb", ".zip"):
            if len(infos) == 1:
                yield replace(here, problem=_problem_of_kind(kind))
                return
            others.append(name)
            continue
        count += 1
        if count > MAX_FILES:
            yield replace(here, problem=f"More than {MAX_FILES} files; some are ignored.")
            break
        limit = MAX_ZIP if kind == ".zip" else MAX_BYTES
        entry = read_entry(archive, info, limit, budget)
        if kind == ".zip" and not entry.problem:
            for inside in notebooks_in(entry.data, budget):
                yield replace(_unpacked(here, inside), time=here.time)
        else:
            yield replace(here, data=entry.data, problem=entry.problem)
    if not count:
        yield replace(blank, problem=f"There is no notebook in the folder.{listed(others)}")
    elif others:
        yield replace(blank, problem=not_notebooks(others))


def _unpacked(blank: Handed, entry: Entry) -> Handed:
    name = f"{blank.name}/{printable(entry.name)}" if entry.name else blank.name
    return replace(blank, name=name, data=entry.data, problem=entry.problem)
