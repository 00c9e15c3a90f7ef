"""A search for schedules, which writes `tvm_log.txt`.

    python -m course_lib.peers.tvm_search MACHINE mlp 64     64 trials for the kernels of the MLP

A trial is a schedule that MetaSchedule draws and mutates, compiled and timed. The log keeps the
best one of each kernel, and what it has of other models. There is no cost model, which would need
another package: with so few trials, there is not much that it could learn. Next room: `makers.py`.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import tvm
from tvm.ir.utils import derived_object
from tvm.s_tir import meta_schedule as search
from tvm.s_tir.meta_schedule.database import MemoryDatabase

from course_lib.files import write
from course_lib.peers.model import model_of
from course_lib.peers.peer import peer
from course_lib.peers.tvm import here, in_kernels
from course_lib.peers.tvm_log import FILE, database, packed
from course_lib.plugins.tvm.models import from_onnx
from course_lib.recorded import Recording
from course_lib.scratch import Folder

BATCH = 16  # trials that are chosen together
BY = "course_lib.peers.makers:schedules"
RUNS = 5  # of each schedule; the least counts
BUILT: dict[str, Any] = {}  # what the builder has built, for the runner


def record(machine: str, name: str, trials: int) -> None:
    """Search schedules for one of the course's models, and add them to the log."""
    best = database() if FILE.exists() else MemoryDatabase()
    for found in searched(name, trials).get_all_tuning_records():
        best.commit_tuning_record(found)
    write(FILE, str(_recording(texts_of(best), machine)))


def searched(name: str, trials: int) -> Any:
    """All records of a search, for the kernels of one of the course's models."""
    target, folder = here(), Folder("course-tvm-search-")
    module = in_kernels(from_onnx(model_of(name).onnx), target)
    try:
        return search.relax_integration.tune_relax(
            module, {}, target, folder.path, trials, num_trials_per_iter=BATCH, seed=1,
            builder=Builder(), runner=Runner(), cost_model="random",
            measure_callbacks=[search.measure_callback.AddToDatabase()],
        )  # fmt: skip
    finally:
        folder.close()


def texts_of(found: Any) -> dict[str, str]:
    """Of the best record of each workload, a line for the workload, and one for the record: the
    number of its workload, and itself."""
    best = MemoryDatabase()
    found.dump_pruned(best)
    records = best.get_all_tuning_records()
    workloads = "".join(f"{packed(one.workload)}\n" for one in records)
    lines = "".join(f"{json.dumps([k, one.as_json()])}\n" for k, one in enumerate(records))
    return {"workloads": workloads, "records": lines}


def _recording(texts: dict[str, str], machine: str) -> Recording:
    how = "python -m course_lib.peers.tvm_search: the best schedule of each kernel"
    today = str(datetime.date.today())
    return Recording(peer("tvm").version, machine, today, how, texts, BY)


# ── TVM's own builder and runner start processes that load all of TVM for a few schedules each ──


@derived_object
class Builder(search.builder.PyBuilder):
    """Compiles in this process."""

    def build(self, build_inputs: Sequence[Any]) -> list[Any]:
        return [_built(one) for one in build_inputs]


def _built(asked: Any) -> Any:
    key = f"schedule {len(BUILT)}"
    try:
        BUILT[key] = tvm.compile(asked.mod, target=asked.target)
    except Exception as error:  # a schedule that cannot be compiled is one of the results
        return search.builder.BuilderResult(None, str(error))
    return search.builder.BuilderResult(key, None)


@derived_object
class Runner(search.runner.PyRunner):
    """Runs in this process, on random numbers."""

    def run(self, runner_inputs: Sequence[Any]) -> list[Any]:
        return [Done(_seconds(one)) for one in runner_inputs]


def _seconds(asked: Any) -> float:
    kinds = [(tuple(int(d) for d in one.shape), str(one.dtype)) for one in asked.args_info]
    return timed(BUILT.pop(str(asked.artifact_path)).mod, kinds)


def timed(module: Any, kinds: Sequence[tuple[tuple[int, ...], str]]) -> float:
    """Seconds of `main` of a compiled module, for random arrays of these shapes and types."""
    draw = np.random.default_rng(0).standard_normal
    arrays = [tvm.runtime.tensor(draw(shape).astype(dtype)) for shape, dtype in kinds]
    clock = module.time_evaluator("main", tvm.cpu(), number=1, repeat=RUNS + 1)
    return min(clock(*arrays).results[1:])


@derived_object
class Done(search.runner.PyRunnerFuture):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        return search.runner.RunnerResult([self.seconds], None)


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2], int(sys.argv[3]))
