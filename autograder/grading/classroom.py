"""Many submissions at once, each graded in a process of its own.

    for task, report in grade_all(tasks, out):      # out/cache keeps what did not change

One that breaks, hangs or eats memory costs the others nothing. Every file is written whole; after
ctrl-C the same command goes on where it stopped.

Next room: grade_class.py, everything that a teacher gets; nbgrader.py, the same grades there.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from autograder.check.judging import prepare
from autograder.edition.deliver import write
from autograder.grading.grade import (
    Assignment,
    Report,
    grade,
    grader_failed,
    load_report,
    unreadable,
)
from autograder.grading.tasks import Task
from autograder.process.child import die_with_parent, limit

UTF8 = ("utf-8", "replace")  # what a student prints, or calls a file, may be no text
MEMORY = 8 << 30  # bytes that the process may have that grades one submission
PATIENCE = 1800.0  # seconds for one submission, far above the sum of its own limits


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
