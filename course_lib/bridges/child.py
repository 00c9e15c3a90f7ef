"""The other side of `gxx.apart`: one function of a library, called in a process of its own.

    python child.py library function seconds repeat 4,kernel.0 +96 +48

Each argument is a whole number (+96) or a file that holds an array (its bytes, then its name). The
files are mapped into memory, so what the function writes is in them afterwards. Printed are, as
JSON, what the last call returned and the processor time that its thread took for each one. Every
call has so many seconds of processor time, and `WAITING` times as many by the clock; after that, a
signal ends this process. Nothing but the standard library is imported, so that it starts quickly.
Next room: `accesses.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import resource
import signal
import sys
from time import thread_time
from typing import Any

MEMORY = 8 << 30  # bytes of addresses, for a text that never stops asking for more
WAITING = 10  # times as many seconds by the clock


def main(library: str, name: str, seconds: str, repeat: str, *arguments: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    function = getattr(ctypes.CDLL(library), name)
    function.restype = ctypes.c_int64
    passed = [_argument(text) for text in arguments]
    times = []
    for _ in range(int(repeat)):
        signal.setitimer(signal.ITIMER_PROF, float(seconds))  # SIGPROF and SIGALRM end a process
        signal.setitimer(signal.ITIMER_REAL, WAITING * float(seconds))
        start = thread_time()  # while ITIMER_PROF runs, Linux counts a process in whole ticks
        value = function(*passed)
        times.append(thread_time() - start)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.write("\n" + json.dumps([value, times]))
    sys.stdout.flush()
    os._exit(0)  # whatever the function has left behind in this process is not asked any more


def _argument(text: str) -> Any:
    if text.startswith("+"):
        return ctypes.c_int64(int(text[1:]))
    size, path = text.split(",", 1)
    with open(path, "r+b") as file:
        place = mmap.mmap(file.fileno(), int(size))
    return (ctypes.c_char * int(size)).from_buffer(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
