"""A class in one command: collect, grade, add what a person decided, write everything.

    python -m autograder grade --submissions submissions --out build/grades

    build/grades/                      made with a .gitignore, so that no grade gets into git
      grades.csv                       every student and assignment: raw, penalty, final
      canvas.csv  moodle.csv           the final points as these want them, if there is a roster
      by-hand.csv                      what a person has to read; points that they fill in are kept
      term.html                        the class over the term: who is stuck where, who is at risk
      statistics.html                  each assignment in figures, for the teacher
      originality.html                 answers that resemble each other, for the teacher
      changes.csv                      after `regrade`: whose points changed, and why
      reports/u02_rewrites/ada.json    all that is known
      feedback/u02_rewrites/ada.html   for the student
      feedback/u02_rewrites.moodle.zip  and .canvas.zip: all of it, where the names are theirs
      cache/...                        reports by digest: what did not change is not graded again

Next room: book/entries.py, the lines of the grade book; classroom.py, where they are graded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from autograder.check.keys import is_lab, key_of
from autograder.edition.contents import COURSE
from autograder.edition.deliver import private, write
from autograder.edition.minutes import core, estimate, further
from autograder.edition.sources import sources
from autograder.grading.assignment import Assignment, editions
from autograder.grading.book.by_hand import (
    FILE,
    Given,
    Key,
    read_points,
    with_points,
    write_worklist,
)
from autograder.grading.book.changes import Reports, changes, read_reports, told, write_changes
from autograder.grading.book.course import Course
from autograder.grading.book.course_file import read_course
from autograder.grading.book.dashboard import write_dashboard
from autograder.grading.book.entries import Entry, entries
from autograder.grading.book.exports import (
    fill_worksheet,
    summary,
    write_canvas,
    write_grades,
    write_moodle,
)
from autograder.grading.book.groups import shared
from autograder.grading.book.lateness import download_warning
from autograder.grading.book.originality import write_originality
from autograder.grading.book.roster import Person, participants, read_roster
from autograder.grading.book.statistics import write_statistics
from autograder.grading.classroom import grade_all
from autograder.grading.names import file_name
from autograder.grading.page import feedback_page
from autograder.grading.platforms.returned import write_returned
from autograder.grading.submissions import collect
from autograder.grading.tasks import Task, tasks
from autograder.process.branch import slowly
from autograder.process.start import hide, mode, unprotected
from course_lib.bridges.cluster import INSECURE
from course_lib.exercises import slot
from course_lib.files import sweep

UTF8 = ("utf-8", "replace")  # what a student prints, or calls a file, may be no text
BEFORE = "before.json"  # the reports as they were when a comparison began


@dataclass(frozen=True)
class Job:
    """What the command was asked to do."""

    submissions: Path
    out: Path
    unit: int | str | None = None  # this alone: 2, or "u07_lab_matmul"
    seed: int | None = None  # for everybody; None: the course's secret says it
    jobs: int | None = None
    course: Path | None = None  # course.toml
    roster: Path | None = None  # else the course names it
    compare: Path | None = None  # grades of another time, often `out` itself
    worksheet: Path | None = None  # Moodle's offline grading worksheet of `unit`
    notebooks: Path = COURSE / "notebooks"
    engine: str = "pool"  # or Dask: classroom.py
    insecure: bool = False  # a cluster elsewhere may be used without certificates
    against: Path | None = None  # what another class handed in, to compare with


def grade_class(job: Job) -> int:
    """The whole job, with a progress bar. Returns 0, or 1 if the grader itself failed anywhere."""
    if job.worksheet and job.unit is None:
        raise ValueError("a worksheet is one assignment's: say which with --unit")
    private(job.out)
    sweep(job.out)
    course = read_course(job.course, [source.key for source in sources(job.notebooks)])
    roster = job.roster or course.roster
    secrets = (job.submissions, job.out, job.course, roster, job.compare, job.against)
    hide(*(place for place in secrets if place))
    people = read_roster(roster) if roster else []
    _check_extensions(course, people)
    with editions() as folder:
        assignments = [Assignment.of(s, folder) for s in sources(job.notebooks, job.unit)]
        handed = collect(job.submissions, [a.name for a in assignments])
        found = tasks(handed, assignments)
        done = _that_the_class_does(assignments, found, course, job)
        found = [task for task in found if task.assignment in done]
        others = tasks(collect(job.against, [a.name for a in done]), done) if job.against else []
        known = participants(job.worksheet, people) if job.worksheet else {}
        lines = entries(found, done, course, people, job.submissions, job.seed, known)
        lines = shared(lines, course)
        given = _given(job.out / FILE, job.notebooks, people, lines)
        before = _before(job)
        graded = _graded(lines, given, job)
    return _written(graded, given, course, people, before, others, job)


def _that_the_class_does(
    assignments: list[Assignment], found: list[Task], course: Course, job: Job
) -> list[Assignment]:
    """What course.toml has, is asked for or was handed in; all units if course.toml has none."""
    handed_in = {t.assignment.key for t in found if not t.reason or t.assignment.name in t.file}
    meant = {*course.units, *handed_in, key_of(job.unit) if job.unit is not None else ""}
    every = not any(not is_lab(key) for key in course.units)
    return [one for one in assignments if one.key in meant or (every and not is_lab(one.key))]


def _graded(lines: list[Entry], given: dict[Key, Given], job: Job) -> list[Entry]:
    """The lines with their reports, as the grader leaves them; each is written as it is done."""
    asked = {_key(e.task): n for n, e in enumerate(lines) if e.task}
    todo = [entry.task for entry in lines if entry.task]
    print(f"{len(todo)} to grade; sandbox: {mode()}\n{unprotected(mode())}".rstrip())
    graded = list(lines)
    if job.insecure and job.engine.startswith("dask://"):
        print(INSECURE.format(address=job.engine))
    done = grade_all(todo, job.out, job.jobs, job.engine, job.insecure)
    for task, report in tqdm(done, total=len(todo), unit="answer"):
        place = asked[_key(task)]
        graded[place] = replace(lines[place], report=report)
        write_report(with_points(graded[place], given), job.out)
    if todo and (why := slowly(mode())):
        print(why)
    return graded


def _written(
    graded: list[Entry],
    given: dict[Key, Given],
    course: Course,
    people: list[Person],
    before: Reports | None,
    others: Iterable[Task],
    job: Job,
) -> int:
    """Everything that is about the class as a whole, and what is said at the end."""
    lines = [with_points(entry, given) for entry in graded]
    write_worklist(job.out / FILE, graded, given)
    path = write_grades(lines, job.out)
    if people:
        write_canvas(lines, people, course, job.out)
        write_moodle(lines, people, course, job.out)
    if job.worksheet and job.unit is not None:
        filled, count = fill_worksheet(job.worksheet, lines, people, course, key_of(job.unit))
        print(f"{filled}: {count} lines filled in")
    returned = write_returned(lines, course, job.out)
    write_statistics(lines, job.out, _estimates(job) if course.minutes else {})
    write_dashboard(lines, course, datetime.now(UTC), job.out)
    write_originality(lines, sources(job.notebooks), job.out, others)
    print(f"{path}: {len(lines)} rows; feedback in {job.out / 'feedback'}")
    if returned:
        print(f"Feedback to upload: {', '.join(map(str, returned))}")
    pages = [job.out / f"{name}.html" for name in ("term", "statistics", "originality")]
    print(f"For you alone: {', '.join(map(str, pages))}")
    times = [e.submitted for e in lines if e.submitted and e.source == "the file's time"]
    dues = any(unit.due for unit in course.units.values())
    for sentence in [*summary(lines), download_warning(times) if dues else ""]:
        if sentence:
            print(sentence)
    if before is not None:
        rows = changes(before, lines)
        write_changes(rows, job.out)
        print("\n".join(told(rows)))
        (job.out / BEFORE).unlink(missing_ok=True)
    return 1 if any(entry.is_fault for entry in lines) else 0


def write_report(entry: Entry, out: Path) -> None:
    """The JSON report and the feedback page of one line."""
    assert entry.report is not None
    place = Path(entry.assignment) / file_name(entry.student)
    plain = {**entry.to_json(), **entry.report.to_json()}
    text = json.dumps(plain, indent=1, ensure_ascii=False)
    write(out / "reports" / f"{place}.json", text.encode(*UTF8))
    called = entry.person.name if entry.person and entry.person.name else entry.student
    page = feedback_page(entry.report, called, remarks(entry))
    write(out / "feedback" / f"{place}.html", page.encode(*UTF8))


def remarks(entry: Entry) -> list[str]:
    """What the feedback says about the points besides the report: lateness, points by hand."""
    sentences = []
    if entry.late and entry.submitted:
        when = entry.submitted.strftime("%Y-%m-%d %H:%M %Z")
        lost = "" if entry.earned is None else f"; {entry.penalty:g} points are taken off"
        sentences.append(f"Handed in {when} ({entry.source}): {entry.late.words}{lost}.")
        if entry.final is not None:
            sentences.append(f"Final: {entry.final:g} of {entry.possible:g} points.")
    return sentences + list(entry.notes)


def _estimates(job: Job) -> dict[str, tuple[float, float]]:
    """The estimated minutes of each assignment: its core, and what goes further."""
    named = {source.name: estimate(source.cells()) for source in sources(job.notebooks, job.unit)}
    return {name: (core(sections), further(sections)) for name, sections in named.items()}


def _key(task: Task) -> tuple[str, str]:
    return task.student, task.assignment.name


def _given(
    path: Path, notebooks: Path, people: list[Person], lines: list[Entry]
) -> dict[Key, Given]:
    possible: dict[str, float] = {}
    for source in sources(notebooks):
        asked = [slot(name) for name in source.exercises()]
        possible |= {entry.name: float(entry.points) for entry in asked}
        possible[source.name] = sum(entry.points for entry in asked if not entry.further)
    students = [*(p.id for p in people), *(e.student for e in lines)]
    given = read_points(path, possible, students)
    known = {student for student in students}
    lost = sorted({key[0] for key, mine in given.items() if mine.points is not None} - known)
    if lost:
        print(f"{path.name}: points for {', '.join(lost)}, of whom nothing is here; they are kept.")
    return given


def _check_extensions(course: Course, people: list[Person]) -> None:
    known = {person.id for person in people}
    for student in course.extensions:
        if people and student not in known:
            raise ValueError(f"course.toml, extensions.{student}: nobody on the roster has this id")


def _before(job: Job) -> Reports | None:
    """What to compare with: read once, and kept until the comparison is written, so that a run
    which was interrupted in between compares with the same."""
    if job.compare is None:
        return None
    kept = job.out / BEFORE
    if kept.exists():
        rows = json.loads(kept.read_text(encoding="utf-8"))
        return {(student, assignment): report for student, assignment, report in rows}
    reports = read_reports(job.compare)
    if not reports:
        raise ValueError(f"{job.compare} holds no reports to compare with")
    rows = [[*key, report] for key, report in reports.items()]
    write(kept, json.dumps(rows).encode())
    return reports
