"""What makes Inductor's C++ of unit 15 again, with the rule of lessons/makers.py.

Next room: kernels.py.
"""

from __future__ import annotations

from typing import Any

from course_lib.maker import maker
from course_lib.models import build, example_inputs
from lessons.makers import calls, shortened, written


@maker("PyTorch", "torch", seconds=5)
def by_inductor() -> dict[str, str]:
    """C++ for GELU, and for two kernels of the block, with what the block's program calls."""
    import torch  # torch is heavy

    def gelu(x: Any) -> Any:
        return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))

    alone = written(gelu, torch.zeros(1024, 1024))
    code = written(build("block"), *map(torch.from_numpy, example_inputs("block")))
    (kernel,), called = calls(alone), calls(code)
    behind, last = (name for name in called if name.startswith("cpp_fused_add"))
    return {"gelu": shortened(alone, kernel), "behind attention": shortened(code, behind),
            "last": shortened(code, last), "calls": "\n".join(called)}  # fmt: skip
