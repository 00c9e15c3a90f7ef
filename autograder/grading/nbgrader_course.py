"""An nbgrader course: what it is made of, what its students get, and what leaves it.

    deliver(course_files(2), Path("course"))   # source/, nbgrader_config.py
    write_students(people, Path("course"))     # gradebook.db, with their names
    nbgrader generate_assignment u02_rewrites  # release/u02_rewrites: the notebook and its library
    nbgrader export                            # grades.csv

The export has nbgrader's columns and two more: to_grade, the points that a person still has to
give, because an explanation is not read or the grader failed; and note. Where there are any, score
is blank; nbgrader's own export counts them as 0. Blank, too, is who handed nothing in.

Next room: nbgrader.py, how a submission is graded there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from autograder.edition.contents import COURSE, beside, notebook_bytes
from autograder.edition.deliver import write
from autograder.edition.sources import Source, grade_id, sources
from autograder.grading.book.roster import Person
from autograder.grading.book.tables import write_table
from course_lib.exercises import slot

NOTEBOOKS = COURSE / "notebooks"
CONFIG = """from autograder.grading.nbgrader import configure

c = get_config()  # noqa: F821
configure(c)
"""
HEAD = [
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score", "to_grade", "note",
]  # fmt: skip


def course_sources() -> list[Source]:
    """The notebooks that the course is made of."""
    return sources(NOTEBOOKS)


def course_files(unit: int | str | None = None) -> dict[str, bytes]:
    """The files of an nbgrader course: the instructor's notebooks and the configuration."""
    files = {
        f"source/{source.name}/{source.name}.ipynb": notebook_bytes(
            source, solutions=True, handed_out=True
        )
        for source in sources(NOTEBOOKS, unit)
    }
    return {**files, "nbgrader_config.py": CONFIG.encode()}


def write_students(people: Iterable[Person], course: Path) -> None:
    """Write who is in the class into the gradebook of the course, which otherwise knows ids only;
    this can be repeated with another roster."""
    with Gradebook(f"sqlite:///{course.resolve()}/gradebook.db") as book:
        for person in people:
            first, last = person.parts
            names = {"first_name": first, "last_name": last, "email": person.email or None}
            book.update_or_create_student(person.id, **names)


def add_library(assignment: str, student: str, notebooks: list[str]) -> None:
    """nbgrader's hook after `generate_assignment`: beside the notebook, what it needs to run. Where
    that cannot be had, there is no release, and SystemExit says why: of any other error nbgrader
    makes a line in its log."""
    source = next((s for s in course_sources() if s.name == assignment), None)
    if source is None:
        return
    release = Path(notebooks[0]).resolve().parents[2] / "release" / assignment
    try:
        for name, content in beside([source]).items():
            write(release / name, content)
    except (ValueError, OSError) as error:
        shutil.rmtree(release, ignore_errors=True)
        raise SystemExit(f"{assignment} was not released: {error}") from error


class Export(ExportPlugin):
    """Writes grades.csv without a 0 for what nobody has looked at."""

    def export(self, gradebook: Gradebook) -> None:
        assignments = [a for a in gradebook.assignments if self._wants(self.assignment, a.name)]
        students = [s for s in gradebook.students if self._wants(self.student, s.id)]
        rows = [_row(gradebook, a, s) for a in assignments for s in students]
        path = Path(self.to or "grades.csv")
        write_table(path, HEAD, rows, mark=False)
        waiting = sum(bool(row[-2]) for row in rows)
        self.log.info("%s: %d rows, %d wait for a person", path, len(rows), waiting)

    def _wants(self, names: Any, name: str) -> bool:
        return not names or name in [str(wanted) for wanted in names]


def _row(gradebook: Gradebook, assignment: Any, student: Any) -> list[str]:
    most = f"{assignment.max_score:g}"
    who = [student.id, student.last_name or "", student.first_name or "", student.email or ""]
    due = str(assignment.duedate or "")
    try:
        submission = gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        empty = ["", "", "", most, "", "nothing handed in"]
        return [assignment.name, due, "", *who, *empty]
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    open_ones = [grade for grade in grades if _is_open(grade)]
    penalty = submission.late_submission_penalty or 0.0
    score = "" if open_ones else f"{max(0.0, submission.score - penalty):g}"
    to_grade = f"{sum(_worth(grade) for grade in open_ones):g}" if open_ones else ""
    note = ", ".join(f"{grade.name} waits for a person" for grade in open_ones)
    points = [f"{submission.score:g}", f"{penalty:g}", score, most, to_grade, note]
    return [assignment.name, due, str(submission.timestamp or ""), *who, *points]


def _is_open(grade: Any) -> bool:
    """True if a person still has to give points: as a score, or for a bonus as extra credit."""
    if grade.manual_score is not None:
        return False
    if grade.max_score:
        return grade.auto_score is None
    return grade.needs_manual_grade and grade.extra_credit is None


def _worth(grade: Any) -> float:
    """The points of the cell's exercise, of a bonus too, which is worth 0 to nbgrader."""
    name = grade.name.removesuffix("-check")
    exercises = (n for source in course_sources() for n in source.exercises())
    return next((slot(n).points for n in exercises if grade_id(n) == name), grade.max_score)
