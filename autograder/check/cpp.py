"""C++ that a student handed in: compiled and called in a limited process.

    call = apart(text, "counted", FLAGS)      # CppError: what g++ says
    call(x, 96).value                         # arrays are changed in place; CppError: how it ended

As `apart` of course_lib/bridges/gxx.py, which is for text that somebody types into a notebook of
their own; here even the compiler runs where it sees no files but its own, has no network, and can
change nothing (in the grader under bubblewrap, in a notebook at least with the limits). One process
is kept, for the checks that come with the same text.

Next room: autograder/process/cpp_child.py, what runs there.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from autograder.check.framework import Stop
from autograder.check.outside import Limited, Lost, OutsideError
from autograder.check.packages import NEEDS
from course_lib.bridges.gxx import ENDED, CppError, Ran, compiler

NO_COMPILER = f"{NEEDS}g++, which compiles your C++: Debian's and Ubuntu's package g++ has it."
SHOWN = ("/usr/bin", "/usr/include", "/usr/libexec", "/usr/local/include")  # what g++ needs
TRAP = "an index of an array of your own is outside, or a number was shifted or divided wrongly"
LIMIT = 5.0  # seconds of processor time for a call
Key = tuple[str, tuple[str, ...]]


def apart(text: str, name: str, flags: Sequence[str] = ()) -> Callable[..., Ran]:
    """The function `name` of some C++ text. It takes arrays, as pointers, and whole numbers.

    CppError says in words what the compiler objects to. Stop, if there is no compiler.
    """
    process = _process_of(text, tuple(flags))

    def call(*arguments: np.ndarray | int) -> Ran:
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        numbers = [None if isinstance(a, np.ndarray) else int(a) for a in arguments]
        blobs = [np.ascontiguousarray(array).tobytes() for array in arrays]
        try:
            head = process.ask({"name": name, "arguments": numbers}, *blobs)
            if head.get("sizes") != [*map(len, blobs)] or not isinstance(head.get("value"), int):
                raise process.nonsense()
            for array in arrays:
                array[...] = np.frombuffer(process.read(array.nbytes), array.dtype).reshape(
                    array.shape
                )
        except BaseException as error:
            process.close()
            if not isinstance(error, OutsideError):
                raise
            raise CppError(f"The compiled function failed: {_why(error)}") from None
        return Ran(head["value"], ())

    return call


def close() -> None:
    """End the process that is kept."""
    global _kept
    if _kept is not None and _kept[1].owner == os.getpid():
        _kept[1].close()
    _kept = None


def _process_of(text: str, flags: tuple[str, ...]) -> Limited:
    global _kept
    if _kept is not None and _kept[0] == (text, flags):
        process = _kept[1]
        if process.owner == os.getpid() and not process.is_over:
            return process
    close()
    program = compiler()
    if program is None:
        raise Stop(NO_COMPILER)
    shown = {*SHOWN, str(Path(program).parent)}
    places = {place: Path(place) for place in shown if os.path.isdir(place)}
    process = Limited("cpp_child.py", places, LIMIT)
    try:
        process.ask({"command": [program, *flags]}, text.encode())
    except BaseException as error:
        process.close()
        if isinstance(error, Lost) or not isinstance(error, OutsideError):
            raise
        raise CppError(f"g++ says:\n{error}") from None
    _kept = (text, flags), process
    return process


def _why(error: OutsideError) -> str:
    """How a call ended that did not come back."""
    if not isinstance(error, Lost) or error.status is None:
        return f"{error}: is there an endless loop?" if "within" in str(error) else str(error)
    number = -error.status if error.status < 0 else error.status - 128  # bubblewrap adds 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return "it ended the process that it ran in"
    if name in ("SIGILL", "SIGTRAP"):
        return TRAP
    return ENDED.get(name, f"it ended early ({name})")


_kept: tuple[Key, Limited] | None = None
atexit.register(close)
