"""The other side of `engine.run_all`: jobs, one after another, in one process.

    python -m course_lib.mlir.upstream.child FOLDER 0 3 torch-mlir      jobs 0, 1 and 2

A job is three files: `0.mlir`, its arguments `0.npz`, and `0.json`, which says what to call. It
leaves `0.out.npz`, or `0.refused` with MLIR's words. A result is written under another name first,
so that what lies there is whole. Next room: `witness.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.files import replacing
from course_lib.mlir.upstream.programs import run_with_programs, with_structured_copies


def main(folder: str, first: str, last: str, tool: str) -> None:
    run = _with_wheel if tool == "torch-mlir" else _with_programs
    for k in range(int(first), int(last)):
        base = Path(folder) / str(k)
        try:
            results = _results(base, run)
        except Exception as error:  # MLIR's own errors are of many kinds
            base.with_suffix(".refused").write_text(str(error).strip())
            continue
        named: dict[str, Any] = {f"r{i}": array for i, array in enumerate(results)}
        with replacing(base.with_suffix(".out.npz")) as unfinished, unfinished.open("wb") as file:
            np.savez(file, **named)


def _results(base: Path, run: Callable[[str, dict, list], None]) -> list[np.ndarray]:
    """The results of one job, which `run` writes into their arrays."""
    job = json.loads(base.with_suffix(".json").read_text())
    with np.load(base.with_suffix(".npz")) as stored:
        arguments = [np.array(stored[f"a{i}"], order="C") for i in range(len(job["arguments"]))]
    results = [np.zeros(shape, dtype) for dtype, shape in job["results"]]
    text = base.with_suffix(".mlir").read_text()
    _let_be_found("libgcc_s.so.1")
    run(text, job, [_descriptor(a) for a in (*arguments, *results)])
    return results


def _with_wheel(text: str, job: dict, pointers: list) -> None:
    from torch_mlir import ir  # need not be installed
    from torch_mlir.execution_engine import ExecutionEngine
    from torch_mlir.passmanager import PassManager

    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for pass_ in job["passes"]:
            PassManager.parse(f"builtin.module({pass_})").run(module.operation)
            if pass_.startswith("buffer-results"):
                module = ir.Module.parse(with_structured_copies(str(module)))
        engine = ExecutionEngine(module, opt_level=0)
        engine.invoke(job["function"], *pointers)


def _let_be_found(library: str) -> None:
    """Machine code that the engine makes may call this library's functions: a processor without
    instructions for f16 leaves `f64 -> f16` to one of the compiler's own."""
    with contextlib.suppress(OSError):  # on such a processor, the engine then says what it lacks
        ctypes.CDLL(library, ctypes.RTLD_GLOBAL)


def _with_programs(text: str, job: dict, pointers: list) -> None:
    run_with_programs(text, job["passes"], job["function"], [p.contents for p in pointers])


def _descriptor(array: np.ndarray) -> Any:
    """A pointer to a pointer to what MLIR calls a memref: where the elements are, and how."""
    rank = array.ndim
    strides = [s // array.itemsize for s in array.strides]
    numbers = (ctypes.c_int64 * (3 + 2 * rank))(
        array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides
    )
    return ctypes.pointer(ctypes.cast(numbers, ctypes.c_void_p))


if __name__ == "__main__":
    main(*sys.argv[1:])
