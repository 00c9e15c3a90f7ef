"""Gradescope's autograder as a zip: `python -m autograder gradescope --unit 2 --into DIR`

    setup.sh           builds the image: bubblewrap, Python, packages at our versions
    run_autograder     grades /autograder/submission into /autograder/results/results.json
    settings.json      the unit, the seed of the class, the minutes that there are
    nothing.json       the results for when the grader does not come to its end
    course/            this course: library, checks, notebook sources

The zip holds every answer and every hidden check: it is for Gradescope, and for no student. The
same course gives the same zip, byte for byte.

Next room: single.py, the command that run_autograder gives; files/, the two scripts.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.check.keys import key_of
from autograder.edition.contents import COURSE
from autograder.edition.deliver import private
from autograder.edition.requirements import pinned
from autograder.edition.sources import Source
from autograder.grading.book.course_file import read_course
from autograder.grading.platforms.results import nothing_graded
from autograder.grading.platforms.single import Settings, source_of
from course_lib.exercises import slot
from course_lib.files import replacing

FILES = Path(__file__).with_name("files")
PACKAGES = ("course_lib", "autograder", "lessons", "notebooks")
BESIDE = ("pyproject.toml", "setup.py", "MANIFEST.in", "constraints.txt", "README.md", "LICENSE",
          "LICENSE-text", "scripts/setup_env.py")  # fmt: skip
SCRIPTS = ("setup.sh", "run_autograder")
DATE = (1980, 1, 1, 0, 0, 0)
PART = 0.9  # of the minutes: then the grader is stopped, before Gradescope stops everything
SAYS = """\
{path}: upload it as the autograder of {name}
Autograder points: {points:g}{bonus}
{by_hand}Timeout in minutes: {minutes:g}
It holds every answer and hidden check: for Gradescope, and for no student."""
BY_HAND = "Answered in words, {words:g} points: manual grading, with a question for {names}\n"


def gradescope_zip(options: Any) -> int:
    """The command."""
    if not 1 <= options.minutes <= 60:
        raise ValueError(f"--minutes says {options.minutes:g}, and not 1 to 60")
    source = source_of(options.unit)
    course = read_course(options.course, [source.key])
    settings = Settings(key_of(options.unit), course.seed(""), options.minutes)
    private(options.into)
    print(said(source, settings, write_zip(options.into / f"{source.name}.zip", settings)))
    return 0


def write_zip(path: Path, settings: Settings) -> Path:
    """The zip at `path`, written as a whole or not at all."""
    with replacing(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, data in contained(settings):
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name in SCRIPTS else 0o644) << 16
            archive.writestr(info, data)
    return path


def contained(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every file of the zip."""
    seconds = round(60 * PART * settings.minutes)
    for name in SCRIPTS:
        text = (FILES / name).read_text(encoding="utf-8")
        text = text.replace("@UV@", pinned()["uv"]).replace("@SECONDS@", f"{seconds}")
        yield name, text.encode()
    yield "settings.json", settings.to_json()
    nothing = nothing_graded("the grader did not come to its end.")
    yield "nothing.json", json.dumps(nothing, indent=1).encode()
    for package in PACKAGES:
        for path in sorted((COURSE / package).rglob("*")):
            inside = path.relative_to(COURSE)
            aside = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
            if path.is_file() and not aside:
                yield f"course/{inside.as_posix()}", path.read_bytes()
    for name in BESIDE:
        yield f"course/{name}", (COURSE / name).read_bytes()


def said(source: Source, settings: Settings, path: Path) -> str:
    """What a teacher has to set at Gradescope."""
    asked = [slot(name) for name in source.exercises()]
    words = [entry for entry in asked if entry.kind == "explain"]
    judged = [entry for entry in asked if entry.kind != "explain"]
    names = ", ".join(f"{entry.name} ({entry.points:g})" for entry in words)
    more = sum(entry.points for entry in judged if entry.further)
    by_hand = BY_HAND.format(words=sum(entry.points for entry in words), names=names)
    return SAYS.format(
        path=path, name=source.name, minutes=settings.minutes, by_hand=by_hand if words else "",
        points=sum(entry.points for entry in judged if not entry.further),
        bonus=f" (and {more:g} of a bonus, which come on top)" if more else "",
    )  # fmt: skip
