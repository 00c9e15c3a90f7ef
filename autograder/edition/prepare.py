"""What `make lab` does before it opens JupyterLab: bring the course up to date.

    python -m autograder.edition.prepare --into course

To make the files of the edition takes seconds; so they are kept on this machine, for as long as
nothing changes of what they are made of. deliver.py looks at the learner's folder every time.

Next room: contents.py, what the files are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zlib
from pathlib import Path

import course_lib
from autograder.edition.deliver import deliver
from course_lib.keep import Parts, kept

EDITION = "open"
COURSE = Path(course_lib.__file__).parents[1]
MADE_OF = ("autograder", "course_lib", "lessons", "notebooks")  # and the versions of packages
PINS = "constraints.txt"


def files() -> dict[str, bytes]:
    """Every file of the edition by its name: made anew only if something has changed."""
    index, data = kept("editions", fingerprint(), _made)
    content, at, found = zlib.decompress(data), 0, {}
    for name, size in json.loads(index):
        found[name] = content[at : at + size]
        at += size
    return found


def fingerprint() -> str:
    """A digest of all that the files are made of."""
    digest = hashlib.sha256(f"{EDITION} {sys.version}".encode())
    for path in _sources():
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(COURSE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources() -> list[Path]:
    found = (path for name in MADE_OF for path in (COURSE / name).rglob("*"))
    read = (path for path in found if path.is_file() and "__pycache__" not in path.parts)
    return [*sorted(read), COURSE / PINS]


def _made() -> Parts:
    # It loads nbformat and the library's exercises: seconds that are spent where something changed.
    from autograder.edition.contents import contents

    made = contents(EDITION)
    index = json.dumps([(name, len(content)) for name, content in made.items()])
    return index.encode(), zlib.compress(b"".join(made.values()), 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="Bring the course in a folder up to date.")
    parser.add_argument("--into", type=Path, required=True)
    into = parser.parse_args().into
    try:
        found = files()
        for note in deliver(found, into):
            print(note)
    except (ValueError, OSError) as error:
        print(f"The course cannot be brought up to date: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What was finished is kept; the same command goes on from there.")
        return 130
    print(f"{into}: {len(found)} files, up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
