"""Grading processes that live longer than one submission.

    for task, report in graded(tasks, jobs=4):      # in the order in which they are done

Each seat of the pool is a process that grades one submission at a time. It branches off after the
examples of the checks are made, so it has them for nothing. One assignment is graded after the
other: a student's process branches off from one that has imported what its assignment needs, and
that one serves the next submission as well. A seat that dies, or that works longer than PATIENCE,
is replaced; its submission gets the report "the grader failed", and the others never know. A seat
makes place for a fresh one after TURNS submissions, after a fault of its own, and when the next
assignment is ready.

Next room: cluster.py, the same on many machines; classroom.py, who asks.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder.check.framework import checks_of
from autograder.check.judging import prepare
from autograder.check.verdict import GRADER
from autograder.grading.ahead import foreseen, keep_calls
from autograder.grading.assignment import Assignment
from autograder.grading.grade import grade
from autograder.grading.report import Report, grader_failed
from autograder.grading.tasks import Task
from autograder.process.branch import branches
from autograder.process.child import die_with_parent, limit
from autograder.process.start import NoSandbox, mode

# Bytes that a seat may have beyond those of the process that it branched off: eight times what the
# largest unit's answers need.
MEMORY = 2 << 30
PATIENCE = 1800.0  # seconds for one submission, far above the sum of its own limits
TURNS = 100  # submissions before a seat is replaced


def graded(todo: list[Task], jobs: int | None = None) -> Iterator[tuple[Task, Report]]:
    """Grade every task, `jobs` at a time (default: all cores), if there is memory for so many."""
    most = min(jobs or os.cpu_count() or 1, room_for())
    later, waiting = by_assignment(todo)[::-1], []
    seats: list[Seat] = []
    try:
        while later or waiting or any(seat.task for seat in seats):
            if later and not waiting:  # while others still work on the last ones
                waiting = later.pop()[::-1]
                ready_for(waiting)
                for seat in seats:
                    seat.retire()
            for seat in [seat for seat in seats if seat.is_spent]:
                seat.close()
                seats.remove(seat)
            if waiting and len(seats) < most:
                seats.append(Seat())
            for seat in seats:
                if waiting and seat.task is None:
                    seat.start(waiting.pop())
            wait([seat.pipe for seat in seats if seat.task], timeout=1.0)
            for seat in [seat for seat in seats if seat.task]:
                done = seat.result()
                if done is not None:
                    yield done
    finally:
        gc.unfreeze()
        for seat in seats:
            seat.close()


def by_assignment(todo: Iterable[Task]) -> list[list[Task]]:
    """The tasks of each assignment together, in the order in which they first come."""
    groups: dict[Assignment, list[Task]] = {}
    for task in todo:
        groups.setdefault(task.assignment, []).append(task)
    return list(groups.values())


def room_for() -> int:
    """How many seats there is memory for, if each takes all that it may have; at least one."""
    import psutil

    return max(1, psutil.virtual_memory().total // MEMORY)


def ready_for(todo: Iterable[Task]) -> None:
    """Make what several submissions need here, once, before the seats branch off."""
    counts = Counter((task.seed, task.assignment) for task in todo)
    trying = threading.Thread(target=_try_the_sandbox)
    trying.start()
    with _collecting_seldom():
        for (seed, assignment), count in counts.items():
            _ = assignment.edition  # written now, once, before several seats need it
            if count > 1:
                make_ready(assignment, seed)
    trying.join()
    gc.freeze()  # the seats share these objects; collecting them would copy their pages


@contextlib.contextmanager
def _collecting_seldom() -> Iterator[None]:
    """What is made in this block stays: to look for what could go takes a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _try_the_sandbox() -> None:
    """What it can do here is found out once, by other processes, while we compute."""
    with contextlib.suppress(NoSandbox):  # whoever needs it is told
        branches(mode())


def make_ready(assignment: Assignment, seed: int) -> None:
    """The examples of all checks, and the calls that these make, as messages."""
    for entry in assignment.slots:
        prepare(entry.name, seed)
        for check in checks_of(entry.name, with_hidden=True):
            foreseen(check, seed)
    keep_calls(assignment, seed)


class Seat:
    """One grading process, as its owner sees it."""

    def __init__(self, method: str = "fork"):
        known = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context(method if method in known else "spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.pipe), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.until = 0.0
        self.turns = 0

    def start(self, task: Task) -> None:
        self.task, self.until = task, time.monotonic() + PATIENCE
        self.turns += 1
        with contextlib.suppress(OSError):  # it died just now: `result` says so
            self.pipe.send(task)

    def result(self) -> tuple[Task, Report] | None:
        """The report on its task, or that there will be none; None while it is at work."""
        assert self.task is not None
        if time.monotonic() > self.until:
            self.process.kill()
        try:
            if not self.pipe.poll():
                return None
            report = Report.sent(self.pipe.recv(), self.task.assignment)
        except (EOFError, OSError):
            report = self._failed(self._reason())
        except (ValueError, KeyError, TypeError) as error:
            report = self._failed(f"What the grader's process sent is no report: {error}")
        done, self.task = (self.task, report), None
        if any(verdict.kind == GRADER for verdict in report.verdicts):
            self.retire()
        return done

    def retire(self) -> None:
        """Take no other task: this seat does not have what the next ones need."""
        self.turns = TURNS

    @property
    def is_spent(self) -> bool:
        return self.task is None and (self.turns >= TURNS or not self.process.is_alive())

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def _failed(self, reason: str) -> Report:
        assert self.task is not None
        return grader_failed(self.task.assignment, self.task.program, reason, self.task.seed)

    def _reason(self) -> str:
        self.process.join()
        reason = f"The grader's process ended with status {self.process.exitcode}."
        if self.process.exitcode == -signal.SIGKILL:
            reason += f" (More than {PATIENCE / 60:g} minutes, or no memory left.)"
        return reason


def _born_with() -> int:
    """Bytes of memory that this process has from the one that it branched off; they are shared."""
    import psutil

    return getattr(psutil.Process().memory_info(), "data", 0)  # Linux alone counts them


def _serve(pipe: Connection, owners: Connection) -> None:
    """The life of a seat: a task in, a report out, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is for the process that started us
    owners.close()
    die_with_parent()
    limit({"RLIMIT_DATA": _born_with() + MEMORY})
    with contextlib.suppress(EOFError, OSError):
        while True:
            task: Task = pipe.recv()
            pipe.send(grade(task.assignment, task.program, task.seed).to_json())
