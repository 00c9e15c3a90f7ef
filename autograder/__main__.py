"""The commands of a teacher; `make` calls them.

    python -m autograder build --edition open --into course            what a self-learner gets
    python -m autograder release --unit 2 --into build/release         what a class gets
    python -m autograder grade --submissions dir --out build/grades    reports, feedback, grades.csv
    python -m autograder regrade --submissions dir --out build/grades  whose points change, and why
    python -m autograder read --out build/grades                       points for explanations
    python -m autograder nbgrader --into build/nbgrader                a course folder for nbgrader
    python -m autograder validate                                      is every exercise sound?
    python -m autograder facts --unit 2                                its exercises as a table
    python -m autograder minutes --unit 2                              how long it takes, estimated
    python -m autograder status --course course                        a learner's: how far they are
    python -m autograder gradescope --unit 2 --into build/gradescope   Gradescope's autograder
    python -m autograder jobs --unit 2 --for gitlab ...                our grader as a job

`--unit u07_lab_matmul` names a lab beside unit 7; `--unit 7` is the unit without its labs.

docs/instructors.md tells the whole story.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.check.keys import key_of
from autograder.edition.contents import COURSE, EDITIONS, contents
from autograder.edition.deliver import deliver, private
from autograder.edition.facts import ESTIMATE, exercise_table, minutes_row, minutes_table
from autograder.edition.release import release
from autograder.edition.sources import Source, sources
from autograder.grading.book.course_file import read_course
from autograder.grading.book.reading import keyboard, read_answers
from autograder.grading.book.releases import due_now
from autograder.grading.book.roster import read_roster
from autograder.grading.classroom import ENGINES
from autograder.grading.grade_class import Job, grade_class
from autograder.grading.platforms.commands import add_commands
from autograder.grading.rehearsal import make_class
from autograder.process.start import SETTING
from autograder.progress.__main__ import FOLDER, status
from autograder.validate import HEAD, validate

ONLY: dict[str, Any] = {"type": key_of, "metavar": "UNIT", "help": "only this unit, or this lab"}
WHICH = "this unit, or this lab; may be repeated (default: all, a whole term)"
SEVERAL: dict[str, Any] = {"action": "append", "default": [], "help": "only this; may be repeated"}


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
    _notebooks(options.unit)
    print(HEAD)
    failed = 0
    for row in validate(options.unit, exercises=options.exercise):
        print(row, flush=True)
        failed += bool(row.problems)
    return 1 if failed else 0


def _facts(options: argparse.Namespace) -> int:
    for source in _notebooks(options.unit):
        print(f"# {source.name}\n\n{minutes_table(source)}\n{exercise_table(source)}")
    return 0


def _minutes(options: argparse.Namespace) -> int:
    notebooks = _notebooks(options.unit)
    if options.unit is None:
        print("core  further  (minutes)", *map(minutes_row, notebooks), ESTIMATE, sep="\n")
    else:
        print(*(f"# {one.name}\n\n{minutes_table(one)}" for one in notebooks), sep="\n")
    return 0


def _status(options: argparse.Namespace) -> int:
    return status(options.course)


def _notebooks(only: str | None) -> list[Source]:
    """Those that are meant; ValueError if there are none."""
    notebooks = sources(COURSE / "notebooks", only)
    if not notebooks:
        raise ValueError(f"no notebook source for {only}")
    return notebooks


def _release(options: argparse.Namespace) -> int:
    units = {source.key: source.name for source in sources(COURSE / "notebooks")}
    course = read_course(_course_file(options), units)
    wanted = [source.key for source in _notebooks(options.unit)]
    refused = False
    for due in due_now(course, units, datetime.now(UTC), options.anyway):
        if due.key not in wanted:
            continue
        for folder in release(options.into, due.key, minutes=course.minutes) if due.release else ():
            print(f"{folder}: ready to hand out")
        if due.solutions:
            for folder in release(options.into / "solutions", due.key, edition="instructor"):
                print(f"{folder}: the solutions, from today on")
        print(*due.notes, sep="\n", end="\n" if due.notes else "")
        refused |= not due.release
    return 1 if refused and options.unit is not None else 0


def _nbgrader(options: argparse.Namespace) -> int:
    # nbgrader takes seconds to import
    from autograder.grading.nbgrader_course import course_files, write_students

    keys = [source.key for source in sources(COURSE / "notebooks")]
    roster = options.roster or read_course(_course_file(options), keys).roster
    people = read_roster(roster) if roster else []
    private(options.into)
    for note in deliver(course_files(options.unit), options.into):
        print(note)
    if people:
        write_students(people, options.into)
    named = f"; gradebook.db names {len(people)} students" if people else ""
    print(f"{options.into}: run nbgrader there{named}")
    return 0


def _make_class(options: argparse.Namespace) -> int:
    units = options.unit or [source.key for source in sources(COURSE / "notebooks")]
    make_class(options.students, units, options.into, options.seed)
    print(f"{options.into}: a class of {options.students} to rehearse with")
    return 0


def _grade(options: argparse.Namespace) -> int:
    return grade_class(_job(options))


def _regrade(options: argparse.Namespace) -> int:
    return grade_class(replace(_job(options), compare=options.compare or options.out))


def _read(options: argparse.Namespace) -> int:
    with keyboard() as ask:
        read_answers(options.out, options.exercise or options.unit, ask, print)
    return 0


def _job(options: argparse.Namespace) -> Job:
    _notebooks(options.unit)
    if options.no_sandbox:
        os.environ[SETTING] = "none"
    return Job(
        options.submissions, options.out, options.unit, options.seed, options.jobs,
        _course_file(options), options.roster, options.compare, options.worksheet,
        engine=options.engine, insecure=options.insecure, against=options.against,
    )  # fmt: skip


def _course_file(options: argparse.Namespace) -> Path | None:
    """The file that was named, or course.toml where the command runs, if there is one."""
    here = Path("course.toml")
    return options.course or (here if here.exists() else None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)

    build = commands.add_parser("build", help="write an edition, keeping your changes")
    build.add_argument("--edition", choices=EDITIONS, required=True)
    build.add_argument("--unit", **ONLY)
    build.add_argument("--into", type=Path, required=True, metavar="DIR")
    build.set_defaults(run=_build)

    validate = commands.add_parser("validate", help="check every exercise and every release")
    validate.add_argument("--unit", **ONLY)
    validate.add_argument("--exercise", metavar="NAME", **SEVERAL)
    validate.set_defaults(run=_validate)
    _add_telling(commands, "facts", _facts, "the exercises and minutes of each unit as tables")
    _add_telling(commands, "minutes", _minutes, "how long each unit takes, estimated")

    _add_status(commands)

    release = commands.add_parser("release", help="the students' edition, one folder for each unit")
    release.add_argument("--unit", **ONLY)
    release.add_argument("--into", type=Path, required=True, metavar="DIR")
    release.add_argument("--course", type=Path, metavar="FILE", help="default: ./course.toml")
    release.add_argument("--anyway", action="store_true", help="before its release date, too")
    release.set_defaults(run=_release)

    _add_nbgrader(commands)

    classes = commands.add_parser("make-class", help="an invented class, to rehearse grading with")
    classes.add_argument("--students", type=int, default=30)
    classes.add_argument("--unit", type=key_of, metavar="UNIT", action="append", help=WHICH)
    classes.add_argument("--into", type=Path, required=True, metavar="DIR")
    classes.add_argument("--seed", type=int, default=0, help="another class")
    classes.set_defaults(run=_make_class)

    _add_grading(commands, "grade", _grade, "reports, feedback and grades for a class")
    _add_grading(commands, "regrade", _regrade, "grade again: whose points change, and why?")

    _add_read(commands)
    add_commands(commands)
    return parser


def _add_status(commands: Any) -> None:
    where = commands.add_parser("status", help="how far a learner is, in their folder")
    where.add_argument("--course", type=Path, metavar="DIR", default=Path(), help=FOLDER)
    where.set_defaults(run=_status)


def _add_nbgrader(commands: Any) -> None:
    course = commands.add_parser("nbgrader", help="a course folder in which nbgrader works")
    course.add_argument("--unit", **ONLY)
    course.add_argument("--into", type=Path, required=True, metavar="DIR")
    course.add_argument("--course", type=Path, metavar="FILE", help="default: ./course.toml")
    course.add_argument("--roster", type=Path, metavar="CSV", help="students whom formgrader names")
    course.set_defaults(run=_nbgrader)


def _add_read(commands: Any) -> None:
    read = commands.add_parser("read", help="points for explanations by keyboard, names hidden")
    read.add_argument("--out", type=Path, required=True, metavar="DIR", help="where grades are")
    read.add_argument("--unit", **ONLY)
    read.add_argument("--exercise", metavar="NAME", help="only this")
    read.set_defaults(run=_read)


def _add_telling(commands: Any, name: str, run: Callable[..., int], text: str) -> None:
    told = commands.add_parser(name, help=text)
    told.add_argument("--unit", **ONLY)
    told.set_defaults(run=run)


def _add_grading(commands: Any, name: str, run: Callable[..., int], text: str) -> None:
    words = "without bubblewrap, which protects your files: only where you trust every submission"
    grade = commands.add_parser(name, help=text)
    grade.add_argument("--submissions", type=Path, required=True, metavar="DIR_OR_ZIP")
    grade.add_argument("--out", type=Path, required=True, metavar="DIR")
    grade.add_argument("--unit", **ONLY)
    grade.add_argument("--course", type=Path, metavar="FILE", help="default: ./course.toml")
    grade.add_argument("--roster", type=Path, metavar="CSV", help="who is in the class")
    grade.add_argument("--compare", type=Path, metavar="DIR", help="grades of another time")
    grade.add_argument("--against", type=Path, metavar="DIR_OR_ZIP", help="another class's answers")
    grade.add_argument("--worksheet", type=Path, metavar="CSV", help="Moodle's, to fill in")
    grade.add_argument("--seed", type=int, help="for all; default: from the course's secret")
    grade.add_argument("--jobs", type=int, help="graded at a time (default: all cores)")
    grade.add_argument("--engine", default="pool", help=f"where: {ENGINES}")
    grade.add_argument("--insecure", action="store_true", help="dask://... without certificates")
    grade.add_argument("--no-sandbox", action="store_true", help=words)
    grade.set_defaults(run=run)


def _with_one_order() -> None:
    """Start again with a fixed order of sets of text: the same submission gets the same report."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


if __name__ == "__main__":
    _with_one_order()
    sys.exit(main())
