"""Outside libraries on what a student handed in: in a limited process of their own.

    run_onnx(model_bytes, {"x": array})   ->   [array, ...]      # OutsideError: it cannot be run

onnxruntime runs C++ that no alarm interrupts, on files that anybody may have made. So it runs where
there are no files, little memory and a limit on processor time; in the grader under bubblewrap, in
a notebook at least with the limits. The process is started once and serves until it ends.

Next room: autograder/process/onnx_child.py, what runs there.
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
from autograder.process.onnx_child import HEAD, MAX_RESULT, write
from autograder.process.running import Child
from autograder.process.start import command_line

LIMIT = 20.0  # seconds of processor time for one model
WALL = 600.0  # and by the clock, for one that sleeps
MAX_HEAD = 1 << 20  # bytes
SCRIPT, ROOM = "/onnx_child.py", "/process"
KINDS = {np.dtype(kind).str for kind in "?bBhHiIqQefd"}


class OutsideError(ValueError):
    """The library says no, or does not end, or ends by force."""


def run_onnx(model: bytes, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs that onnxruntime computes, none of its optimizations on."""
    global _running
    if _running is None or _running.owner != os.getpid() or _running.is_over:
        _running = _Process()
    try:
        return _running.answer(model, inputs)
    except BaseException as error:
        if not isinstance(error, OutsideError) or _running.is_over:
            _running.close()  # also after ctrl-C or an alarm: half an answer may be in the pipe
        raise


def close() -> None:
    """End the process."""
    global _running
    if _running is not None and _running.owner == os.getpid():
        _running.close()
    _running = None


class _Process:
    def __init__(self) -> None:
        self.owner, self.is_over = os.getpid(), False
        mode = start.strongest()
        room = Path(start.__file__).parent
        places = {SCRIPT: room / "onnx_child.py", ROOM: room}
        arguments = [start.user(mode), ROOM, str(start.PACKAGES)]
        self.child = Child(command_line(mode, SCRIPT, arguments, places))

    def close(self) -> None:
        self.is_over = True
        self.child.close()

    def answer(self, model: bytes, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        arrays = [np.ascontiguousarray(array) for array in inputs.values()]
        about = [[n, a.dtype.str, a.shape] for n, a in zip(inputs, arrays, strict=True)]
        self.until = self.child.seconds() + LIMIT
        self.wall = time.monotonic() + WALL
        try:
            with os.fdopen(os.dup(self.child.writing), "wb") as pipe:
                write(pipe, {"inputs": about}, model, *(a.tobytes() for a in arrays))
        except OSError:
            raise self._lost() from None
        head = self._head()
        if "error" in head:
            raise OutsideError(str(head["error"])[:500])
        try:
            kinds, sizes = head["arrays"], head["sizes"]
            pairs = zip(kinds, sizes, strict=True)
            return [self._array(kind, shape, size) for (kind, shape), size in pairs]
        except (KeyError, TypeError, ValueError) as error:
            self.close()
            raise OutsideError(f"its process answered nonsense: {error!s:.100}") from None

    def _head(self) -> dict[str, Any]:
        (length,) = HEAD.unpack(self._read(HEAD.size))
        try:
            head = json.loads(self._read(length if length < MAX_HEAD else 0))
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict):
            self.close()
            raise OutsideError("its process answered nonsense")
        return head

    def _array(self, kind: str, shape: list[int], size: int) -> np.ndarray:
        if kind not in KINDS:
            raise ValueError(f"an element type {kind!r}")
        if not 0 <= size <= MAX_RESULT or math.prod(shape) * np.dtype(kind).itemsize != size:
            raise ValueError(f"a shape {shape!r}")
        return np.frombuffer(self._read(size), kind).reshape(shape)

    def _read(self, size: int) -> bytes:
        sink, parts = self.child.reading, []
        while size:
            while not select.select([sink], [], [], 0.1)[0]:
                if self.child.seconds() > self.until or time.monotonic() > self.wall:
                    self.close()
                    raise OutsideError(f"it did not end within {LIMIT:g} seconds")
            part = os.read(sink, min(size, 1 << 20))
            if not part:
                raise self._lost()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _lost(self) -> OutsideError:
        self.close()
        return OutsideError("the process that ran it was ended: too much memory, or an error in it")


_running: _Process | None = None
atexit.register(close)
