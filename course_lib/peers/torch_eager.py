"""PyTorch as it is: each operation runs when Python reaches it.

    peer("torch-eager").prepare("mlp").kernels()   ->   ["aten::linear", "aten::relu", ...]

Next room: `torch_compile.py`.
"""

from __future__ import annotations

import numpy as np
import torch

from course_lib.frontend.torch.export import exported
from course_lib.peers.model import Model
from course_lib.peers.peer import Prepared


class Eager(Prepared):
    def __init__(self, model: Model, threads: int) -> None:
        torch.set_num_threads(threads)
        self.model = model
        self.function = model.module
        self.tensors = [torch.from_numpy(np.array(x)) for x in model.inputs]

    def call(self) -> list[np.ndarray]:
        with torch.inference_mode():
            results = self.function(*self.tensors)
        listed = results if isinstance(results, (list, tuple)) else [results]
        return [result.numpy() for result in listed]

    def stages(self) -> dict[str, str]:
        """Eager mode makes no text; this is what `torch.export` says that it runs."""
        program = exported(self.model.module, self.model.inputs)
        return {"exported": str(program.graph_module.print_readable(print_output=False))}

    def kernels(self) -> list[str]:
        """The ATen operations that the module asks for. One may do its work by others: linear by
        addmm, conv2d by an operation of oneDNN."""
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU]) as seen:
            self.call()
        events = [event for event in seen.events() or () if event.cpu_parent is None]
        return [event.name for event in events if event.name.startswith("aten::")]


def prepare(model: Model, threads: int) -> Eager:
    """The torch module in eval mode, with its inputs as tensors."""
    return Eager(model, threads)
