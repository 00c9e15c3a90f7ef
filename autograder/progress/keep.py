"""Small files of plain data beside the notebooks, which several kernels may write at once.

    read(PROGRESS)                           {} if there is none
    change(PROGRESS, lambda data: ...)       one after the other, whole files only; False: not kept

A file that cannot be read is set aside as NAME.broken.json, and a card says so. Where the folder
cannot be written nothing is kept, which is said once. Nothing here raises: what was to be noted is
never worth a cell of the learner's.

Next room: record.py, what is noted.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from autograder.check.cards import Note, in_notebook, show
from autograder.check.validating import RUN
from course_lib.files import write

try:
    import fcntl
except ImportError:  # Windows without WSL: the last of two kernels wins
    fcntl = None

MAP = Path(".course-map.json")  # what the course is; the edition writes it beside the notebooks
PROGRESS = Path("progress.json")
PREDICTIONS = Path("predictions.json")
MINUTES = Path("minutes.json")
PATIENCE = 2.0  # seconds to wait for another kernel that is writing

Data = dict[str, Any]
_said: set[str] = set()


def keeping() -> bool:
    """Is this a learner's notebook, in a folder of the course?"""
    return in_notebook() and RUN not in os.environ and MAP.is_file()


def read(path: Path) -> Data:
    """What the file holds; {} if there is none, or nothing that can be read."""
    try:
        text = path.read_bytes()
    except OSError:
        return {}
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return data
    _set_aside(path)
    return {}


def table(data: Data, name: str) -> Data:
    """The table of that name in what was read; {} where something else stands."""
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def number(value: Any) -> float:
    """A number as it was kept; 0 for anything else, and for one that is no amount."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if known else 0.0


def change(path: Path, how: Callable[[Data], None]) -> bool:
    """Read, let `how` change what was read, and write. False if it could not be kept."""
    try:
        with _alone(path) as alone:
            if not alone:
                return False
            data = read(path)
            how(data)
            write(path, json.dumps(data, indent=1, default=str))
    except OSError as error:
        _say_once(f"Nothing is kept of this: {error}.")
        return False
    return True


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """While the block runs, no other kernel changes the file. False: another one holds it still."""
    if fcntl is None:
        yield True
        return
    with path.with_name(f".{path.name}.lock").open("a") as lock:
        until = time.monotonic() + PATIENCE
        while not (mine := _locked(lock.fileno())) and time.monotonic() < until:
            time.sleep(0.01)
        yield mine


def _locked(file: int) -> bool:
    assert fcntl is not None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _set_aside(path: Path) -> None:
    names = (f"{path.stem}.broken{n or ''}.json" for n in range(1000))
    aside = next(free for name in names if not (free := path.with_name(name)).exists())
    with suppress(OSError):
        os.replace(path, aside)
        show(Note(f"{path.name} could not be read. It is kept as {aside.name}; a new one begins."))
        return
    _say_once(f"{path.name} cannot be read, and the folder cannot be written.")


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        show(Note(text))
