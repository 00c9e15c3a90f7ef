"""The course's models on every system that runs here: measured now, or recorded.

    FULL.ms("resnet18", "onnxruntime")          ->   21.3     median of its rounds, one thread
    FULL.rounds("resnet18", "onnxruntime")      ->   [0.0213, 0.0214, ...]
    live("mlp", ["course", "onnxruntime"], 2.0) ->   rounds of a few seconds, on this machine

makers.py makes the recording again. Next room: shown.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import geometric_mean, median
from typing import Any

from course_lib.measure.turns import timer
from course_lib.peers.peer import lacking, peer
from course_lib.recorded import Recording, recorded

MODELS = ("mlp", "block", "resnet18", "mobilenet_v2")
REPEATED = ("course", "torch-eager", "onnxruntime", "openvino", "mnn", "jax")
WIDE = "mobilenet_v2, every system"
Measure = Callable[[Sequence[Any], float], list[list[float]]]


@dataclass(frozen=True)
class Full:
    """A recorded run, of a module's folder: for each model, what each system did on one thread."""

    module: str
    file: str

    @property
    def recording(self) -> Recording:
        return recorded(self.module, self.file)

    @cached_property
    def data(self) -> dict[str, dict[str, Any]]:
        there = [name for name in (*MODELS, WIDE) if name in self.recording.texts]
        return {name: self.recording.data(name) for name in there}

    @property
    def versions(self) -> dict[str, str]:
        return self.recording.data("versions")

    @property
    def others(self) -> float | None:
        """The largest share of the processor that other programs had; None: it is not recorded."""
        if "others" not in self.recording.texts:
            return None
        return max(self.recording.data("others").values(), default=None)

    def systems(self, model: str) -> list[str]:
        """Those that ran it, the fastest first."""
        return sorted(self.data[model], key=lambda system: self.ms(model, system))

    def repeated(self) -> list[str]:
        """The systems that a second recording has, too."""
        return [s for s in REPEATED if all(s in self.data[m] for m in MODELS)]

    def rounds(self, model: str, system: str) -> list[float]:
        return self.data[model][system]["rounds"]

    def ms(self, model: str, system: str) -> float:
        return 1e3 * median(self.rounds(model, system))

    def compiling(self, model: str, system: str) -> float:
        """Seconds from the model to a program that is ready."""
        return self.data[model][system]["compile_seconds"]

    def megabytes(self, model: str, system: str) -> float:
        return self.data[model][system]["peak"] / 1e6

    def error(self, model: str, system: str) -> float:
        """The largest difference from float64, as a share of the largest output."""
        return self.data[model][system]["error"]

    def kernels(self, model: str, system: str) -> int:
        return self.data[model][system]["kernels"]

    def ratio(self, model: str, system: str, other: str) -> float:
        """How many times as long as `system` the other one takes, in the middle of the rounds."""
        both = zip(self.rounds(model, other), self.rounds(model, system), strict=True)
        return median(slow / fast for slow, fast in both)

    def overall(self, system: str, other: str) -> float:
        """The geometric mean of that over the models."""
        return geometric_mean(self.ratio(model, system, other) for model in MODELS)

    def pays_after(self, model: str, system: str, other: str) -> float:
        """From how many runs on `system` has made up for compiling longer than the other one; 0.0
        if it does not compile longer, math.inf if it never makes up for it."""
        longer = self.compiling(model, system) - self.compiling(model, other)
        gain = (self.ms(model, other) - self.ms(model, system)) / 1e3
        if longer <= 0:
            return 0.0
        return longer / gain if gain > 0 else math.inf


FULL = Full(__file__, "full.txt")


# ── on this machine ──


def here(names: Sequence[str]) -> list[str]:
    """Those of the systems that are installed."""
    return [name for name in names if not lacking(peer(name))]


def live(
    model: str, systems: Sequence[str], seconds: float, measure: Measure
) -> dict[str, list[float]]:
    """The rounds of each system on one thread of this process, by that function."""
    prepared = [peer(name).prepare(model, threads=1) for name in systems]
    return dict(zip(systems, measure([timer(one.call) for one in prepared], seconds), strict=True))
