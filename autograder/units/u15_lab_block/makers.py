"""What makes the recording of the hidden checks: Inductor's C++ for other functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course_lib.maker import maker
from lessons.u15_lab_block.makers import for_avx512


def others() -> dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]]:
    """Functions that are not in the notebook, and the shapes of their arrays."""
    import torch
    from torch.nn import functional as F

    return {
        "softmax of 45": (lambda x: torch.softmax(x, -1), ((5, 45),)),
        "sums of columns": (lambda x: (x * x).sum(0), ((300, 100),)),
        "bias": (lambda x, b: torch.relu(x + b), ((30, 50), (50,))),
        "rms": (
            lambda x, w: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w,
            ((24, 64), (64,)),
        ),
        "maximum": (lambda x: x - x.amax(-1, keepdim=True), ((6, 3, 32),)),
        "two results": (lambda x, y: (F.silu(x) * y, x + y), ((40, 64), (40, 64))),
        "perceptron": (
            lambda x, w, v: F.relu(x @ w) @ v - x.sum(-1, keepdim=True),
            ((16, 32), (32, 48), (48, 8)),
        ),
        "axes": (lambda x: x.permute(1, 0, 2) + 1, ((3, 200, 64),)),
        "norms": (
            lambda x, w: F.layer_norm(F.layer_norm(x, (96,)) @ w, (80,)),
            ((64, 96), (96, 80)),
        ),
        "attention": (
            lambda q, k, v: torch.softmax((q @ k.transpose(1, 2)).clamp(max=3.0), -1) @ v,
            ((2, 40, 16), (2, 72, 16), (2, 72, 24)),
        ),
    }


@maker("PyTorch", "torch", "g++", seconds=6)
def by_inductor() -> dict[str, str]:
    """All of them, for AVX-512 and two threads."""
    import torch

    return {name: for_avx512(function, *(torch.zeros(shape) for shape in shapes))
            for name, (function, shapes) in others().items()}  # fmt: skip
