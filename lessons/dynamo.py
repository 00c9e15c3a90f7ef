"""`torch.compile` from an empty cache, and the function that several notebooks compile.

    with quiet():                   nothing is remembered before or after, nothing is logged
        torch.compile(gelu)(x)

torch is imported where it is used. Next room: `lessons/u15/dynamo.py`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet() -> Iterator[None]:
    """From an empty cache to an empty cache, without what Dynamo writes into its log."""
    import torch

    log = logging.getLogger("torch._dynamo")
    level = log.level
    log.setLevel(logging.ERROR)
    torch._dynamo.reset()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
        torch._dynamo.reset()


def gelu(x: Any) -> Any:
    """GELU by tanh, written out: nine operations."""
    import torch

    return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
