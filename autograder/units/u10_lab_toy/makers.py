"""What makes the recording of the lab of unit 10, whose table is that of our answer."""

from __future__ import annotations

from typing import Any

from course_lib.exercises import slot
from course_lib.maker import in_rows, maker
from course_lib.mlir.upstream.typed import typed
from lessons.u10_lab_toy import torch as lesson


@maker("torch-mlir", "torch_mlir", "torch", seconds=3)
def by_torch_mlir() -> dict[str, str]:
    """Two programs as torch-mlir writes them, one as buffers, and the table of our pipeline, whose
    passes are not named."""
    import torch

    def of(text: str, *inputs: Any) -> str:
        from torch_mlir import fx

        function = eval(f"lambda self, x, w, b=None: torch.relu({text})", {"torch": torch})
        model = type("Model", (torch.nn.Module,), {"forward": function})()
        module = fx.export_and_import(model, *inputs, output_type="linalg-on-tensors")
        return module.operation.get_asm(use_local_scope=True)

    x, w, b = torch.zeros(4, 8), torch.zeros(8, 16), torch.zeros(16)
    pipeline = slot("u10_lab_toy.pipeline").reference()
    first, *_ = typed(pipeline, lesson.PASSES)
    given = lesson.level("cse")
    rows = lesson.levels(lesson.after(pipeline, given))
    unnamed = [[f"pass {k}" if k else name, *more] for k, (name, *more) in enumerate(rows)]
    return {"relu(x @ w)": of("x @ w", x, w), "relu(x @ w + b)": of("x @ w + b", x, w, b),
            "bufferized": lesson.after(first, given).states[-1].text,
            "levels": in_rows(unnamed)}  # fmt: skip
