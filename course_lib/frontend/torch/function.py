"""A function of tensors as a module, which `torch.export` can trace.

    as_module(lambda x: x.relu() * 2, "double")      ->   a torch.nn.Module without weights

Next room: `export.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn


def as_module(function: Callable[..., Any], name: str) -> nn.Module:
    """A module, of a class of that name, whose `forward` calls the function with what it gets."""
    return type(name, (_Function,), {})(function).eval()


class _Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)
