"""Take what students put into their hand-in folders. docs/deploy.md tells the story.

    python docs/deploy/collect.py --into submissions

    /srv/course/hand-in/ada/u00_tour.ipynb  ->  submissions/ada/u00_tour.ipynb

A student owns that folder and may change anything in it at any moment, also while this runs. So
links are not followed, and a file counts only if it belongs to the folder's owner. The time of the
copy is when the kernel saw the file change last; its owner can set back the other time, not this.
What was collected stays, whatever becomes of the original, until a newer file has its name.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from course_lib.files import replacing

COURSE = Path(os.environ.get("COURSE", "/srv/course"))
KINDS = (".ipynb", ".zip")
LARGEST = 64 << 20  # bytes: the largest zip that the grader opens
MOST = 50  # files of one student


def collect(hand_in: Path, into: Path) -> Iterator[str]:
    """Copy all hand-ins; a line for each file that was not taken, and one for the sum."""
    count = 0
    for folder in sorted(path for path in hand_in.iterdir() if path.is_dir()):
        try:
            names = _taken(folder, into / folder.name)
        except OSError as error:
            yield f"{folder.name}: the folder cannot be read: {error.strerror}"
            continue
        for name, problem in names:
            count += not problem
            if problem:
                yield f"{folder.name}/{name}: not taken: {problem}"
    yield f"{into}: {count} files that were handed in"


def _taken(folder: Path, into: Path) -> list[tuple[str, str]]:
    """Each file of one student, and why it was not taken; all reads go through the open folder."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        owner = os.fstat(place).st_uid
        names = sorted(n for n in os.listdir(place) if n.endswith(KINDS) and n[0] != ".")
        taken = [(name, _take(place, name, owner, into)) for name in names[:MOST]]
        return [*taken, *((name, f"more than {MOST} files") for name in names[MOST:])]
    finally:
        os.close(place)


def _take(place: int, name: str, owner: int, into: Path) -> str:
    """Copy one file; returns why not, if not."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError as error:
        return error.strerror or "it cannot be opened"
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode):
        os.close(file)
        return "it is no file"
    with os.fdopen(file, "rb") as source:
        data = source.read(LARGEST + 1)
    if about.st_uid != owner or about.st_nlink != 1:
        return "it belongs to somebody else, or has a second name elsewhere"
    if len(data) > LARGEST:
        return f"it has more than {LARGEST >> 20} MB"
    into.mkdir(parents=True, exist_ok=True)
    with replacing(into / name) as unfinished:
        unfinished.write_bytes(data)
    os.utime(into / name, ns=(about.st_ctime_ns, about.st_ctime_ns))
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    for line in collect(COURSE / "hand-in", parser.parse_args().into):
        print(line)


if __name__ == "__main__":
    os.umask(0o077)  # what was handed in is the teacher's to read
    main()
