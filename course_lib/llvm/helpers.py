"""Code generation in parallel: more processes, which leave machine code where this one finds it.

    with helpers(texts, "host", 3):                 # three of them
        for text in texts:
            generate(text, "host")                  # most of it is there already

llvmlite lets one thread at a time into LLVM, so they are processes. Each goes round all modules
from another place and passes over those whose machine code is kept (`course_lib/keep.py`): nobody
has to share out the work. A helper that cannot start, or dies, costs nothing but its help.
Next room: `pool.py`, whose module is the first that LLVM works on.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from course_lib.exercises import plugs_now
from course_lib.llvm.codegen import generate, is_generated

WORTH = 400_000  # characters of LLVM IR, half a second's work: a helper needs that long to start
MODULES = 8  # that each one should have


@contextmanager
def helpers(texts: Sequence[str], cpu: str, count: int) -> Iterator[int]:
    """Up to `count` processes compile these modules while the block runs; how many do.

    None where there is little to do, and none while an answer to an exercise is plugged in: that
    process may be one that may not start others.
    """
    wanted = [text for text in texts if not is_generated(text, cpu)] if count else []
    started: list[subprocess.Popen] = []
    if sum(map(len, wanted)) >= WORTH and not plugs_now():
        count = min(count, len(wanted) // MODULES)
        with suppress(OSError):
            for number in range(1, count + 1):
                begin = number * len(wanted) // (count + 1)
                started.append(_start([*wanted[begin:], *wanted[:begin]], cpu))
    try:
        yield len(started)
    finally:
        for process in started:
            process.terminate()  # it ends when it can, and somebody has to notice
            threading.Thread(target=process.wait, daemon=True).start()


def _start(texts: list[str], cpu: str) -> subprocess.Popen:
    """A process that imports from where this one does."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as here; here.help_out()"
    with tempfile.TemporaryFile("w+") as order:
        json.dump([texts, cpu], order)
        order.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=order,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def help_out() -> None:
    """What a helper does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # nothing half written stays
    texts, cpu = json.load(sys.stdin)
    for text in texts:
        generate(text, cpu)
