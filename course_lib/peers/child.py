"""The other side of `running.py`: one model in one system, asked line by line.

    {"do": "prepare", "system": "jax", "name": "mlp", "inputs": "/tmp/.../inputs.npz", ...}
    ==>  {"version": "jax 0.10.2", "compile_seconds": 0.4, ...}
    {"do": "times", "seconds": 0.1}      ==>  {"times": [0.00042, 0.00041, ...]}

Its processors are chosen before anything is imported that counts them. Next room: `ours.py`, the
first of the systems.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.measure.apart import Said, answer_all
from course_lib.measure.turns import in_spells

READY: dict[str, Any] = {}  # the one model of this process, as `prepared`


def main() -> None:
    """Answer requests, a line each, until there are no more."""
    answer_all(answer)


def answer(request: Said, say: Callable[[Said], None]) -> Said:
    try:
        return DOES[request["do"]](request)
    except Exception as error:  # systems raise what they like, and the parent has to hear of it
        return {"failed": f"{type(error).__name__}: {error}"}


def prepare(request: Said) -> Said:
    if request["cores"] is not None:
        os.sched_setaffinity(0, request["cores"])
    os.environ["OMP_NUM_THREADS"] = str(request["threads"])
    from course_lib.peers.model import Model, model_of  # after the choice of processors
    from course_lib.peers.peer import peer

    with np.load(request["inputs"], allow_pickle=False) as stored:
        inputs = [stored[name] for name in stored.files]
    model = model_of(request["file"] or request["name"], inputs)
    found = peer(request["system"])
    named = Model(request["name"], model.source, model.inputs)
    ready = READY["prepared"] = found.prepare(named, threads=request["threads"])
    ready.call()
    seconds = {"import_seconds": ready.import_seconds, "compile_seconds": ready.compile_seconds}
    return {"version": found.version, **seconds}


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
    lines = Path("/proc/self/status").read_text().splitlines()  # ru_maxrss is the parent's, too
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return {"bytes": 1024 * int(line.split()[1])}


DOES = {one.__name__: one for one in (prepare, outputs, times, stages, kernels, peak)}
