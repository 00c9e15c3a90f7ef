"""Schedules of kernels that TVM's MetaSchedule has found, in `tvm_log.txt`.

    with database():                  as MetaSchedule keeps one
        MetaScheduleApplyDatabase()(module)

A record is a workload, which is a kernel as it was before it was scheduled; a trace, which lists
the steps of its schedule; times, and the target that they were measured on. TVM finds a record by
the workload alone, so a schedule that was found on one processor is compiled for whichever is here:
right on each, and fast where caches and vectors are alike. The target in a record is not read, for
one that this TVM's LLVM does not know would be complained about. A workload is compared as it
stands: the log goes with one version of TVM, and with one way of writing models as ONNX files. In
the file it is compressed, to a tenth. Next room: `tvm_search.py`, which writes it.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from tvm.s_tir.meta_schedule.database import MemoryDatabase, TuningRecord, Workload

from course_lib.recorded import recorded

ANY = {"kind": "llvm"}
FILE = Path(__file__).with_name("tvm_log.txt")


def database() -> Any:
    """What the log says. ValueError in words where this version of TVM cannot read it."""
    log, found = recorded(__file__, FILE.name), MemoryDatabase()
    try:
        workloads = [found.commit_workload(unpacked(line).mod)
                     for line in log["workloads"].splitlines()]  # fmt: skip
        for line in log["records"].splitlines():
            place, (trace, seconds, _, arguments) = json.loads(line)
            record = [trace, seconds, ANY, arguments]
            found.commit_tuning_record(TuningRecord.from_json(record, workloads[place]))
    except Exception as error:  # TVM's errors have no one base
        raise ValueError(f"this TVM cannot read the log, which was {log.words}: {error}") from error
    return found


def packed(workload: Any) -> str:
    """A line for a workload: its hash, and what TVM writes in base64, compressed."""
    number, text = workload.as_json()
    small = zlib.compress(base64.b64decode(text), 9)
    return json.dumps([number, base64.b64encode(small).decode()])


def unpacked(line: str) -> Any:
    """The workload of such a line."""
    number, small = json.loads(line)
    text = base64.b64encode(zlib.decompress(base64.b64decode(small)))
    return Workload.from_json([number, text.decode()])
