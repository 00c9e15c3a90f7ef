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
import io
import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
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
from autograder.grading.names import file_name
from autograder.grading.page import feedback_page
from autograder.grading.submissions import collect
from autograder.grading.tasks import Task, tasks
from autograder.process.child import die_with_parent, limit
from autograder.process.start import hide, mode, unprotected

UTF8 = ("utf-8", "replace")  # what a student prints, or calls a file, may be no text
MEMORY = 8 << 30  # bytes that the process may have that grades one submission
PATIENCE = 1800.0  # seconds for one submission, far above the sum of its own limits


def grade_folder(
    submissions: Path, out: Path, unit: int | None = None, seed: int = 0, jobs: int | None = None
) -> int:
    """The whole job, with a progress bar. Returns 0, or 1 if the grader itself failed anywhere."""
    hide(submissions, out)
    with tempfile.TemporaryDirectory(prefix="course-editions-") as editions:
        os.chmod(editions, 0o755)
        found = [Assignment.of(s, Path(editions)) for s in sources(COURSE / "notebooks", unit)]
        handed = collect(submissions, [a.name for a in found])
        todo = tasks(handed, found, seed)
        print(f"{len(todo)} to grade; sandbox: {mode()}\n{unprotected(mode())}".rstrip())
        results = []
        for task, report in tqdm(grade_all(todo, out, jobs), total=len(todo), unit="answer"):
            write_report(task, report, out)
            results.append((task, report))
    path = write_grades(results, out)
    failed = [t.student for t, r in results if any(v.kind == "grader" for v in r.verdicts)]
    print(f"{path}: {len(results)} rows; feedback in {out / 'feedback'}")
    if failed:
        print(f"The grader itself failed for {', '.join(failed)}: no points lost; see reports.")
    return 1 if failed else 0


def grade_all(
    todo: list[Task], out: Path, jobs: int | None = None
) -> Generator[tuple[Task, Report], None, None]:
    """Grade every task, `jobs` at a time; yields each as it is done, cached ones first."""
    cache = out / "cache"
    waiting = []
    for task in todo:
        report = load_report(cache / f"{task.cache_name}.json")
        if task.reason:
            reason = task.reason
            yield task, unreadable(task.assignment, reason.encode(*UTF8), reason, task.seed)
        elif report is not None:
            yield task, replace(report, notes=task.program.notes)
        else:
            waiting.append(task)
    for seed, assignment in _shared(waiting):  # once here instead of in each process
        for name in assignment.exercises:
            prepare(name, seed)
    running: dict[BaseProcess, tuple[Task, float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (jobs or os.cpu_count() or 1):
                task = waiting.pop(0)
                running[_start(task, cache)] = (task, time.monotonic() + PATIENCE)
            for process in [p for p, (_, end) in running.items() if _is_over(p, end)]:
                task, _ = running.pop(process)
                yield task, _finish(process, task, cache)
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


def _shared(waiting: list[Task]) -> list[tuple[int, Assignment]]:
    """The seeds that several submissions have, with their assignments."""
    counts = Counter((task.seed, task.assignment) for task in waiting)
    return [pair for pair, count in counts.items() if count > 1]


def _start(task: Task, cache: Path) -> BaseProcess:
    fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork") if fork else multiprocessing.get_context("spawn")
    process = context.Process(target=_grade_one, args=(task, cache))
    process.start()
    return process


def _grade_one(task: Task, cache: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is for the process that started us
    die_with_parent()
    limit({"RLIMIT_DATA": MEMORY})
    report = grade(task.assignment, task.program, task.seed)
    text = json.dumps(report.to_json(), ensure_ascii=False)
    write(cache / f"{task.cache_name}.json", text.encode(*UTF8))


def _is_over(process: BaseProcess, end: float) -> bool:
    if process.is_alive() and time.monotonic() > end:
        process.kill()
    return not process.is_alive()


def _finish(process: BaseProcess, task: Task, cache: Path) -> Report:
    process.join()
    path = cache / f"{task.cache_name}.json"
    report = load_report(path)
    if report is None:
        reason = f"The grader's process ended with status {process.exitcode}."
        if process.exitcode == -signal.SIGKILL:
            reason += f" (More than {PATIENCE / 60:g} minutes, or no memory left.)"
        return grader_failed(task.assignment, task.program, reason, task.seed)
    if report.by_wall or any(v.kind == "grader" for v in report.verdicts):
        path.unlink()  # our fault is not for keeping: the next run tries again
    return report


def _harmless(text: str) -> str:
    """No cell that a spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
