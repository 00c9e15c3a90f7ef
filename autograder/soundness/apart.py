"""Work that may end its process is done in others, and what ends one of them ends nothing else.

    list(apart(verdict_on, answers, jobs=2))     # in the order of the answers
                                                 # None: its process ended, or did not come back

Next room: mutation.py and exercise.py, which have answers judged.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from autograder.process.child import die_with_parent, limit

MEMORY = 8 << 30  # bytes of address space: a wrong answer may ask for any amount
PATIENCE = 1800.0  # seconds for one piece of work, far above what any takes
FORKS = "fork" in multiprocessing.get_all_start_methods()
Work = Callable[[Any], Any]


def apart(
    work: Work, tasks: Sequence[Any], jobs: int, patience: float = PATIENCE
) -> Iterator[Any | None]:
    """`work` of each task; what it raises is raised here. With `FORKS`, what was made here before
    is there, too."""
    seats: list[_Seat] = []
    done: dict[int, Any] = {}
    waiting = list(reversed(list(enumerate(tasks))))
    try:
        for wanted in range(len(tasks)):
            while wanted not in done:
                seats = [seat for seat in seats if seat.task is not None or seat.is_alive]
                free = [seat for seat in seats if seat.task is None]
                while waiting and (free or len(seats) < jobs):
                    if not free:
                        free = [_Seat(work, patience)]
                        seats += free
                    free.pop().start(*waiting.pop())
                done |= _ended(seats)
            yield done.pop(wanted)
    finally:
        for seat in seats:
            seat.close()


def _ended(seats: list[_Seat]) -> dict[int, Any]:
    """What has come back within a second, by the number of its task."""
    wait([end for seat in seats for end in (seat.pipe, seat.process.sentinel)], timeout=1.0)
    results: dict[int, Any] = {}
    for seat in seats:
        number = seat.task
        if number is not None and seat.is_done:
            results[number] = seat.result()
    return results


class _Seat:
    """A process that does one piece of work at a time, as its owner sees it."""

    def __init__(self, work: Work, patience: float):
        context: Any = multiprocessing.get_context("fork" if FORKS else "spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.pipe, work), daemon=True)
        self.process.start()
        theirs.close()
        self.patience, self.until = patience, 0.0
        self.task: int | None = None

    def start(self, number: int, task: Any) -> None:
        self.task, self.until = number, time.monotonic() + self.patience
        with contextlib.suppress(OSError):  # it died just now: `result` says so
            self.pipe.send(task)

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    @property
    def is_done(self) -> bool:
        if time.monotonic() > self.until:
            self.process.kill()
            self.process.join()
        return self.pipe.poll() or not self.is_alive

    def result(self) -> Any | None:
        """What came back; None if its process ended without a word."""
        self.task = None
        try:
            if not self.pipe.poll():  # it ended, and something that it started holds the pipe
                raise EOFError
            value, error = self.pipe.recv()
        except (EOFError, OSError):
            self.close()
            return None
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, owners: Connection, work: Work) -> None:
    """The life of a seat: a task in, its result or an error of ours out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is for the process that started us
    owners.close()
    die_with_parent()
    warnings.simplefilter("ignore")
    faulthandler.disable()  # an end is a verdict here, and no fault of ours
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has limits
        limit({"RLIMIT_AS": MEMORY, "RLIMIT_CORE": 0})
    with contextlib.suppress(EOFError):
        while True:
            task = pipe.recv()
            try:
                answer = work(task), None
            except Exception as error:
                answer = None, error
            pipe.send(answer)
