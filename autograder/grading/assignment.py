"""An assignment as the grader has it: what is asked, and the edition that its students have.

    assignment = Assignment.of(source, editions)

Next room: report.py, what becomes of an answer to it.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autograder.check.keys import key_in
from autograder.edition.contents import COURSE, library
from autograder.edition.sources import Source
from course_lib.exercises import Slot, slot
from course_lib.scratch import Folder

SCHEMA = 1  # of reports
OURS = ("course_lib", "autograder", "lessons")


@dataclass(frozen=True)
class Assignment:
    """What a notebook asks for, and where the edition is put that its students have."""

    unit: int
    name: str
    exercises: tuple[str, ...]
    editions: Path  # a unit and its labs have the same one
    digest: str
    prose: frozenset[str] = frozenset()  # the texts between the exercises: nobody's explanation

    @staticmethod
    def of(source: Source, editions: Path) -> Assignment:
        """Name everything that is asked; under `editions` its students' edition is written, once
        somebody needs it."""
        digest = hashlib.sha256((_course_digest() + source.path.read_text()).encode()).hexdigest()
        names, prose = tuple(source.exercises()), source.prose()
        return Assignment(source.unit, source.name, names, editions, digest, prose)

    @property
    def edition(self) -> Path:
        """The folder with what its students have. It takes a second to write, the first time."""
        return _edition(self.unit, self.editions)

    @property
    def key(self) -> str:
        return key_in(self.name)

    @property
    def slots(self) -> list[Slot]:
        return [slot(name) for name in self.exercises]

    @property
    def modules(self) -> tuple[str, ...]:
        """Where its exercises stand: every answer needs these."""
        return tuple(dict.fromkeys(entry.reference.__module__ for entry in self.slots))

    @property
    def explanations(self) -> list[str]:
        return [entry.name for entry in self.slots if entry.kind == "explain"]

    @property
    def points(self) -> float:
        """What it is worth, to which the bonus comes."""
        return sum(entry.points for entry in self.slots if not entry.further)

    @property
    def bonus(self) -> float:
        """What the further exercises give at most."""
        return sum(entry.points for entry in self.slots if entry.further)


@functools.cache
def _edition(unit: int, editions: Path) -> Path:
    place = editions / f"u{unit:02d}"
    if not place.exists():
        editions.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=editions))
        _write(library(unit), made)
        try:
            made.rename(place)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return place


def _write(files: dict[str, bytes], edition: Path) -> None:
    for name, data in files.items():
        path = edition / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    _lend_bytecode(files, edition)
    for path in [edition, *edition.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)  # the worker may be another user


def _lend_bytecode(files: dict[str, bytes], edition: Path) -> None:
    """What is imported here will be imported there. A file that is the same gets the date of ours,
    for which our bytecode is good: it need not be compiled again."""
    for name, module in list(sys.modules.items()):
        ours = Path(getattr(module, "__file__", None) or "")
        bytecode = getattr(module, "__cached__", None)
        if name.partition(".")[0] not in OURS or not ours.is_relative_to(COURSE) or not bytecode:
            continue
        copy = edition / ours.relative_to(COURSE)
        if files.get(copy.relative_to(edition).as_posix()) == ours.read_bytes():
            date = ours.stat().st_mtime_ns
            os.utime(copy, ns=(date, date))
            with suppress(FileNotFoundError):
                there = copy.parent / "__pycache__" / Path(bytecode).name
                there.parent.mkdir(exist_ok=True)
                there.write_bytes(Path(bytecode).read_bytes())


@contextmanager
def editions() -> Iterator[Path]:
    """A folder for the editions of assignments. Workers, who may be another user, can read it. It
    is gone after the block; if this process is killed in it, a later one removes it."""
    folder = Folder("course-editions-")
    try:
        os.chmod(folder.path, 0o755)
        yield Path(folder.path)
    finally:
        folder.close()


@functools.cache
def lasting(source: Source) -> Assignment:
    """The assignment with an edition that stays as long as this process, made once in it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Assignment.of(source, stack.enter_context(editions()))


@functools.cache
def _course_digest() -> str:
    """Everything that a grade depends on besides the submission: our code and the versions."""
    digest = hashlib.sha256(f"{SCHEMA} {platform.python_version()} {np.__version__}".encode())
    for package in OURS:
        for path in sorted((COURSE / package).rglob("*.py")):
            digest.update(path.relative_to(COURSE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
