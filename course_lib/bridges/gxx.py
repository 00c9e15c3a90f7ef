"""C++ text compiled with g++ and called from Python.

    run = build('extern "C" void twice(float *x) { x[0] *= 2; }', "twice")
    run(array)

`apart` does the same for text that somebody types: it runs in a process of its own, so that an
endless loop or a crash there is a sentence here. Optional: `compiler()` is None where there is no
g++. Next room: `child.py`, the process.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp-simd", "-std=c++17")
COMPILING = 120  # seconds for g++
CALL = 10  # seconds of processor time for a call in a process of its own
CHILD = Path(__file__).with_name("child.py")
ENDED = {
    "SIGPROF": "it did not end within {} seconds of processor time: is there an endless loop?",
    "SIGALRM": "it did not end within {} seconds of processor time: does it wait for something?",
    "SIGSEGV": "it read or wrote memory that it does not have (SIGSEGV): is an index outside?",
    "SIGBUS": "it read or wrote memory that it does not have (SIGBUS): is an index outside?",
    "SIGILL": "it came to an instruction that does not exist (SIGILL): is there an endless loop?",
    "SIGFPE": "it divided a whole number by zero (SIGFPE)",
    "SIGABRT": "it gave up (SIGABRT): an exception that nobody caught, or no memory left",
}


class CppError(ValueError):
    """C++ text that does not compile or does not run. Notebooks show the message alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Ran:
    """What the last call returned, and the seconds of processor time that each one took."""

    value: int
    seconds: Sequence[float]


def compiler() -> str | None:
    """The path of g++, if there is one."""
    return shutil.which("g++")


def build(
    text: str, name: str, flags: Sequence[str] = FLAGS, result: type = ctypes.c_int64
) -> Callable[..., int]:
    """The function `name` of some C++ text. It takes arrays, as pointers, and whole numbers.

    CppError with what g++ says if the text does not compile, or if there is no g++.
    """
    with tempfile.TemporaryDirectory() as folder:
        function = getattr(ctypes.CDLL(str(_compiled(text, flags, folder))), name)
    function.restype = result  # it stays loaded without its file

    def call(*arguments: np.ndarray | int) -> int:
        return function(*map(_passed, arguments))

    return call


def apart(
    text: str, name: str, flags: Sequence[str] = FLAGS, seconds: float = CALL
) -> Callable[..., Ran]:
    """`build`, for text that may crash or never end: call(x, 96, repeat=3) -> Ran.

    Each call starts a process, which has so many seconds of processor time for each repetition. The
    arrays are copied to it and back. CppError says in words how a process ended that failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = _compiled(text, flags, folder).read_bytes()

    def call(*arguments: np.ndarray | int, repeat: int = 1) -> Ran:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "kernel.so").write_bytes(library)
            passed, files = [f"{folder}/kernel.so", name, str(seconds), str(repeat)], {}
            for number, argument in enumerate(arguments):
                if isinstance(argument, np.ndarray):
                    file = Path(folder, f"array.{number}")
                    file.write_bytes(_whole(argument).data)
                    files[file] = argument
                    passed.append(f"{argument.nbytes},{file}")
                else:
                    passed.append(f"+{argument}")
            ran = _in_child(passed, seconds, repeat)
            for file, array in files.items():
                array[...] = np.fromfile(file, array.dtype).reshape(array.shape)
        return ran

    return call


def _in_child(arguments: Sequence[str], seconds: float, repeat: int) -> Ran:
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CHILD), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = child.wait(12 * seconds * repeat + 30)  # for text that holds up the signals
        except BaseException as error:  # an interrupt, too, ends it and what it may have started
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            code = -signal.SIGALRM
        printed.seek(0)
        last = printed.read().rsplit(b"\n", 1)[-1]
    if code:
        name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        why = ENDED.get(name, f"it ended early ({name})").format(seconds)
        raise CppError(f"The C++ failed: {why}")
    try:
        value, times = json.loads(last)
    except ValueError:
        raise CppError("The C++ failed: it ended the process that it ran in") from None
    return Ran(value, times)


def _compiled(text: str, flags: Sequence[str], folder: str) -> Path:
    """The library made of some text, in that folder."""
    program = compiler()
    if program is None:
        raise CppError("g++ is not installed; Debian's package g++ has it")
    source, object, library = (Path(folder, f"kernel.{kind}") for kind in ("cpp", "o", "so"))
    source.write_text(text)
    _run([program, *flags, "-c", "-fPIC", "-o", object, source], folder)
    # Linked without the flags: a library that g++ links with -ffast-math sets the processor,
    # when it is loaded, to make zero of every subnormal number in the whole process.
    _run([program, "-shared", "-o", library, object], folder)
    return library


def _run(command: Sequence[str | Path], folder: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILING)
    except subprocess.TimeoutExpired:
        raise CppError(f"g++ was not done after {COMPILING} seconds") from None
    if done.returncode:
        raise CppError(f"g++ says:\n{done.stderr.replace(folder + '/', '').strip()}")


def _passed(argument: np.ndarray | int) -> ctypes.c_void_p | ctypes.c_int64:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(_whole(argument).ctypes.data)
    return ctypes.c_int64(argument)


def _whole(array: np.ndarray) -> np.ndarray:
    if not array.flags.c_contiguous:
        raise ValueError("an array must lie in one piece, row after row")
    return array
