"""Three layers alone, and a search for their schedules whose every trial is kept.

    log = searched(LAYERS["dense"], 32)
    log["plain"]                     seconds with the loops as they were written
    log["trials"][0]                 {"trace": [instructions, decisions], "seconds": 8.1e-05}

`tvm_search.py` keeps the best schedule of each kernel of a model; here a trial that was slow, or
failed, is kept as well, and each draws all of its decisions anew, which takes seconds instead of
minutes. Builder, runner and cost model (none) are the same. Next room: `makers.py`.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tvm
from tvm import te, topi
from tvm.ir.utils import derived_object
from tvm.s_tir import meta_schedule as search

from course_lib.peers.tvm import here
from course_lib.peers.tvm_search import BATCH, Builder, Runner, timed
from course_lib.scratch import Folder

FAILED = 1e9  # seconds that MetaSchedule writes for what failed
# In a notebook, MetaSchedule shows a table for each step, made with pandas, which need not be here.
tvm.register_global_func("s_tir.meta_schedule.using_ipython", lambda: False, override=True)
logging.getLogger("tvm.s_tir.meta_schedule").setLevel(logging.WARNING)


class Layer(NamedTuple):
    """Its kind, a key of `LAYERS`, and its sizes, which `_KINDS` says in words."""

    kind: str
    sizes: tuple[int, ...]


LAYERS = {
    "conv2d": Layer("conv2d", (8, 14, 16, 3)),
    "dense": Layer("dense", (16, 128, 256)),
    "batch_matmul": Layer("batch_matmul", (4, 32, 64, 32)),
}


def module_of(layer: Layer) -> Any:
    """The layer as a module with the one function `main`, its loops as they are written.

    conv2d        channels, rows and columns, filters, size of a filter; nothing is padded; bias and
                  ReLU behind it
    dense         rows, inputs, outputs; bias and ReLU behind it
    batch_matmul  products, rows, depth, columns
    """
    function = te.create_prim_func(_arrays(layer))
    return tvm.IRModule({"main": function.with_attr("global_symbol", "main")})


def searched(layer: Layer, trials: int, seed: int = 1) -> dict[str, Any]:
    """`plain`: seconds of the loops as they are written; `trials`: traces with their seconds, None
    where a schedule could not be compiled or run, in the order in which they were tried; `loops`:
    those of the fastest."""
    target, folder, kept = here(), Folder("course-tvm-layer-"), Keep()
    module = module_of(layer)
    try:
        search.tir_integration.tune_tir(
            module, target, folder.path, trials, num_trials_per_iter=BATCH, seed=seed,
            builder=Builder(), runner=Runner(), cost_model="random", strategy="replay-trace",
            measure_callbacks=[kept, search.measure_callback.AddToDatabase()],
        )  # fmt: skip
    finally:
        folder.close()
    kinds = [(tuple(int(d) for d in one.shape), str(one.dtype)) for one in _arrays(layer)]
    plain = timed(tvm.compile(module, target=target).mod, kinds)
    return {"plain": plain, "trials": kept.found, "loops": kept.loops}


@derived_object
class Keep(search.measure_callback.PyMeasureCallback):
    """Keeps the trace and the seconds of each trial."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, Any]] = []
        self.loops, self.best = "", math.inf

    def apply(self, task_scheduler: Any, task_id: int, measure_candidates: Any,
              builder_results: Any, runner_results: Any) -> None:  # fmt: skip
        for one, result in zip(measure_candidates, runner_results, strict=True):
            times = [float(x) for x in result.run_secs or ()]
            seconds = min(times, default=math.inf)
            good = seconds < FAILED
            self.found.append({"trace": _plain(one.sch.trace.as_json()),
                               "seconds": seconds if good else None})  # fmt: skip
            if good and seconds < self.best:
                self.loops, self.best = _loops(one.sch.mod.script()), seconds


def _loops(script: str) -> str:
    """Its loops, and the stores inside of them."""
    lines = [re.sub(r"T\.int64\((\d+)\)", r"\1", line) for line in script.splitlines()]
    return "".join(f"{x}\n" for x in lines if re.match(r"\s+(for .*:|[\w.]+\[.*\] = )", x))


def _arrays(layer: Layer) -> list[Any]:
    """Its operands and its result."""
    return _KINDS[layer.kind](*layer.sizes)


def _plain(trace: Any) -> Any:
    """A trace as lists, numbers and strings."""
    return json.loads(json.dumps(trace, default=_number))


def _number(constant: Any) -> Any:
    """A constant of TVM's as a number."""
    value = getattr(constant, "value", constant)
    return value if isinstance(value, int | float) else str(constant)


def _conv2d(channels: int, size: int, filters: int, kernel: int) -> list[Any]:
    x = te.placeholder((1, channels, size, size), name="x")
    w = te.placeholder((filters, channels, kernel, kernel), name="w")
    b = te.placeholder((filters, 1, 1), name="b")
    return [x, w, b, topi.nn.relu(topi.add(topi.nn.conv2d(x, w, 1, 0, 1, "NCHW"), b))]


def _dense(rows: int, inputs: int, outputs: int) -> list[Any]:
    x = te.placeholder((rows, inputs), name="x")
    w = te.placeholder((inputs, outputs), name="w")
    b = te.placeholder((outputs,), name="b")
    return [x, w, b, topi.nn.relu(topi.add(topi.matmul(x, w), b))]


def _batch_matmul(products: int, rows: int, depth: int, columns: int) -> list[Any]:
    x = te.placeholder((products, rows, depth), name="x")
    w = te.placeholder((products, depth, columns), name="w")
    r = te.reduce_axis((0, depth), name="r")
    y = te.compute((products, rows, columns),
                   lambda n, i, j: te.sum(x[n, i, r] * w[n, r, j], axis=r), name="y")  # fmt: skip
    return [x, w, y]


_KINDS: Mapping[str, Callable[..., list[Any]]] = {
    "conv2d": _conv2d, "dense": _dense, "batch_matmul": _batch_matmul,
}  # fmt: skip
