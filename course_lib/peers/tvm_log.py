"""Schedules of kernels that TVM's MetaSchedule has found: the log, and the search that writes it.

    database()                       the log in `tvm_log.txt`, as MetaSchedule keeps one
    python -m course_lib.peers.tvm_log MACHINE mlp 64      adds the kernels of a model: 64 trials

A record is a workload, which is a kernel as it was before it was scheduled; a trace, which is the
list of the steps of its schedule; times, and the target that they were measured on. Only the best
record of each workload is kept. TVM finds a record by the workload alone, so a schedule that was
found on one processor is compiled for whichever is here: right on each, and fast where caches and
vectors are alike. A workload is compared as it stands, so the log goes with one version of TVM and
with one way of writing models as ONNX files. Next room: `tvm.py`, which applies it.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm.s_tir import meta_schedule
from tvm.ir.utils import derived_object

from course_lib.files import write
from course_lib.peers.model import model_of
from course_lib.peers.peer import peer
from course_lib.peers.tvm import fused, here
from course_lib.recorded import Recording, read
from course_lib.scratch import Folder

FILE = Path(__file__).with_name("tvm_log.txt")
BATCH = 16  # trials that are chosen together
RUNS = 5  # of each schedule; the least counts


def tuned(name: str, trials: int) -> Any:
    """A database with what the search found for the kernels of one of the course's models."""
    target = here()
    module = fused(model_of(name).onnx, target)
    folder = Folder("course-tvm-log-")
    try:
        return meta_schedule.relax_integration.tune_relax(
            module, {}, target, folder.path, trials, num_trials_per_iter=BATCH, seed=1,
            builder=Builder(), runner=Runner(), cost_model="random",
        )  # fmt: skip
    finally:
        folder.close()


BUILT: dict[str, Any] = {}  # what the builder has built, for the runner


@derived_object
class Builder(meta_schedule.builder.PyBuilder):
    """Compiles in this process. TVM's own starts a new process for every few schedules, which
    loads all of TVM each time."""

    def build(self, build_inputs: Sequence[Any]) -> list[Any]:
        return [_built(one) for one in build_inputs]


def _built(asked: Any) -> Any:
    key = f"schedule {len(BUILT)}"
    try:
        BUILT[key] = tvm.compile(asked.mod, target=asked.target)
    except Exception as error:  # a schedule that cannot be compiled is one of the results
        return meta_schedule.builder.BuilderResult(None, str(error))
    return meta_schedule.builder.BuilderResult(key, None)


@derived_object
class Runner(meta_schedule.runner.PyRunner):
    """Runs in this process, on random numbers."""

    def run(self, runner_inputs: Sequence[Any]) -> list[Any]:
        return [Done(_seconds(one)) for one in runner_inputs]


def _seconds(asked: Any) -> float:
    function = BUILT.pop(str(asked.artifact_path)).mod
    draw = np.random.default_rng(0).standard_normal
    arrays = [tvm.runtime.tensor(draw(list(info.shape)).astype(info.dtype))
              for info in asked.args_info]  # fmt: skip
    clock = function.time_evaluator("main", tvm.cpu(), number=1, repeat=RUNS + 1)
    return min(clock(*arrays).results[1:])


@derived_object
class Done(meta_schedule.runner.PyRunnerFuture):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        return meta_schedule.runner.RunnerResult([self.seconds], None)
