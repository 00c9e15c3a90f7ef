"""A search of MetaSchedule for the loops of one product: it draws schedules, and times each.

    search_table()      as written, the best of some trials, and of a long search, in microseconds

It is recorded: before its first trial, TVM reads the intrinsics of every target that it knows, half
a minute long. Next room: `wild.py`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from course_lib import peers
from course_lib.draw.base.picture import Picture
from course_lib.draw.plots.table import table
from course_lib.maker import maker
from course_lib.plugins.tvm.package import package
from course_lib.recorded import recorded
from course_lib.scratch import Folder
from lessons.u16.live import unscheduled

TRIALS, BATCH, SHOWN = 64, 16, (2, 8, 64)
LONG = recorded(peers.__file__, "tvm_log.txt")  # 128 trials for all kernels of the block


@maker("apache-tvm", "tvm", compared="names of texts", seconds=60)
def searched() -> dict[str, str]:
    """Microseconds of the product as it is written, and of each trial, in order."""
    # TVM need not be installed
    from tvm.s_tir import meta_schedule as search
    from tvm.s_tir.meta_schedule.database import MemoryDatabase

    from course_lib.peers.tvm import here
    from course_lib.peers.tvm_search import Builder, Runner

    tvm, found, folder = package(), MemoryDatabase(), Folder("course-u16-search-")
    module = unscheduled(tvm)
    try:
        search.tir_integration.tune_tir(
            module, here(), folder.path, TRIALS, num_trials_per_iter=BATCH, seed=16,
            builder=Builder(), runner=Runner(), cost_model="random", strategy="replay-trace",
            database=found, measure_callbacks=[search.measure_callback.AddToDatabase()],
        )  # fmt: skip
    finally:
        folder.close()
    seconds = [_plain(tvm, module, here())]
    seconds += [float(one.run_secs[0]) for one in found.get_all_tuning_records()]
    return {"microseconds": json.dumps([round(1e6 * x) for x in seconds]) + "\n"}


def _plain(tvm: Any, module: Any, target: Any) -> float:
    """Seconds of the product as it is written, on random numbers."""
    draw = np.random.default_rng(0).standard_normal
    arrays = [tvm.runtime.tensor(draw(shape, np.float32))
              for shape in ((128, 256), (256, 256), (128, 256))]  # fmt: skip
    function = tvm.compile(module, target=target).mod
    clock = function.time_evaluator("main", tvm.cpu(), number=1, repeat=9)
    return min(clock(*arrays).results[1:])


def search_table() -> Picture:
    """What trials find."""
    kept = recorded(__file__, "search.txt")
    plain, *trials = kept.data("microseconds")
    rows: list[list[str | int]] = [["as it is written", plain]]
    rows += [[f"the best of the first {count}", min(trials[:count])] for count in SHOWN]
    rows += [[f"the worst of {len(trials)}", max(trials)],
             ["with two additions, in a search of 128 trials for the block", _long()]]  # fmt: skip
    return table(rows, ["[128, 256] x [256, 256]", "µs"], f"{kept.words}; the long one {LONG.date}",
                 exact=["µs"])  # fmt: skip


def _long() -> int:
    """Microseconds of the block's product of these sizes, with bias and sum, as the log has it."""
    shapes = [[1, 128, 256], [256, 256], [256], [1, 128, 256], [1, 128, 256]]
    records = [json.loads(line)[1] for line in LONG["records"].splitlines()]
    (found,) = [one[1] for one in records if [operand[2] for operand in one[3]] == shapes]
    return round(1e6 * min(found))
