"""Writing an edition into somebody's folder, without losing what they did there.

    python -m autograder build --edition open --into course

A manifest in the folder keeps the digest of every file as it was delivered. A file that still has
that digest is ours to replace. A file that differs was changed by the learner and is never touched:
a newer version arrives beside it as NAME.new.ipynb, and is said so. Every file is written under a
temporary name first, so an interrupted build leaves no half file.

Next room: autograder/grading/grade.py, what happens to a notebook that comes back.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

PRIVATE = b"# Made by the course: names and grades of people stay out of git.\n*\n"
MANIFEST = ".course-manifest.json"


def deliver(files: dict[str, bytes], into: Path) -> list[str]:
    """Bring `into` up to date. Returns one sentence for each thing worth saying."""
    into.mkdir(parents=True, exist_ok=True)
    before = _read_manifest(into)
    after = dict(before)
    said = []
    for name, content in sorted(files.items()):
        place, note = _place(into, name, content, before)
        if place is not None:
            write(into / place, content)
            after[place] = digest(content)
        if note:
            said.append(note)
    for name in sorted(set(before) - set(files)):
        path = into / name
        if path.is_file() and digest(path.read_bytes()) == before[name] and ".new" not in path.name:
            path.unlink()
            after.pop(name)
    write(into / MANIFEST, json.dumps(after, indent=1, sort_keys=True).encode())
    return said


def write(path: Path, content: bytes) -> None:
    """Write a whole file or none; a file that is right already keeps its date."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def private(folder: Path) -> None:
    """Make the folder, if it is new, so that git passes it by: it will hold names, grades, secrets.
    A folder that was there before is somebody's own."""
    if not folder.exists():
        write(folder / ".gitignore", PRIVATE)


def sweep(folder: Path) -> None:
    """Remove what a killed process had half written under the folder."""
    for path in folder.rglob(".*.part"):
        path.unlink(missing_ok=True)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _place(
    into: Path, name: str, content: bytes, before: dict[str, str]
) -> tuple[str | None, str | None]:
    """Where the new content goes (None: nowhere), and what there is to say about it."""
    path = into / name
    if not path.exists():
        return name, None
    mine = digest(path.read_bytes())
    if mine == digest(content):
        return name, None  # `write` leaves it alone
    if mine == before.get(name):
        return name, f"{name}: updated"
    if before.get(name) == digest(content):
        return None, None  # changed by the learner, and there is nothing newer
    beside = _free_name(into, name, content, before)
    if beside is None:
        return None, None
    return beside, f"{name}: you changed it, so the newer version is beside it as {beside}"


def _free_name(into: Path, name: str, content: bytes, before: dict[str, str]) -> str | None:
    """NAME.new.ipynb, or with a number where the learner changed that too; None if it is there."""
    stem, dot, suffix = name.rpartition(".")
    for count in range(1, 1000):
        beside = f"{stem}.new{'' if count == 1 else count}{dot}{suffix}"
        path = into / beside
        if not path.exists():
            return beside
        mine = digest(path.read_bytes())
        if mine == digest(content):
            return None
        if mine == before.get(beside):
            return beside
    raise ValueError(f"{into}: too many newer versions of {name}; please tidy up")


def _read_manifest(into: Path) -> dict[str, str]:
    try:
        kept = json.loads((into / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
