"""Messages on the pipe between grader and worker, and what a worker says, made harmless.

    frame(data)            # with its header
    described(value)       # (error, line, code) if that is what came back

Next room: sandbox.py, the grader's end of the pipe.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from typing import Any

from autograder.check.received import without_addresses
from autograder.grading.worker import HEADER

BATCH = 60_000  # bytes of calls that are on their way together


def frame(data: bytes, flags: int = 0) -> bytes:
    return HEADER.pack(flags, len(data)) + data


def batches(calls: Iterable[bytes]) -> Iterator[list[bytes]]:
    """As many calls at a time as the pipe holds: then writing them waits for nobody."""
    batch: list[bytes] = []
    size = 0
    for data in calls:
        size += HEADER.size + len(data)
        if batch and size > BATCH:
            yield batch
            batch, size = [], HEADER.size + len(data)
        batch.append(data)
    if batch:
        yield batch


def kinds_of(value: list) -> tuple[str, ...]:
    """The names of an exception's classes, as the worker says."""
    names = value[0] if value and isinstance(value[0], list) else []
    return tuple(name for name in names if isinstance(name, str))


def described(value: Any) -> tuple[str, int | None, str] | None:
    if not isinstance(value, tuple) or len(value) != 3:
        return None
    error, line, code = value
    line = line if isinstance(line, int) and 0 < line < 1_000_000 else None
    return without_addresses(str(error)[:600]), line, str(code)[:300]


def reason(status: int | None) -> str:
    if status is None:
        return ""
    number = -status if status < 0 else status - 128
    names: dict[int, str] = {
        signal.SIGSEGV: "in native code (segmentation fault)",
        signal.SIGKILL: "by force (too much memory or time)",
        signal.SIGXCPU: "after too much computing",
        signal.SIGABRT: "in native code (abort)",
    }
    return f" {names[number]}" if number in names else f" by itself (exit status {status})"
