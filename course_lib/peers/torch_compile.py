"""torch.compile with its default backend, Inductor, which writes C++.

`freezing`: the weights are constants of the code, which may fold and reorder them. Next room:
`onnxruntime.py`.
"""

from __future__ import annotations

import re

import torch
from torch._inductor import config as inductor
from torch._inductor.utils import run_and_get_code

from course_lib.peers.model import Model
from course_lib.peers.torch_eager import Eager


class Compiled(Eager):
    """The module by torch.compile, compiled by its first call, which is made here."""

    def __init__(self, model: Model, threads: int, freezing: bool) -> None:
        super().__init__(model, threads)
        torch._dynamo.reset()  # what was compiled before may be for another number of threads
        inductor.freezing = freezing
        self.function = torch.compile(model.module)
        _, self.code = run_and_get_code(self.call)

    def stages(self) -> dict[str, str]:
        names = (
            ["code"]
            if len(self.code) == 1
            else [f"code of part {k}" for k in range(len(self.code))]
        )
        return {**super().stages(), **dict(zip(names, self.code, strict=True))}

    def kernels(self) -> list[str]:
        """The calls that the wrapper of the code makes: C++ of its own, and libraries."""
        return [
            name
            for code in self.code
            for name in re.findall(r"^    (?:buf\d+ = )?(\w[\w.]*)\(", code, re.M)
        ]


def prepare(model: Model, threads: int, freezing: bool = False) -> Compiled:
    """The torch module as Inductor compiles it."""
    return Compiled(model, threads, freezing)
