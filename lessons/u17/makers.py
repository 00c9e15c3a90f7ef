"""What makes the recorded answers of TVM and of Inductor of unit 17 again. Next room: wild.py."""

from __future__ import annotations

from typing import Any

from course_lib.maker import in_rows, maker
from lessons.u17.wild import BY_TVM, tvms


@maker("apache-tvm", "tvm", seconds=5)
def answers_by_tvm() -> dict[str, str]:
    answers, word = tvms()
    if word.endswith(BY_TVM.words):
        raise ValueError("TVM gave no answer")
    return {"answers": in_rows(answers)}


@maker("PyTorch", "torch", "g++", seconds=3)
def count_by_inductor() -> dict[str, str]:
    import torch

    def count(x: Any) -> Any:
        return (x.to(torch.int8).to(torch.int32) * 2 + 5 < 0).sum()

    return {"count": str(int(torch.compile(count)(torch.arange(256, dtype=torch.uint8))))}
