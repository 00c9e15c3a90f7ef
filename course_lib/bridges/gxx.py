"""C++ text compiled with g++ and called from Python.

    run = build('extern "C" void twice(float *x) { x[0] *= 2; }', "twice")
    run(array)

Optional: `compiler()` is None where there is no g++. Next room: `course_lib/passes`.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fopenmp-simd", "-std=c++17")


def compiler() -> str | None:
    """The path of g++, if there is one."""
    return shutil.which("g++")


def build(
    text: str, name: str, flags: Sequence[str] = FLAGS, result: type = ctypes.c_int64
) -> Callable[..., int]:
    """The function `name` of some C++ text. It takes arrays, as pointers, and whole numbers.

    ValueError with what g++ says if the text does not compile, or if there is no g++.
    """
    program = compiler()
    if program is None:
        raise ValueError("g++ is not installed; Debian's package g++ has it")
    with tempfile.TemporaryDirectory() as folder:
        source, object, library = (Path(folder, f"kernel.{kind}") for kind in ("cpp", "o", "so"))
        source.write_text(text)
        _run([program, *flags, "-c", "-fPIC", "-o", object, source], folder)
        # Linked without the flags: a library that g++ links with -ffast-math sets the processor,
        # when it is loaded, to make zero of every subnormal number in the whole process.
        _run([program, "-shared", "-o", library, object], folder)
        function = getattr(ctypes.CDLL(str(library)), name)  # stays loaded without its file
    function.restype = result

    def call(*arguments: np.ndarray | int) -> int:
        return function(*map(_passed, arguments))

    return call


def _run(command: Sequence[str | Path], folder: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise ValueError(f"g++ says:\n{done.stderr.replace(folder + '/', '').strip()}")


def _passed(argument: np.ndarray | int) -> ctypes.c_void_p | ctypes.c_int64:
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise ValueError("an array must lie in one piece, row after row")
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_int64(argument)
