"""The course's models on every system that runs here: measured now, or recorded.

    FULL.ms("resnet18", "onnxruntime")          ->   21.3     median of its rounds, one thread
    FULL.rounds("resnet18", "onnxruntime")      ->   [0.0213, 0.0214, ...]
    live("mlp", ["course", "onnxruntime"], 2.0) ->   rounds of a few seconds, on this machine

`python -m lessons.u18.bench FILE` records again what is installed. Next room: shown.py.
"""

from __future__ import annotations

import datetime
import json
import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from course_lib.measure.apart import Ended
from course_lib.measure.turns import timer
from course_lib.models import build
from course_lib.peers.model import model_of
from course_lib.peers.peer import PEERS, lacking, peer
from course_lib.peers.running import Failed, Running
from course_lib.recorded import Recording, recorded

MODELS = ("mlp", "block", "resnet18", "mobilenet_v2")
ROUNDS, SPELL = 30, 0.15  # rounds, and seconds of one engine in each of them
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
        return {model: self.recording.data(model) for model in MODELS}

    @property
    def versions(self) -> dict[str, str]:
        return self.recording.data("versions")

    def systems(self, model: str) -> list[str]:
        """Those that ran it, the fastest first."""
        return sorted(self.data[model], key=lambda system: self.ms(model, system))

    def everywhere(self) -> list[str]:
        """The systems that ran all models."""
        return [s for s in self.data[MODELS[0]] if all(s in self.data[m] for m in MODELS)]

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
        """From how many runs on, what `system` gains has made up for compiling longer."""
        gain = (self.ms(model, other) - self.ms(model, system)) / 1e3
        return (self.compiling(model, system) - self.compiling(model, other)) / gain


FULL = Full(__file__, "full.txt")


# ── on this machine ──


def here(names: Sequence[str]) -> list[str]:
    """Those of the systems that are installed."""
    return [name for name in names if _there(name)]


def _there(name: str) -> bool:
    return find_spec(f"course_lib.peers.{PEERS[name].file}") is not None and not lacking(PEERS[name])


def live(
    model: str, systems: Sequence[str], seconds: float, measure: Measure
) -> dict[str, list[float]]:
    """The rounds of each system on one thread of this process, by that function."""
    prepared = [peer(name).prepare(model, threads=1) for name in systems]
    return dict(zip(systems, measure([timer(one.call) for one in prepared], seconds), strict=True))


# ── recording ──


def record(
    models: Sequence[str] = MODELS, systems: Sequence[str] = tuple(PEERS),
    rounds: int = ROUNDS, spell: float = SPELL, core: int = 0,
) -> Recording:  # fmt: skip
    """All systems that are installed, in turns, each in a process of its own on one processor."""
    versions: dict[str, str] = {}
    texts = {}
    for model in models:
        measured = _of(model, here(systems), rounds, spell, core)
        versions |= {name: one.pop("version") for name, one in measured.items()}
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in measured.items()]
        texts[model] = "{" + ",\n".join(lines) + "}\n"
    texts = {"versions": json.dumps(versions, indent=0) + "\n", **texts}
    how = f"{rounds} rounds in turns on one processor; in each, the median of {spell:g} s of runs"
    tool = f"{len(versions)} systems"
    return Recording(tool, _processor(), datetime.date.today().isoformat(), how, texts)


def _of(name: str, systems: Sequence[str], rounds: int, spell: float, core: int) -> dict[str, Any]:
    model, expected = model_of(name), _in_float64(name)
    with ExitStack() as stack:
        engines: dict[str, Running] = {}
        for system in systems:
            try:
                engines[system] = stack.enter_context(Running(system, model, 1, [core]))
            except (Failed, Ended) as error:
                print(f"{name} on {system}: {str(error)[:200]}", file=sys.stderr)
        times: dict[str, list[float]] = {system: [] for system in engines}
        for turn in range(rounds):
            for system in [*engines][:: 1 if turn % 2 else -1]:
                times[system].append(float(f"{median(engines[system].times(spell)):.4g}"))
        return {system: _facts(engine, expected, times[system]) for system, engine in engines.items()}


def _facts(engine: Running, expected: np.ndarray, rounds: list[float]) -> dict[str, Any]:
    got = np.asarray(engine.outputs()[0], np.float64)
    error = float(np.abs(got - expected).max() / np.abs(expected).max())
    return {"version": engine.about["version"], "error": float(f"{error:.2g}"),
            "compile_seconds": float(f"{engine.about['compile_seconds']:.3g}"),
            "peak": engine.peak(), "kernels": len(engine.kernels()), "rounds": rounds}  # fmt: skip


def _in_float64(name: str) -> np.ndarray:
    import torch  # heavy

    with torch.inference_mode():
        inputs = [torch.from_numpy(np.asarray(x, np.float64)) for x in model_of(name).inputs]
        result = build(name).double()(*inputs)
    return (result[0] if isinstance(result, (list, tuple)) else result).numpy()


def _processor() -> str:
    """The processor as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(str(record()), "utf-8")
