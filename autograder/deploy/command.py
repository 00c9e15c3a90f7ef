"""`python -m autograder deploy`: the files for a place, written where the teacher wants them.

    deploy gradescope --unit 2 --into build/deploy      u02_rewrites.autograder.zip
    deploy gitlab --into ../our-course                  .gitlab-ci.yml, deploy/collect.sh, ...

Next room: bundle.py, what these files are; docs/deploy.md, what to do with them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.deploy.bundle import PLACES, SHOWN, gradescope, place
from autograder.edition.deliver import private, write
from autograder.grading.book.course import Course

KEPT = "{path}: is there already and differs, so it stays; the one of the course is {name}.new"


def add(commands: Any, only: dict[str, Any], run: Callable[[argparse.Namespace], int]) -> None:
    """The command's own options."""
    parser = commands.add_parser("deploy", help="files for Gradescope, GitHub, GitLab, JupyterHub")
    parser.add_argument("where", choices=("gradescope", *PLACES))
    parser.add_argument("--unit", **only)
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    parser.add_argument("--course", type=Path, metavar="FILE", help="default: ./course.toml")
    parser.add_argument("--show", choices=SHOWN, default=SHOWN[0], help="Gradescope: from when on")
    parser.set_defaults(run=run)


def deploy(options: argparse.Namespace, course: Course) -> int:
    """Write them and say where they are."""
    if options.where == "gradescope":
        if options.unit is None:
            raise ValueError("an autograder of Gradescope grades one notebook: say which, --unit 2")
        name, data = gradescope(options.unit, course.seed(""), options.show)
        private(options.into)
        write(options.into / name, data)
        print(f"{options.into / name}: to be uploaded; it holds the solutions, so keep it private")
        return 0
    for name, data in place(options.where).items():
        print(_written(options.into / name, data))
    return 0


def _written(path: Path, data: bytes) -> str:
    """A teacher's own version is never replaced."""
    if path.exists() and path.read_bytes() != data:
        write(path.with_name(f"{path.name}.new"), data)
        return KEPT.format(path=path, name=path.name)
    write(path, data)
    return str(path)
