"""Upstream MLIR runs a module of ours: the witness that the text means what the graph means.

    run_all([Job(to_mlir(graph), "main", [x], [graph.outputs[0].type])])   ->   [[y]]

torch-mlir's wheel has MLIR's own passes and its execution engine; torch is not needed for them.
Where it is missing, MLIR's programs do (`programs.py`). They run in a process of their own
(`child.py`), because a mistake in a text may end the process that runs it: then the result of that
job is a sentence, and the next jobs get a new process. Next room: `witness.py`.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

import numpy as np

from course_lib.ir.types import TensorType
from course_lib.mlir.upstream.pipelines import PIPELINES
from course_lib.mlir.upstream.programs import installed

# The whole way down; the first pass makes the function one that can be called from C.
LOWERING = ("func.func(llvm-request-c-wrappers)", *PIPELINES["llvm"].passes)
MISSING = (
    "running MLIR needs the package torch-mlir, or mlir-opt-22 and mlir-translate-22 (Debian's "
    "mlir-22-tools), and that is not installed"
)
CHILD = "course_lib.mlir.upstream.child"
Outcome = Union[list[np.ndarray], str]  # the results, or a sentence that says why there are none


@dataclass(frozen=True)
class Job:
    """A module, the function to call in it, its arguments, and the types of its results.

    passes   what brings it to LLVM's dialect; the function must take its results as arguments then
    """

    text: str
    function: str
    arguments: Sequence[np.ndarray]
    results: Sequence[TensorType]
    passes: Sequence[str] = field(default=LOWERING)


def available() -> bool:
    """Is torch-mlir's wheel there?"""
    return importlib.util.find_spec("torch_mlir") is not None


def engines() -> list[str]:
    """Those that are here; the first is the one that is used."""
    return ["torch-mlir"] * available() + ["mlir-opt"] * installed()


def run_all(jobs: Sequence[Job], tool: str | None = None, seconds: float = 300) -> list[Outcome]:
    """The outcome of each job. One process runs all of them, but for those behind a crash.

    tool      one of `engines()`; None: the first
    seconds   after which a process is ended, and the job that it was at with it

    ValueError where it is missing.
    """
    names = engines()
    if not names or (tool or names[0]) not in names:
        raise ValueError(MISSING)
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="course-mlir-") as folder:
        for k, job in enumerate(jobs):
            _write(Path(folder), k, job)
        while len(outcomes) < len(jobs):
            last_words = _child(folder, [len(outcomes), len(jobs), tool or names[0]], seconds)
            outcomes += _read(Path(folder), len(outcomes), jobs)
            if len(outcomes) < len(jobs):
                outcomes.append(f"the engine's process ended: {last_words}")
    return outcomes


def _child(folder: str, which: Sequence[object], seconds: float) -> str:
    """Runs jobs (first, last, tool) until the end or a crash. What the process said last."""
    command = [sys.executable, "-m", CHILD, folder, *map(str, which)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"it had not finished after {seconds:g} s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return f"status {done.returncode}" + (f", {lines[0].strip()}" if lines else "")


def _write(folder: Path, k: int, job: Job) -> None:
    arrays = {f"a{i}": np.ascontiguousarray(a) for i, a in enumerate(job.arguments)}
    np.savez(folder / f"{k}.npz", **arrays)  # type: ignore[arg-type]
    (folder / f"{k}.mlir").write_text(job.text)
    plain = {
        "function": job.function,
        "passes": list(job.passes),
        "arguments": [list(np.shape(a)) for a in job.arguments],
        "results": [[t.dtype.numpy.str, list(t.dims)] for t in job.results],
    }
    (folder / f"{k}.json").write_text(json.dumps(plain))


def _read(folder: Path, first: int, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """What has been left of the jobs, from the first one on to the last that is finished."""
    for k in range(first, len(jobs)):
        if (folder / f"{k}.refused").exists():
            yield (folder / f"{k}.refused").read_text()
        elif (folder / f"{k}.out.npz").exists():
            with np.load(folder / f"{k}.out.npz") as stored:
                yield [stored[f"r{i}"] for i in range(len(jobs[k].results))]
        else:
            return
