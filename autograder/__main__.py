"""The commands of a teacher; `make` calls them.

    python -m autograder build --edition open --into course            what a self-learner gets
    python -m autograder release --unit 2 --into build/release         what a class gets
    python -m autograder grade --submissions dir --out build/grades    reports, feedback, grades.csv
    python -m autograder nbgrader --into build/nbgrader                a course folder for nbgrader
    python -m autograder validate                                      is every exercise sound?

docs/teaching.md tells the whole story.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from autograder.edition.contents import EDITIONS, contents
from autograder.edition.deliver import deliver
from autograder.edition.release import release
from autograder.grading.classroom import grade_folder
from autograder.process.start import SETTING
from autograder.validate import HEAD, validate


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"autograder {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What was finished is kept; the same command goes on from there.")
        return 130


def _build(options: argparse.Namespace) -> int:
    files = contents(options.edition, options.unit)
    for note in deliver(files, options.into):
        print(note)
    print(f"{options.into}: {options.edition} edition, {len(files)} files, up to date")
    return 0


def _validate(options: argparse.Namespace) -> int:
    print(HEAD)
    failed = 0
    for row in validate(options.unit, exercise=options.exercise):
        print(row, flush=True)
        failed += bool(row.problems)
    return 1 if failed else 0


def _release(options: argparse.Namespace) -> int:
    for folder in release(options.into, options.unit):
        print(f"{folder}: ready to hand out")
    return 0


def _nbgrader(options: argparse.Namespace) -> int:
    from autograder.grading.nbgrader import course_files  # nbgrader takes seconds to import

    for note in deliver(course_files(options.unit), options.into):
        print(note)
    print(f"{options.into}: run nbgrader there")
    return 0


def _grade(options: argparse.Namespace) -> int:
    if options.no_sandbox:
        os.environ[SETTING] = "none"
    return grade_folder(options.submissions, options.out, options.unit, options.seed, options.jobs)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)

    build = commands.add_parser("build", help="write an edition, keeping your changes")
    build.add_argument("--edition", choices=EDITIONS, required=True)
    build.add_argument("--unit", type=int, help="only this unit")
    build.add_argument("--into", type=Path, required=True, metavar="DIR")
    build.set_defaults(run=_build)

    validate = commands.add_parser("validate", help="check every exercise and every release")
    validate.add_argument("--unit", type=int, help="only this unit")
    validate.add_argument("--exercise", metavar="NAME", help="only this exercise")
    validate.set_defaults(run=_validate)

    release = commands.add_parser("release", help="the students' edition, one folder for each unit")
    release.add_argument("--unit", type=int, help="only this unit")
    release.add_argument("--into", type=Path, required=True, metavar="DIR")
    release.set_defaults(run=_release)

    course = commands.add_parser("nbgrader", help="a course folder in which nbgrader works")
    course.add_argument("--unit", type=int, help="only this unit")
    course.add_argument("--into", type=Path, required=True, metavar="DIR")
    course.set_defaults(run=_nbgrader)

    grade = commands.add_parser("grade", help="reports, feedback and grades.csv for a class")
    grade.add_argument("--submissions", type=Path, required=True, metavar="DIR_OR_ZIP")
    grade.add_argument("--out", type=Path, required=True, metavar="DIR")
    grade.add_argument("--unit", type=int, help="only this unit")
    grade.add_argument("--seed", type=int, default=0, help="vary the random programs")
    grade.add_argument("--jobs", type=int, help="submissions graded at a time (default: all cores)")
    words = "without bubblewrap, which protects your files: only where you trust every submission"
    grade.add_argument("--no-sandbox", action="store_true", help=words)
    grade.set_defaults(run=_grade)
    return parser


if __name__ == "__main__":
    sys.exit(main())
