"""Reports of `python -m course_lib bench`: one that is recorded, and one that is made now.

    RECORDED                        MobileNetV2 in eight systems, on one thread and on two
    measured(model(0), SYSTEMS)     the student's model, on this machine: the same data

A report is what `--json` writes: {"model": ..., "machine": {...}, "rows": [{"system": ...}]}.
makers.py makes the recorded one again. Next room: facts.py.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from course_lib.peers.around import available, machine
from course_lib.peers.contest import contest
from course_lib.peers.model import Model, model_of
from course_lib.peers.peer import lacking, peer
from course_lib.peers.report import Report
from course_lib.recorded import recorded

BY_BENCH = recorded(__file__, "mobilenet.txt")
RECORDED: dict[str, Any] = BY_BENCH.data("report")


def here(systems: Sequence[str]) -> list[str]:
    """Those of the systems that are installed."""
    return [name for name in systems if not lacking(peer(name))]


def measured(model: Any, systems: Sequence[str], seconds: float = 1.0) -> dict[str, Any]:
    """The report of a graph, or of an ONNX model's bytes or file, on this machine: on one thread
    and, if there are two processors, on two; 7 rounds, in which each system has so many seconds."""
    threads = (1, 2)[: len(available())]
    return report_of(model_of(model), here(systems), threads, 7, seconds).data


def report_of(
    model: Model, systems: Sequence[str], threads: Sequence[int], rounds: int, seconds: float
) -> Report:
    """What is found, with the command that would find it again."""
    around = machine()
    found = contest(model, systems, threads, rounds, seconds)
    words = ["python", "-m", "course_lib", "bench", model.name, "--systems", ",".join(systems),
             "--threads", ",".join(map(str, threads)), "--seconds", f"{seconds:g}",
             "--rounds", str(rounds)]  # fmt: skip
    return Report(found, around, shlex.join(words))
