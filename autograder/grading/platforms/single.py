"""One submission, graded as those of a class are: `python -m autograder one`, for other graders.

    python -m autograder one --unit 2 --submission . --summary summary.md
    python -m autograder one --settings settings.json --submission dir --gradescope results.json

The folder is one student's, with notebooks and whatever else lies there; what counts is what would
count in a class. A file of settings keeps the seed out of the command line, which every process of
the machine can read.

Next room: results.py, the report as a platform wants it; bundle.py, Gradescope's zip.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.check.keys import key_of
from autograder.check.verdict import GRADER, as_text
from autograder.edition.contents import COURSE
from autograder.edition.sources import Source, sources
from autograder.grading.assignment import Assignment, editions
from autograder.grading.grade import grade
from autograder.grading.limits import Limits
from autograder.grading.platforms.open_part import LATER, is_closed, open_part
from autograder.grading.platforms.results import (
    gradescope,
    summary,
    write_output,
    write_results,
)
from autograder.grading.report import Report, ungradable
from autograder.grading.submissions import collect_one
from autograder.grading.tasks import tasks
from autograder.process.start import hide, mode

MINUTES = 10  # that a platform waits for a grader; Gradescope's own default


@dataclass(frozen=True)
class Settings:
    """What is graded, with which seed, and how many minutes there are for all of it."""

    unit: str
    seed: int = 0
    minutes: float = MINUTES

    def to_json(self) -> bytes:
        return (json.dumps(asdict(self), indent=1) + "\n").encode()

    @staticmethod
    def read(file: Path) -> Settings:
        """From a file; ValueError if it holds something else."""
        try:
            return Settings(**json.loads(file.read_text(encoding="utf-8")))
        except TypeError as error:
            raise ValueError(f"{file} holds other settings: {error}") from None


def limits_within(minutes: float) -> Limits:
    """The usual limits, or smaller ones, so that a report is there before the platform stops
    everything: half of the time for the student's code, a quarter for the checks."""
    usual, seconds = Limits(), 60 * minutes
    return Limits(
        start=usual.start,
        cell=min(usual.cell, seconds / 60),
        call=min(usual.call, seconds / 60),
        exercise=min(usual.exercise, seconds / 10),
        cells=min(usual.cells, seconds / 5),
        total=min(usual.total, seconds / 2),
        checking=min(usual.checking, seconds / 4),
    )


def source_of(unit: int | str, notebooks: Path = COURSE / "notebooks") -> Source:
    """The notebook that is meant; ValueError if there is none."""
    found = sources(notebooks, unit)
    if not found:
        raise ValueError(f"no notebook source for {key_of(unit)}")
    return found[0]


def grade_one(folder: Path, settings: Settings, notebooks: Path = COURSE / "notebooks") -> Report:
    """The report on what one student has handed in, which lies in this folder."""
    mode()  # NoSandbox: before anything of the student's is looked at
    hide(folder)
    with editions() as place:
        assignment = Assignment.of(source_of(settings.unit, notebooks), place)
        handed = collect_one(folder, assignment.name)
        (task,) = tasks(handed, [assignment], settings.seed)
        if task.reason:
            return ungradable(assignment, task.reason.encode(), task.reason, settings.seed)
        limits = limits_within(settings.minutes)
        return grade(assignment, task.program, settings.seed, limits)


def one(options: Any) -> int:
    """The command. Its status is 1 if the grader itself failed, whatever the points are."""
    if options.account:
        os.environ["COURSE_SANDBOX"] = "account"
    if not (options.settings or options.unit):
        raise ValueError("say which unit: --unit 2, or --settings FILE")
    settings = Settings(options.unit, minutes=options.minutes)
    if options.settings:
        settings = Settings.read(options.settings)
    report = grade_one(options.submission, settings)
    if options.gradescope:
        write_results(gradescope(report), options.gradescope)
    if options.summary:
        with options.summary.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(summary(report))
    if options.classroom:
        write_output(report, options.classroom)
    print(told(report))
    return 1 if any(verdict.kind == GRADER for verdict in report.verdicts) else 0


def told(report: Report) -> str:
    """The open part of the report for a terminal."""
    if report.is_ungradable:
        return "\n".join([f"{report.assignment}: cannot be graded.", *report.notes])
    lines = [f"{report.assignment}; sandbox: {report.sandbox}", *report.notes]
    for verdict in report.verdicts:
        later = f"{verdict.exercise}: {LATER}"
        lines.append(later if is_closed(verdict) else as_text(open_part(verdict)))
    return "\n".join(lines)
