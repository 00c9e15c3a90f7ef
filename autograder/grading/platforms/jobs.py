"""Our grader as a job of a repository: `python -m autograder jobs --unit 2 --for gitlab ...`

    github       .github/workflows/grade.yml          at every push, the result on the run's page
    classroom    .github/workflows/classroom.yml      the same, with GitHub Classroom's points
    gitlab       .gitlab-ci.yml                       the same at GitLab
    class        .github/workflows/grade-class.yml    in a repository of the teacher's: the grade

The first three run in a repository into which a student writes: they are feedback. What such a job
holds a student can read and change, so it has no secret, draws its programs from the seed 0, and
fetches the course, which is public anyway.

Next room: single.py, the command that the first three give; files/, what they are made of.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from autograder.check.keys import key_of
from autograder.edition.deliver import write
from autograder.grading.platforms.single import source_of

FILES = Path(__file__).with_name("files")
PLACES = {
    "github": ("grade.yml", ".github/workflows/grade.yml"),
    "classroom": ("classroom.yml", ".github/workflows/classroom.yml"),
    "gitlab": ("gitlab-ci.yml", ".gitlab-ci.yml"),
    "class": ("grade-class.yml", ".github/workflows/grade-class.yml"),
}
# What may stand between quotation marks in a shell and in YAML, whoever wrote it.
PLAIN = re.compile(r"[\w@:/.~+-]+")


def job_file(kind: str, unit: str, course: str, ref: str) -> tuple[str, bytes]:
    """(place in the repository, content). `ref` is a commit or a tag of the repository `course`.
    ValueError for an address that would be more than an address there."""
    for name, value in (("--repository", course), ("--ref", ref)):
        if not PLAIN.fullmatch(value) or value.startswith("-"):
            raise ValueError(f"{name} is {value!r}: letters, digits and @:/.~+- only")
    template, place = PLACES[kind]
    text = (FILES / template).read_text(encoding="utf-8")
    words = {"NAME": source_of(unit).name, "UNIT": key_of(unit), "COURSE": course, "REF": ref}
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return place, text.encode()


def jobs(options: Any) -> int:
    """The command. A file that is there, and is another one, stays."""
    place, content = job_file(options.kind, options.unit, options.repository, options.ref)
    path = options.into / place
    if path.exists() and path.read_bytes() != content:
        raise ValueError(f"{path} is there already, and another one: move it away first")
    write(path, content)
    print(f"{path}: grades {options.unit} with {options.repository} at {options.ref}")
    return 0
