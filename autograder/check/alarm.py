"""A limit on time: stop what does not end.

    with alarm(10, "One call took over 10 seconds."):
        student_function()                 # an endless loop raises TimedOut

`meanwhile` is called ten times a second as long as the block runs.

What counts is the processor time of this thread, so that a busy machine stops nobody; far later the
clock counts too, or a sleeping function would never end. A function that catches the exception gets
it again. It works where the operating system has SIGALRM, in the main thread; elsewhere it does
nothing. Next room: autograder/notebook.py and autograder/grading/grade.py, who set it.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from autograder.check.framework import TimedOut

TICK = 0.1  # seconds between two looks
BACKSTOP = 10  # times the limit, by the clock


@dataclass(frozen=True)
class _Limit:
    seconds: float  # of thread_time
    wall: float  # of monotonic
    problem: str
    meanwhile: Callable[[], None]

    @property
    def over(self) -> bool:
        return time.thread_time() > self.seconds or time.monotonic() > self.wall


_running: list[_Limit] = []  # the outermost first


@contextlib.contextmanager
def alarm(
    seconds: float, problem: str, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Raise TimedOut(problem) in the block if it takes longer. An alarm around this one goes on."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "SIGALRM"):
        yield
        return
    wall = time.monotonic() + BACKSTOP * seconds
    _running.append(_Limit(time.thread_time() + seconds, wall, problem, meanwhile))
    handler = signal.signal(signal.SIGALRM, _ring)
    before = signal.setitimer(signal.ITIMER_REAL, min(TICK, seconds), TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, handler)
        _running.pop()


def _ring(*_: object) -> None:
    for limit in _running:
        if limit.over:
            raise TimedOut(limit.problem)
        limit.meanwhile()
