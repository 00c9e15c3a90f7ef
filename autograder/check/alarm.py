"""A limit on time: stop what does not end.

    with alarm(10, "One call took over 10 seconds."):
        student_function()                 # an endless loop raises TimedOut

It works where the operating system has SIGALRM, in the main thread; elsewhere it does nothing.
Next room: autograder/notebook.py and autograder/grading/grade.py, who set it.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from autograder.check.framework import TimedOut


@contextlib.contextmanager
def alarm(seconds: float, problem: str) -> Iterator[None]:
    """Raise TimedOut(problem) in the block if it takes longer. An alarm around this one goes on."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: object) -> None:
        raise TimedOut(problem)

    handler = signal.signal(signal.SIGALRM, ring)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, outer - (seconds - left)))
