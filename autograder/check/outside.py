"""Outside libraries on what a student handed in: in a limited process of their own.

    run_onnx(model_bytes, {"x": array})   ->   [array, ...]      # OutsideError: it cannot be run

onnxruntime runs C++ that no alarm interrupts, on files that anybody may have made. So it runs where
there are no files, little memory and a limit on processor time; in the grader under bubblewrap, in
a notebook at least with the limits. The process is started once and serves until it ends.

Next room: autograder/process/onnx_child.py, what runs there; cpp.py, the same for C++.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import select
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autograder.process import start
from autograder.process.messages import HEAD, MAX_RESULT, write
from autograder.process.running import Child
from autograder.process.start import command_line

LIMIT = 20.0  # seconds of processor time for one model
WALL = 600.0  # and by the clock, for one that sleeps
MAX_HEAD = 1 << 20  # bytes
ROOM = "/process"
MOST_WORDS = 2000  # characters of an error
KINDS = {np.dtype(kind).str for kind in "?bBhHiIqQefd"}


class OutsideError(ValueError):
    """The library says no, or does not end, or ends by force."""


class Lost(OutsideError):
    """The process is gone. `status` says how it ended, if that is known."""

    def __init__(self, status: int | None) -> None:
        self.status = status
        super().__init__("the process that ran it was ended: too much memory, or an error in it")


def run_onnx(model: bytes, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs that onnxruntime computes, none of its optimizations on."""
    global _running
    if _running is None or _running.owner != os.getpid() or _running.is_over:
        _running = Limited("onnx_child.py")
    try:
        return _outputs(_running, model, inputs)
    except BaseException as error:
        if not isinstance(error, OutsideError) or _running.is_over:
            _running.close()  # also after ctrl-C or an alarm: half an answer may be in the pipe
        raise


def _outputs(process: Limited, model: bytes, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    arrays = [np.ascontiguousarray(array) for array in inputs.values()]
    about = [[n, a.dtype.str, a.shape] for n, a in zip(inputs, arrays, strict=True)]
    head = process.ask({"inputs": about}, model, *(a.tobytes() for a in arrays))
    try:
        pairs = zip(head["arrays"], head["sizes"], strict=True)
        return [_array(process, kind, shape, size) for (kind, shape), size in pairs]
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, OutsideError):
            raise
        raise process.nonsense(error) from None


def _array(process: Limited, kind: str, shape: list[int], size: int) -> np.ndarray:
    if kind not in KINDS:
        raise ValueError(f"an element type {kind!r}")
    if not 0 <= size <= MAX_RESULT or math.prod(shape) * np.dtype(kind).itemsize != size:
        raise ValueError(f"a shape {shape!r}")
    return np.frombuffer(process.read(size), kind).reshape(shape)


def close() -> None:
    """End the process."""
    global _running
    if _running is not None and _running.owner == os.getpid():
        _running.close()
    _running = None


class Limited:
    """One process of this kind: a script of autograder/process, asked and answering in turns."""

    def __init__(
        self, script: str, mounts: Mapping[str, Path] | None = None, limit: float | None = None
    ) -> None:
        self.owner, self.is_over, self._limit = os.getpid(), False, limit
        mode = start.strongest()
        room = Path(start.__file__).parent
        places = {f"/{script}": room / script, ROOM: room, **(mounts or {})}
        arguments = [start.user(mode), ROOM, str(start.PACKAGES)]
        self.child = Child(command_line(mode, f"/{script}", arguments, places))

    @property
    def limit(self) -> float:
        """Seconds of processor time for each message."""
        return LIMIT if self._limit is None else self._limit

    def close(self) -> None:
        self.is_over = True
        self.child.close()

    def ask(self, head: Mapping[str, Any], *blobs: bytes) -> dict[str, Any]:
        """The head of the reply; `read` has the bytes that follow it."""
        self.until = self.child.seconds() + self.limit
        self.wall = time.monotonic() + WALL
        try:
            with os.fdopen(os.dup(self.child.writing), "wb") as pipe:
                write(pipe, dict(head), *blobs)
        except OSError:
            raise self._lost() from None
        return self._head()

    def nonsense(self, why: object = "") -> OutsideError:
        """What came back is none of ours; no more is asked."""
        self.close()
        return OutsideError(f"its process answered nonsense{f': {why!s:.100}' if why else ''}")

    def read(self, size: int) -> bytes:
        sink, parts = self.child.reading, []
        while size:
            while not select.select([sink], [], [], 0.1)[0]:
                if self.child.seconds() > self.until or time.monotonic() > self.wall:
                    self.close()
                    raise OutsideError(f"it did not end within {self.limit:g} seconds")
            part = os.read(sink, min(size, 1 << 20))
            if not part:
                raise self._lost()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _head(self) -> dict[str, Any]:
        (length,) = HEAD.unpack(self.read(HEAD.size))
        try:
            head = json.loads(self.read(length if length < MAX_HEAD else 0))
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict):
            raise self.nonsense()
        if "error" in head:
            raise OutsideError(str(head["error"])[:MOST_WORDS])
        return head

    def _lost(self) -> OutsideError:
        status = self.child.wait(1)
        self.close()
        return Lost(status)


_running: Limited | None = None
atexit.register(close)
