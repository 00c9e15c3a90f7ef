"""Reports of `python -m course_lib bench`: one that is recorded, and one that is made now.

    RECORDED                        MobileNetV2 in eight systems, on one thread and on two
    measured(model(0), SYSTEMS)     the student's model, on this machine: the same data

A report is what `--json` writes: {"model": ..., "machine": {...}, "rows": [{"system": ...}]}. Next
room: facts.py.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from course_lib.maker import maker
from course_lib.peers.around import available, machine
from course_lib.peers.contest import contest
from course_lib.peers.model import Model, model_of
from course_lib.peers.peer import lacking, peer
from course_lib.peers.report import Report
from course_lib.recorded import recorded

EIGHT = ("course", "torch eager", "onnxruntime", "openvino", "mnn", "jax", "tvm", "tinygrad")
NEEDS = ("torch", "onnxruntime", "openvino", "MNN", "jax", "tvm", "tinygrad")
ROUNDS, SPELL = 8, 0.2  # rounds, and seconds of one system in a round
BY_BENCH = recorded(__file__, "mobilenet.txt")
RECORDED: dict[str, Any] = BY_BENCH.data("report")


def here(systems: Sequence[str]) -> list[str]:
    """Those of the systems that are installed."""
    return [name for name in systems if not lacking(peer(name))]


def measured(model: Any, systems: Sequence[str], seconds: float = 1.0) -> dict[str, Any]:
    """The report of a graph, or of an ONNX model's bytes or file, on this machine: on one thread
    and, if there are two processors, on two; 7 rounds, in which each system has so many seconds."""
    threads = (1, 2)[: len(available())]
    return _report(model_of(model), here(systems), threads, 7, seconds).data


def _report(
    model: Model, systems: Sequence[str], threads: Sequence[int], rounds: int, seconds: float
) -> Report:
    around = machine()
    found = contest(model, systems, threads, rounds, seconds, _tell)
    words = ["python", "-m", "course_lib", "bench", model.name, "--systems", ",".join(systems),
             "--threads", ",".join(map(str, threads)), "--seconds", f"{seconds:g}",
             "--rounds", str(rounds)]  # fmt: skip
    return Report(found, around, shlex.join(words))


def _tell(words: str) -> None:
    if sys.stderr.isatty():  # the command has a bar of its own; a notebook needs neither
        print(f"\r{words:70}", end="", file=sys.stderr)


@maker("the systems of course_lib bench", "course_lib", *NEEDS, compared="names of texts",
       seconds=900)  # fmt: skip
def mobilenet() -> dict[str, str]:
    """MobileNetV2 in eight systems."""
    report = _report(model_of("mobilenet_v2"), EIGHT, (1, 2), ROUNDS, ROUNDS * SPELL)
    return {"report": _text(report.data)}


def _text(data: dict[str, Any]) -> str:
    """JSON with a row of the report in a line, and four digits of what was measured."""
    head = {key: value for key, value in data.items() if key != "rows"}
    rows = [json.dumps({key: _short(value) for key, value in row.items()}) for row in data["rows"]]
    return json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(rows) + "\n]}"


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
