"""What makes the recorded runs of unit 18 again: `python -m course_lib record u18`.

Next room: bench.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from course_lib.maker import maker
from course_lib.peers.contest import Entry, contest
from course_lib.peers.model import model_of
from lessons.u18.bench import MODELS, REPEATED, WIDE

QUICK = (*REPEATED, "course+winograd")  # each compiles within seconds, and runs within a second
EVERY = ("course", "torch-eager", "torch.compile+freezing", "onnxruntime+none", "onnxruntime",
         "openvino", "mnn", "jax", "iree", "tvm", "tinygrad")  # fmt: skip
NEEDS = ("torch", "onnxruntime", "openvino", "MNN", "jax")
NAME = "the systems of course_lib bench"
ROUNDS, FEW, SPELL = 20, 6, 0.1  # rounds, of EVERY system, and seconds of one engine in a round


@maker(
    NAME, "course_lib", *NEEDS, "iree", "tvm", "tinygrad", compared="names of texts", seconds=420
)
def full() -> dict[str, str]:
    """The quick systems on the four models, and every system on one of them."""
    made = Made()
    for model in MODELS:
        made.measure(model, QUICK, ROUNDS, model)
    made.measure("mobilenet_v2", EVERY, FEW, WIDE)
    return made.texts


@maker(NAME, "course_lib", *NEEDS, compared="names of texts", seconds=180)
def again() -> dict[str, str]:
    """The quick systems a second time."""
    made = Made()
    for model in MODELS:
        made.measure(model, QUICK, ROUNDS, model)
    return made.texts


@dataclass
class Made:
    """What is found: versions of the systems, the share of the processor that other programs had,
    and for each name a system's facts, a line of JSON each."""

    versions: dict[str, str] = field(default_factory=dict)
    others: dict[str, float] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    told: str = ""

    def tell(self, words: str) -> None:
        """Each step once: a round tells of itself for every system."""
        if words != self.told:
            print(words, file=sys.stderr, flush=True)
        self.told = words

    @property
    def texts(self) -> dict[str, str]:
        return {"versions": json.dumps(self.versions, indent=0),
                "others": json.dumps(self.others, indent=0), **self.found}  # fmt: skip

    def measure(self, model: str, systems: Sequence[str], rounds: int, name: str) -> None:
        """The systems in turns, each in a process of its own on one processor. KeyboardInterrupt if
        it was interrupted: half of it is no recording, and the file keeps what it has."""
        found = contest(model_of(model), systems, (1,), rounds, rounds * SPELL,
                        lambda words: self.tell(f"{name}: {words}"))  # fmt: skip
        if found.interrupted:
            raise KeyboardInterrupt
        if (share := found.others.get(1)) is not None:
            self.others[name] = _short(share)
        rows = []
        for entry in found.entries:
            if entry.rounds:
                self.versions[entry.system] = entry.version
                rows.append(f"{json.dumps(entry.system)}: {json.dumps(_facts(entry))}")
            else:
                self.tell(f"{name} on {entry.system}: {entry.problem[:300]}")
        self.found[name] = "{" + ",\n".join(rows) + "}"


def _facts(entry: Entry) -> dict[str, Any]:
    return {
        "compile_seconds": _short(entry.compile_seconds or 0.0), "peak": entry.peak_bytes,
        "kernels": entry.kernels, "error": _short(entry.error or 0.0),
        "rounds": [_short(seconds) for seconds in entry.rounds],
    }  # fmt: skip


def _short(number: float) -> float:
    return float(f"{number:.4g}")
