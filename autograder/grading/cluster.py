"""Grading on Dask distributed: the same pure function, on as many machines as there are.

    graded(tasks, "10.0.0.1:8786")      # a cluster, on whose machines this course is installed
    graded(tasks, "", jobs=2)           # a cluster on this machine, for as long as it takes

Whoever can talk to a scheduler can run code: course_lib/bridges/cluster.py says who can.

What travels is plain data: the assignment by name and digest, the program, the seed. A machine
makes the edition itself and refuses to grade with another version of the course. On each of its
workers one seat of the pool does the grading: a submission that ends a process ends that seat. When
a whole worker is lost, Dask gives its submissions to another one.

Next room: classroom.py, who asks.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from autograder.edition.contents import COURSE
from autograder.edition.sources import sources
from autograder.grading.assignment import lasting
from autograder.grading.pool import Seat, by_assignment
from autograder.grading.program import Program
from autograder.grading.report import Report, grader_failed
from autograder.grading.tasks import Task
from course_lib.bridges.cluster import connected

WINDOW = 256  # submissions that are there at once: more than there are workers, less than a term's


def graded(
    todo: list[Task], address: str, jobs: int | None = None, insecure: bool = False
) -> Iterator[tuple[Task, Report]]:
    """Grade every task on the cluster at this address; without one, on a cluster of our own."""
    with connected(address, jobs or _cores(), insecure) as client:
        from distributed import as_completed

        later = chain.from_iterable(by_assignment(todo))
        there: dict[Any, Task] = {}
        done = as_completed()

        def send(count: int) -> None:
            for task in islice(later, count):
                key = f"grade-{task.cache_name}"
                future = client.submit(report_on, *_plain(task), key=key)
                there[future] = task
                done.add(future)

        send(WINDOW)
        for future in done:
            task = there.pop(future)
            send(1)
            if future.status == "finished":
                yield task, Report.from_json(future.result())
            else:
                reason = f"On the cluster: {future.exception()!r:.500}"
                yield task, grader_failed(task.assignment, task.program, reason, task.seed)


def report_on(name: str, digest: str, program: dict[str, Any], seed: int) -> dict[str, Any]:
    """The pure function, on a worker of the cluster: plain data in, plain data out."""
    assignment = lasting(next(s for s in sources(COURSE / "notebooks") if s.name == name))
    if assignment.digest != digest:
        raise ValueError(f"this machine has another version of the course ({name})")
    with _one_at_a_time:
        seat = _seat()
        seat.start(Task("", assignment, "", Program.from_json(program), seed=seed))
        while (done := seat.result()) is None:
            time.sleep(0.01)
    return done[1].to_json()


def _cores() -> int:
    return os.cpu_count() or 1


def _plain(task: Task) -> tuple[str, str, dict[str, Any], int]:
    return task.assignment.name, task.assignment.digest, task.program.to_json(), task.seed


_seats: list[Seat] = []
_one_at_a_time = threading.Lock()


def _seat() -> Seat:
    """This worker's grading process. (A worker is a daemon, which may have no processes.)"""
    for seat in [seat for seat in _seats if seat.is_spent]:
        seat.close()
        _seats.remove(seat)
    if not _seats:
        multiprocessing.current_process().daemon = False
        _seats.append(Seat("spawn"))  # a worker has threads: it cannot branch off
    return _seats[0]
