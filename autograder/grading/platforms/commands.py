"""The commands for other people's graders, as `python -m autograder` has them.

    python -m autograder gradescope --unit 2 --into build/gradescope      a zip to upload
    python -m autograder jobs --unit 2 --for classroom ...                a repository's job
    python -m autograder one --unit 2 --submission .                      what both of them run

Next room: bundle.py, jobs.py and single.py, one command each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.check.keys import key_of
from autograder.grading.platforms.bundle import gradescope_zip
from autograder.grading.platforms.jobs import PLACES, jobs
from autograder.grading.platforms.single import MINUTES, one

UNIT: dict[str, Any] = {"type": key_of, "metavar": "UNIT", "help": "this unit, or this lab"}


def add_commands(commands: Any) -> None:
    """Add them to the parser's commands."""
    _add_gradescope(commands)
    _add_jobs(commands)
    _add_one(commands)


def _add_gradescope(commands: Any) -> None:
    bundle = commands.add_parser("gradescope", help="a unit's autograder as Gradescope's zip")
    bundle.add_argument("--unit", required=True, **UNIT)
    bundle.add_argument("--into", type=Path, required=True, metavar="DIR")
    bundle.add_argument("--course", type=Path, metavar="FILE", help="whose secret gives the seed")
    text = f"that Gradescope waits (default: {MINUTES})"
    bundle.add_argument("--minutes", type=float, default=MINUTES, help=text)
    bundle.set_defaults(run=gradescope_zip)


def _add_jobs(commands: Any) -> None:
    job = commands.add_parser("jobs", help="our grader as a job of GitHub's or GitLab's")
    job.add_argument("--unit", required=True, **UNIT)
    job.add_argument("--for", dest="kind", choices=PLACES, required=True)
    job.add_argument("--into", type=Path, required=True, metavar="DIR", help="the repository")
    text = "whence the job fetches this course, by address"
    job.add_argument("--repository", required=True, metavar="URL", help=text)
    job.add_argument("--ref", required=True, help="a commit or a tag of it")
    job.set_defaults(run=jobs)


def _add_one(commands: Any) -> None:
    single = commands.add_parser("one", help="grade one submission, where a platform asks")
    single.add_argument("--unit", **UNIT)
    single.add_argument("--settings", type=Path, metavar="FILE", help="instead of --unit")
    single.add_argument("--submission", type=Path, required=True, metavar="DIR")
    single.add_argument("--minutes", type=float, default=MINUTES, help="that there are")
    single.add_argument("--gradescope", type=Path, metavar="FILE", help="results.json")
    single.add_argument("--summary", type=Path, metavar="FILE", help="add a page of Markdown to it")
    single.add_argument("--classroom", type=Path, metavar="FILE", help="add result=... to it")
    text = "where bubblewrap does not work, run a student's code as another user; needs root"
    single.add_argument("--account", action="store_true", help=text)
    single.set_defaults(run=one)
