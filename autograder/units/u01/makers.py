"""What makes the recordings of unit 1 that know an answer. Next room: `hidden.py`."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.maker import maker
from lessons.u01.captures import Gate, stablehlo

# What was changed in the text of Head: by line, what stands there, and what stood there.
CHANGED = {
    "%5": ("%cst, dims = [0]", "%cst, dims = [1]"),
    "%7": ("maximum across dimensions = [0]", "maximum across dimensions = [1]"),
}


class Head(torch.nn.Module):  # as in the notebook
    def __init__(self) -> None:
        super().__init__()
        self.w1, self.b1 = torch.nn.Parameter(torch.randn(8, 8)), torch.nn.Parameter(torch.randn(8))
        self.w2, self.b2 = torch.nn.Parameter(torch.randn(8, 8)), torch.nn.Parameter(torch.randn(8))

    def forward(self, x: Any) -> Any:
        h = torch.relu(x @ self.w1 + self.b1)
        return torch.softmax(h @ self.w2 + self.b2, dim=1)


@maker("torch-mlir", "torch_mlir", "torch", seconds=3)
def by_torch_mlir() -> dict[str, str]:
    """Gate, and Head with two numbers changed."""
    head = stablehlo(Head().eval(), torch.randn(8, 8))
    for now, before in CHANGED.values():
        assert head.count(before) == 1
        head = head.replace(before, now)
    return {"Gate": stablehlo(Gate().eval(), torch.randn(2, 8)), "Head, changed": head}
