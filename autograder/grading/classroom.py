"""A class at once: collect, grade in parallel, write reports, feedback and grades.csv.

    python -m autograder grade --submissions submissions --out build/grades

    build/grades/
      grades.csv                       one row for each student and assignment
      reports/u02_rewrites/ada.json    all that is known
      feedback/u02_rewrites/ada.html   for the student
      cache/...                        reports by digest: what did not change is not graded again

Each submission is graded in a process of its own: one that breaks, hangs or eats memory costs the
others nothing. Every file is written whole; after ctrl-C the same command goes on where it stopped.

Next room: page.py, the feedback page; nbgrader.py, the same grades in nbgrader's gradebook.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from tqdm import tqdm

from autograder.check.judging import prepare
from autograder.edition.contents import COURSE
from autograder.edition.deliver import write
from autograder.edition.sources import sources
from autograder.grading.grade import (
    Assignment,
    Report,
    grade,
    grader_failed,
    load_report,
    unreadable,
)
from autograder.grading.page import feedback_page
from autograder.grading.program import Program, Unreadable, read
from autograder.grading.sandbox import best_mode
from autograder.grading.submissions import Handed, collect

UTF8 = ("utf-8", "replace")  # what a student prints, or calls a file, may be no text
PATIENCE = 1800.0  # seconds for one submission, far above the sum of its own limits


@dataclass(frozen=True)
class Task:
    """One student's answer to one assignment."""

    student: str
    assignment: Assignment
    file: str
    program: Program
    reason: str = ""  # why there is nothing to grade

    def cache_name(self, seed: int) -> str:
        content = f"{self.assignment.digest} {self.program.digest} {seed} {best_mode()}"
        return hashlib.sha256(content.encode()).hexdigest()


def grade_folder(
    submissions: Path, out: Path, unit: int | None = None, seed: int = 0, jobs: int | None = None
) -> int:
    """The whole job, with a progress bar. Returns 0, or 1 if the grader itself failed anywhere."""
    with tempfile.TemporaryDirectory(prefix="course-editions-") as editions:
        os.chmod(editions, 0o755)
        found = [Assignment.of(s, Path(editions)) for s in sources(COURSE / "notebooks", unit)]
        handed = collect(submissions, [a.name for a in found])
        todo = tasks(handed, found)
        print(f"{len(todo)} to grade; sandbox: {best_mode()}")
        results = []
        for task, report in tqdm(grade_all(todo, out, seed, jobs), total=len(todo), unit="answer"):
            write_report(task, report, out)
            results.append((task, report))
    path = write_grades(results, out)
    failed = [t.student for t, r in results if any(v.kind == "grader" for v in r.verdicts)]
    print(f"{path}: {len(results)} rows; feedback in {out / 'feedback'}")
    if failed:
        print(f"The grader itself failed for {', '.join(failed)}: no points lost; see reports.")
    return 1 if failed else 0


def tasks(handed: Iterable[Handed], assignments: list[Assignment]) -> list[Task]:
    """Which file answers which assignment: for each student the one that answers most."""
    by_student: dict[str, list[Handed]] = {}
    for item in handed:
        by_student.setdefault(item.student, []).append(item)
    found = []
    for student, items in sorted(by_student.items()):
        mine = [task for a in assignments if (task := _best(student, items, a))]
        found += mine or [_nothing(student, items, assignment) for assignment in assignments]
    return found


def grade_all(
    todo: list[Task], out: Path, seed: int = 0, jobs: int | None = None
) -> Generator[tuple[Task, Report], None, None]:
    """Grade every task, `jobs` at a time; yields each as it is done, cached ones first."""
    cache = out / "cache"
    waiting = []
    for task in todo:
        report = load_report(cache / f"{task.cache_name(seed)}.json")
        if task.reason:
            yield task, unreadable(task.assignment, task.reason.encode(*UTF8), task.reason, seed)
        elif report is not None:
            yield task, replace(report, notes=task.program.notes)
        else:
            waiting.append(task)
    for task in waiting:  # before the processes branch off: once instead of in each
        for name in task.assignment.exercises:
            prepare(name, seed)
    running: dict[BaseProcess, tuple[Task, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (jobs or os.cpu_count() or 1):
                task = waiting.pop(0)
                running[_start(task, cache, seed)] = (task, time.monotonic() + PATIENCE)
            for process in [p for p, (_, end) in running.items() if _is_over(p, end)]:
                task, _ = running.pop(process)
                yield task, _finish(process, task, cache, seed)
            time.sleep(0.01)
    finally:
        for process in running:
            process.kill()


def write_grades(results: list[tuple[Task, Report]], out: Path) -> Path:
    """grades.csv, with a column for each exercise."""
    names = list(dict.fromkeys(v.exercise for _, r in results for v in r.verdicts))
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    head = ["student", "assignment", "earned", "possible", "to_grade", "notes", "file"]
    rows.writerow([*head, *names])
    for task, report in sorted(results, key=lambda pair: (pair[0].student, pair[1].unit)):
        earned = {v.exercise: "" if v.earned is None else f"{v.earned:g}" for v in report.verdicts}
        totals = [f"{n:g}" for n in (report.earned, report.possible, report.to_grade)]
        notes = " | ".join(report.notes)
        cells = [_harmless(c) for c in (task.student, report.assignment)]
        row = [*cells, *totals, _harmless(notes), _harmless(task.file)]
        rows.writerow([*row, *(earned.get(name, "") for name in names)])
    write(out / "grades.csv", table.getvalue().encode(*UTF8))
    return out / "grades.csv"


def write_report(task: Task, report: Report, out: Path) -> None:
    """The JSON report and the feedback page of one task."""
    place = Path(report.assignment) / file_name(task.student)
    text = json.dumps(report.to_json(), indent=1, ensure_ascii=False)
    write(out / "reports" / f"{place}.json", text.encode(*UTF8))
    page = feedback_page(report, task.student)
    write(out / "feedback" / f"{place}.html", page.encode(*UTF8))


def file_name(student: str) -> str:
    """A student's name as a file name; different names stay different."""
    safe = "".join(c if c.isalnum() or c in "._-@+ " else "_" for c in student).strip(". ")[:80]
    tag = hashlib.sha256(student.encode(*UTF8)).hexdigest()[:8]
    return safe if safe == student else f"{safe}-{tag}"


def _best(student: str, items: list[Handed], assignment: Assignment) -> Task | None:
    candidates = []
    for item in items:
        try:
            program = read(item.data, assignment.explanations) if not item.problem else Program()
        except Unreadable:
            continue
        asked = set(assignment.exercises)
        if program.answers & asked:
            rank = (len(program.attempted & asked), item.name)
            candidates.append((rank, Task(student, assignment, item.name, program)))
    if not candidates:
        return None
    best = max(candidates, key=lambda candidate: candidate[0])[1]
    if len(candidates) == 1:
        return best
    note = f"{len(candidates)} files answer this assignment; graded: {best.file}"
    return replace(best, program=replace(best.program, notes=(*best.program.notes, note)))


def _nothing(student: str, items: list[Handed], assignment: Assignment) -> Task:
    """The task of a student none of whose files answers any assignment: with the reason."""
    reasons = []
    for item in items:
        try:
            read(item.data) if not item.problem else None
            reasons.append(item.problem or "The notebook answers none of the exercises.")
        except Unreadable as error:
            reasons.append(str(error))
    files = ", ".join(item.name for item in items)
    return Task(student, assignment, files, Program(), " ".join(dict.fromkeys(reasons)))


def _start(task: Task, cache: Path, seed: int) -> BaseProcess:
    fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork") if fork else multiprocessing.get_context("spawn")
    process = context.Process(target=_grade_one, args=(task, cache, seed))
    process.start()
    return process


def _grade_one(task: Task, cache: Path, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is for the process that started us
    report = grade(task.assignment, task.program, seed)
    text = json.dumps(report.to_json(), ensure_ascii=False)
    write(cache / f"{task.cache_name(seed)}.json", text.encode(*UTF8))


def _is_over(process: BaseProcess, end: float) -> bool:
    if process.is_alive() and time.monotonic() > end:
        process.kill()
    return not process.is_alive()


def _finish(process: BaseProcess, task: Task, cache: Path, seed: int) -> Report:
    process.join()
    path = cache / f"{task.cache_name(seed)}.json"
    report = load_report(path)
    if report is None:
        reason = f"The grader's process ended with status {process.exitcode}."
        if process.exitcode == -signal.SIGKILL:
            reason += f" (More than {PATIENCE / 60:g} minutes, or no memory left.)"
        return grader_failed(task.assignment, task.program, reason, seed)
    if any(v.kind == "grader" for v in report.verdicts):
        path.unlink()  # our fault is not for keeping: the next run tries again
    return report


def _harmless(text: str) -> str:
    """No cell that a spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
