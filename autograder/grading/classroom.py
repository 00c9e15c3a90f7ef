"""Many submissions at once: what is known already, and an engine for the rest.

    for task, report in grade_all(tasks, out, engine="dask"):      # out/cache keeps what is done

A report is a pure function of assignment, submission and seed, so it does not matter where and when
it is made: in this machine's pool of processes, or on a Dask cluster. Each is written whole as soon
as it is there; after ctrl-C, or worse, the same command goes on where it stopped.

Next room: pool.py, the processes; grade_class.py, everything that a teacher gets.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from autograder.check.verdict import GRADER
from autograder.edition.deliver import write
from autograder.grading import cluster, pool
from autograder.grading.report import Report, load_report, ungradable
from autograder.grading.tasks import Task

UTF8 = ("utf-8", "replace")  # what a student prints, or calls a file, may be no text
ENGINES = "pool, dask (a cluster on this machine), dask://HOST:PORT"


def grade_all(
    todo: list[Task],
    out: Path,
    jobs: int | None = None,
    engine: str = "pool",
    insecure: bool = False,
) -> Generator[tuple[Task, Report], None, None]:
    """Grade every task, `jobs` at a time; yields each as it is done, those in the cache first."""
    cache = out / "cache"
    waiting: dict[str, list[Task]] = {}  # by what is graded: two may have handed in the same
    for task in todo:
        report = load_report(cache / f"{task.cache_name}.json")
        if task.reason:
            reason = task.reason
            yield task, ungradable(task.assignment, reason.encode(*UTF8), reason, task.seed)
        elif report is not None:
            yield task, replace(report, notes=task.program.notes)
        else:
            waiting.setdefault(task.cache_name, []).append(task)
    each = [same[0] for same in waiting.values()]
    for first, report in _graded(each, jobs, engine, insecure):
        if not report.by_wall and all(verdict.kind != GRADER for verdict in report.verdicts):
            text = json.dumps(
                report.to_json(), ensure_ascii=False
            )  # our faults are not for keeping
            write(cache / f"{first.cache_name}.json", text.encode(*UTF8))
        for task in waiting[first.cache_name]:
            yield task, replace(report, notes=task.program.notes)


def _graded(
    todo: list[Task], jobs: int | None, engine: str, insecure: bool
) -> Iterator[tuple[Task, Report]]:
    if engine == "pool":
        return pool.graded(todo, jobs)
    if engine == "dask" or engine.startswith("dask://"):
        address = engine.removeprefix("dask").removeprefix("://")
        return cluster.graded(todo, address, jobs, insecure)
    raise ValueError(f"an engine is one of {ENGINES}, not {engine!r}")
