"""Writing an edition into somebody's folder, without losing what they did there.

    python -m autograder build --edition open --into course

A file into which nobody has typed is ours to replace (manifest.py says when); its outputs are not
kept. A file that the learner changed is never touched: a newer version arrives beside it as
NAME.new.ipynb, and is said so. The start page and what is there to be read are always the newest:
what the learner typed there is kept beside them as NAME.mine.ipynb. Every file is written under a
temporary name first, so an interrupted build leaves no half file.

Next room: autograder/grading/grade.py, what happens to a notebook that comes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.edition.manifest import (
    MANIFEST,
    is_damaged,
    is_same_version,
    is_still,
    manifest_text,
    mark,
    pending,
    read_manifest,
)
from course_lib.files import replacing

START = "start.ipynb"
PRIVATE = b"# Made by the course: names and grades of people stay out of git.\n*\n"
TO_READ = "library/"  # read-only: a copy of the library, in which nobody's changes would matter


@dataclass(frozen=True)
class Step:
    """What becomes of one file of the edition."""

    name: str
    place: str | None = None  # where its content goes; None: nowhere
    aside: str | None = None  # the new name of the learner's file, which makes room
    note: str = ""
    is_newest: bool = True  # does NAME hold this version, or will it?


def deliver(files: dict[str, bytes], into: Path) -> list[str]:
    """Bring `into` up to date. Returns one sentence for each thing worth saying."""
    into.mkdir(parents=True, exist_ok=True)
    before = read_manifest(into)
    steps = [_step(into, name, content, before) for name, content in sorted(files.items())]
    after, during = dict(before), dict(before)
    for step in steps:
        place, new = step.place or step.name, mark(step.name, files[step.name])
        if step.place or step.is_newest:
            after[place] = new
        if step.place:
            during[place] = pending(before.get(place, ""), new)
    if any(step.place for step in steps):
        write(into / MANIFEST, manifest_text(during))
    for step in steps:
        _carry_out(step, files[step.name], into)
    for name in _outdated(steps, before, files):
        path = into / name
        if path.is_file() and not is_still(name, path.read_bytes(), before[name]):
            continue  # the learner's own by now
        path.unlink(missing_ok=True)
        after.pop(name, None)
    write(into / MANIFEST, manifest_text(after))
    return [step.note for step in steps if step.note]


def write(path: Path, content: bytes, read_only: bool = False) -> None:
    """Write a whole file or none; a file that is right already keeps its date."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, anew=True) as unfinished:
        unfinished.write_bytes(content)
        if read_only:
            unfinished.chmod(0o444)


def private(folder: Path) -> None:
    """Make the folder, if it is new, so that git passes it by: it will hold names, grades, secrets.
    A folder that was there before is somebody's own."""
    if not folder.exists():
        write(folder / ".gitignore", PRIVATE)


def _carry_out(step: Step, content: bytes, into: Path) -> None:
    if step.aside:
        os.replace(into / step.name, into / step.aside)
    if step.place:
        write(into / step.place, content, read_only=step.place.startswith(TO_READ))


def _step(into: Path, name: str, content: bytes, before: dict[str, str]) -> Step:
    path, new, known = into / name, mark(name, content), before.get(name, "")
    if not path.exists():
        return Step(name, place=name)
    theirs = path.read_bytes()
    if theirs == content:
        return Step(name)
    if known and is_still(name, theirs, known):
        if known.split()[0] == new.split()[0]:
            return Step(name)  # there is nothing newer, and the outputs stay
        return Step(name, place=name, note=f"{name}: updated")
    if is_still(name, theirs, new):
        return Step(name)  # this version is there, though it was not we who noted it
    damaged = is_damaged(name, theirs) and not is_damaged(name, content)
    if known and is_same_version(known, new) and not damaged:
        return Step(name, is_newest=False)  # changed by the learner, and there is nothing newer
    if name == START or name.startswith(TO_READ):
        mine = next(free for free in _names(name, "mine") if not (into / free).exists())
        note = f"{name}: you changed it, so your version is now {mine}, and {name} is the new one"
        return Step(name, place=name, aside=mine, note=note)
    reason = "it cannot be read as a notebook" if damaged else "you changed it"
    return _beside(into, name, content, before, f"{name}: {reason}")


def _beside(into: Path, name: str, content: bytes, before: dict[str, str], reason: str) -> Step:
    """To NAME.new.ipynb, or with a number where the learner changed that too; nowhere if this
    version is there already."""
    new = mark(name, content)
    for beside in _names(name, "new"):
        path, known = into / beside, before.get(beside, "")
        note = f"{reason}, so the newer version is beside it as {beside}"
        if not path.exists():
            return Step(name, place=beside, note=note, is_newest=False)
        theirs = path.read_bytes()
        if is_still(beside, theirs, new):
            return Step(name, is_newest=False)
        if known and is_still(beside, theirs, known):
            return Step(name, place=beside, note=note, is_newest=False)
    raise ValueError(f"{into}: too many newer versions of {name}; please tidy up")


def _names(name: str, word: str) -> Iterator[str]:
    """NAME.new.ipynb, NAME.new2.ipynb, ..."""
    stem, dot, suffix = name.rpartition(".")
    for count in range(1, 1000):
        yield f"{stem}.{word}{'' if count == 1 else count}{dot}{suffix}"


def _outdated(steps: list[Step], before: dict[str, str], files: dict[str, bytes]) -> list[str]:
    """Delivered files of which there is no use now: their name has left the edition, or they are a
    newer version beside a file that is the newest itself by now."""
    newest = {step.name for step in steps if step.is_newest}
    outdated = []
    for name in sorted(set(before) - set(files)):
        base = re.sub(r"\.new\d*(?=\.\w+$)", "", name)
        if base == name or base in newest:
            outdated.append(name)
    return outdated
