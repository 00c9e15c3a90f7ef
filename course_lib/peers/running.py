"""A system in a process of its own, on processors of its own.

    with Running("openvino", model_of("mlp"), threads=1, cores=[1]) as engine:
        engine.outputs()        ->   [array of f32[1,10]]
        engine.times(0.1)       ->   [0.00042, 0.00041, ...]     seconds of each call, warm
        engine.about            ->   {"version": "openvino 2026.4.1", "compile_seconds": 0.2, ...}

So no system meets the threads, the memory or the settings of another one, and one that crashes
takes nothing down: `Ended` says how it ended. Arrays and long texts cross as files in a folder of
its own, which also has the temporary files of the system, and goes with this process. Next room:
`child.py`, the other side.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.measure.apart import Apart, Ended, Said
from course_lib.peers.model import Model
from course_lib.scratch import Folder

CHILD = "course_lib.peers.child"
PATIENCE = 600.0  # seconds in which a system must have compiled a model
CALL = 120.0  # and in which it must have run one
LINE = 200  # letters of what a process printed that are shown
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # read when they are loaded


class Failed(Exception):
    """The system cannot do what was asked: what it says, in words."""


class Running:
    """One model in one system, compiled in its process when it is made, as if for the first time.

    cores   the processors that it may use (None: all), of which there should be `threads`
    Failed if the system cannot run the model; Ended (`measure/apart.py`) if its process is gone.
    Use it in one thread: where that ends, the process does, too.
    """

    def __init__(
        self, system: str, model: Model, threads: int = 1, cores: Sequence[int] | None = None
    ) -> None:
        self.system = system
        self._folder = Folder("course-peer-")
        few = dict.fromkeys(POOLS, str(threads))
        self._process = Apart(CHILD, {**few, "TMPDIR": self._folder.path},
                              cores, str(self._path("printed.txt")))  # fmt: skip
        try:
            self.about = self._ask("prepare", PATIENCE, system=system, threads=threads,
                                   **self._handed(model))  # fmt: skip
        except BaseException:
            self.close()
            raise

    @property
    def process(self) -> int:
        """The number that the system gave it."""
        assert self._process.process
        return self._process.process.pid

    def outputs(self) -> list[np.ndarray]:
        """What one call gives."""
        file = self._path("outputs.npz")
        self._ask("outputs", CALL, file=str(file))
        with np.load(file, allow_pickle=False) as stored:
            return [stored[name] for name in stored.files]

    def times(self, seconds: float) -> list[float]:
        """Seconds of every call, one after the other for so long, and at least one."""
        return self._ask("times", CALL + seconds, seconds=seconds)["times"]

    def again(self) -> float:
        """Seconds to compile the model once more, with what the process has kept of the first
        time; from now on, this one runs."""
        return self._ask("again", PATIENCE)["compile_seconds"]

    def stages(self) -> dict[str, str]:
        """Every text that the system made on the way."""
        file = self._path("stages.json")
        self._ask("stages", PATIENCE, file=str(file))
        return json.loads(file.read_text("utf-8"))

    def kernels(self) -> list[str]:
        """What one call launches."""
        return self._ask("kernels", PATIENCE)["kernels"]

    def peak(self) -> int:
        """The most memory that the process has had, in bytes: the system itself, weights, all."""
        return self._ask("peak", CALL)["bytes"]

    def close(self) -> None:
        self._process.stop()
        self._folder.close()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _path(self, name: str) -> Path:
        return Path(self._folder.path) / name

    def _handed(self, model: Model) -> dict[str, Any]:
        """How the other side finds the model: by its name, or as a file."""
        np.savez(self._path("inputs.npz"), *model.inputs)
        handed = {"name": model.name, "inputs": str(self._path("inputs.npz")), "file": None}
        if not model.of_the_course:
            self._path("model.onnx").write_bytes(model.onnx)
            handed["file"] = str(self._path("model.onnx"))
        return handed

    def _ask(self, what: str, patience: float, **more: Any) -> Said:
        """The one answer to a request."""
        try:
            answer = next(self._process.ask({"do": what, **more}, patience))
        except Ended as error:
            raise Ended(f"{error}{self._last_words()}") from None
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def _last_words(self) -> str:
        """What the process printed last, which may be why it ended."""
        lines = self._path("printed.txt").read_text("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"; it printed at last: {last[:LINE]}" if last else ""
