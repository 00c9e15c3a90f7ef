"""The course's compiler as one of the systems. Next room: `torch_eager.py`."""

from __future__ import annotations

import numpy as np

from course_lib.compiler import compile
from course_lib.passes.pipeline import WINOGRAD
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared


class Ours(Prepared):
    def __init__(self, model: Model, threads: int, winograd: bool) -> None:
        self.inputs = model.inputs
        passes = WINOGRAD if winograd else None
        self.run = compile(model.source, list(model.inputs), threads=threads, passes=passes)

    def call(self) -> list[np.ndarray]:
        return self.run.run(self.inputs)

    def stages(self) -> dict[str, str]:
        return {stage.name: stage.text for stage in self.run.stages}

    def kernels(self) -> list[str]:
        return [kernel.name for kernel in self.run.kernels]


def prepare(model: Model, threads: int, winograd: bool = False) -> Ours:
    """The model as machine code; `winograd`: with cheaper 3x3 convolutions, where that pays."""
    return Ours(model, threads, winograd)
