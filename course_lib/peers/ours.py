"""The course's compiler as one of the systems, and its interpreter, which calls numpy.

    peer("course").prepare("mlp").kernels()    ->   ["matmul_add_relu_0", ...]
    peer("numpy").prepare("mlp").kernels()     ->   ["numpy_matmul", "numpy_add", ...]

What `compile` keeps of earlier runs is used, as for every user (`course_lib/keep.py`). Next room:
`torch_eager.py`.
"""

from __future__ import annotations

import numpy as np

from course_lib.compiler import compile
from course_lib.passes.pipeline import WINOGRAD
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared


class Ours(Prepared):
    def __init__(self, model: Model, threads: int, winograd: bool, target: str) -> None:
        self.inputs = model.inputs
        self.run = compile(
            model.source,
            list(model.inputs),
            target=target,
            threads=threads,
            passes=WINOGRAD if winograd else None,
        )
        nodes = self.run.stage("winograd").form.nodes if winograd else ()
        if winograd and not any(node.op == "winograd_tiles" for node in nodes):
            raise ValueError("no convolution of this model gains by Winograd's algorithm")

    def call(self) -> list[np.ndarray]:
        return self.run.run(self.inputs)

    def stages(self) -> dict[str, str]:
        return {stage.name: stage.text for stage in self.run.stages}

    def kernels(self) -> list[str]:
        return [kernel.name for kernel in self.run.kernels]


def prepare(model: Model, threads: int, winograd: bool = False, target: str = "cpu") -> Ours:
    """The model as machine code; `winograd`: with cheaper 3x3 convolutions, where that pays;
    `target="interpreter"`: node by node with numpy, whose products OpenBLAS computes."""
    return Ours(model, threads, winograd, target)
