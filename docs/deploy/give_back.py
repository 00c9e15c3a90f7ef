"""Put each feedback page into the folder of the student whom it is for, and of nobody else.

    python docs/deploy/give_back.py --grades build/grades

    build/grades/feedback/u00_tour/ada.html  ->  /srv/course/feedback/ada/u00_tour.html

The folder belongs to the teacher and to the student's group, so the two of them read it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from course_lib.files import replacing

COURSE = Path(os.environ.get("COURSE", "/srv/course"))


def give_back(grades: Path, feedback: Path) -> Iterator[str]:
    """Copy all pages; a line for each that has no place to go, and one for the sum."""
    count = 0
    for page in sorted(grades.glob("feedback/*/*.html")):
        unit, student = page.parent.name, page.stem
        place = feedback / student
        if not place.is_dir():
            yield f"{student}: {place} does not exist; enrol.sh makes it"
            continue
        with replacing(place / f"{unit}.html") as unfinished:
            unfinished.write_bytes(page.read_bytes())
            unfinished.chmod(0o640)
        count += 1
    yield f"{feedback}: {count} pages given back"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--grades", type=Path, required=True, metavar="DIR")
    for line in give_back(parser.parse_args().grades, COURSE / "feedback"):
        print(line)


if __name__ == "__main__":
    main()
