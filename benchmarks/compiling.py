"""How long the course's compiler takes for an ONNX file, beside onnxruntime's.

    make bench            (or: python benchmarks/compiling.py --model resnet18 --threads 1)

"course" compiles a model that was compiled before: machine code is kept on this machine by content,
so it is looked up. "the first time" finds nothing kept. Both read the file, run every pass and
arrange the weights anew; onnxruntime makes a session, with all of its optimizations on.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from measuring import Engine, check, finish, measure, options, thread_counts
from tqdm import tqdm

import course_lib
from course_lib.compiler import read
from course_lib.frontend.onnx.write import to_onnx
from course_lib.models import MODELS, example_inputs
from course_lib.peers.onnxruntime import onnxruntime_session

KEPT = "COURSE_LIB_CACHE"


def engines(name: str, threads: int) -> dict[str, Engine]:
    """Each engine makes a program of the model's ONNX file."""
    file, inputs = onnx_file(name)

    def first() -> list[np.ndarray]:
        with nothing_kept():
            course_lib.compile(file, inputs, threads=threads)
        return []

    def again() -> list[np.ndarray]:
        course_lib.compile(file, inputs, threads=threads)
        return []

    def session() -> list[np.ndarray]:
        onnxruntime_session(file, threads)
        return []

    return {"course": again, "the first time": first, "onnxruntime": session}


def agree(name: str, threads: int) -> None:
    """The two programs compute the same, or there are no figures."""
    file, inputs = onnx_file(name)
    ours, peer = (
        course_lib.compile(file, inputs, threads=threads),
        onnxruntime_session(file, threads),
    )
    check({"course": lambda: ours.run(inputs), "onnxruntime": lambda: peer(inputs)}, "onnxruntime")


def onnx_file(name: str) -> tuple[bytes, list[np.ndarray]]:
    """The model as one file, and inputs for it."""
    inputs = [np.asarray(x) for x in example_inputs(name)]
    return to_onnx(read(MODELS[name].build(), inputs)).SerializeToString(), inputs


@contextmanager
def nothing_kept() -> Iterator[None]:
    """An empty folder in the place of what is kept."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {KEPT: folder}):
        yield


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--model", choices=MODELS, action="append", help="default: all four")
    asked = parser.parse_args()
    models = asked.model or list(MODELS)
    jobs = [(name, count) for name in models for count in thread_counts(asked.threads)]
    rows = []
    for name, count in tqdm(jobs, disable=not sys.stderr.isatty()):
        agree(name, count)
        times = measure(engines(name, count), asked.rounds, asked.seconds)
        rows.append({"model": name, "threads": count, "ms": times})
    finish(rows, "model", {}, asked)


if __name__ == "__main__":
    main()
