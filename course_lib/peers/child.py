"""The other side of `running.py`: one model in one system, asked line by line.

    {"do": "prepare", "system": "jax", "name": "mlp", "inputs": "/tmp/.../inputs.npz", ...}
    ==>  {"version": "jax 0.10.2", "compile_seconds": 0.4, ...}
    {"do": "times", "seconds": 0.1}      ==>  {"times": [0.00042, 0.00041, ...]}

Next room: `ours.py`, the first of the systems.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.measure.apart import Said, answer_all
from course_lib.measure.turns import in_spells
from course_lib.peers.model import Model, model_of
from course_lib.peers.peer import peer

IMPORTED = time.process_time()  # our own import: it comes first, and is not found late any more
READY: dict[str, Any] = {}  # the one model of this process, `prepared`, and how to `prepare` it
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


def main() -> None:
    """Answer requests, a line each, until there are no more, or nobody is left who could ask."""
    if sys.platform.startswith("linux"):  # elsewhere a system that hangs outlives who asked
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)
    answer_all(answer)


def answer(request: Said, say: Callable[[Said], None]) -> Said:
    try:
        return DOES[request["do"]](request)
    except MemoryError:
        return {"failed": "it needs more memory than there is"}
    except ValueError as error:  # ours, in words
        return {"failed": str(error)}
    except Exception as error:  # systems raise what they like, and the parent has to hear of it
        return {"failed": f"{type(error).__name__}: {error}"}


def prepare(request: Said) -> Said:
    with np.load(request["inputs"], allow_pickle=False) as stored:
        inputs = [stored[name] for name in stored.files]
    given = model_of(request["file"] or request["name"], inputs)
    found = peer(request["system"])
    model = Model(request["name"], given.source, given.inputs, given.of_the_course)
    os.environ["COURSE_LIB_CACHE"] = tempfile.mkdtemp()  # nobody finds what an earlier run has kept
    READY["prepare"] = partial(found.prepare, model, threads=request["threads"])
    said = {"version": found.version, **again(request)}
    if "course_lib" in found.packages:
        said["import_seconds"] += IMPORTED
    return said


def again(request: Said) -> Said:
    """Compile the model, and run it once: some systems do a part of their work only then."""
    ready = READY["prepared"] = READY["prepare"]()
    ready.call()
    return {"import_seconds": ready.import_seconds, "compile_seconds": ready.compile_seconds}


def outputs(request: Said) -> Said:
    np.savez(request["file"], *READY["prepared"].call())
    return {}


def times(request: Said) -> Said:
    return {"times": in_spells([READY["prepared"].call], request["seconds"])[0]}


def stages(request: Said) -> Said:
    Path(request["file"]).write_text(json.dumps(READY["prepared"].stages()), "utf-8")
    return {}


def kernels(request: Said) -> Said:
    return {"kernels": READY["prepared"].kernels()}


def peak(request: Said) -> Said:
    """Of this process and of no other: ru_maxrss begins with what its parent had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return {"bytes": 1024 * int(line.split()[1])}


DOES = {one.__name__: one for one in (prepare, again, outputs, times, stages, kernels, peak)}
