"""What PyTorch runs without `torch.compile`: each operation of ATen, and the bytes that it moves.

    eager("block")      [("native_layer_norm", 133120, 132096), ("addmm", 394240, 131072), ...]

A view moves nothing and is left out. torch is imported where it is used. Next room: measured.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from lessons.u15_lab_block.text import program

Launch = tuple[str, int, int]  # name, bytes read, bytes written


@cache
def eager(name: str) -> tuple[Launch, ...]:
    """Every operation of one call of a program that makes a new array, in order."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    rows: list[Launch] = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            result = func(*args, **(kwargs or {}))
            read, made = ([x for x in tree_leaves(part) if isinstance(x, torch.Tensor)]
                          for part in ((args, kwargs), result))  # fmt: skip
            there = {x.untyped_storage().data_ptr() for x in read}
            new = [x for x in made if x.untyped_storage().data_ptr() not in there]
            if new:
                rows.append((func.__name__.split(".")[0], _bytes(read), _bytes(new)))
            return result

    function, x = program(name)
    with Seen(), torch.no_grad():
        function(x)
    return tuple(rows)


def _bytes(tensors: list[Any]) -> int:
    """Of all numbers of these arrays; one that is read twice is read once."""
    return sum(x.numel() * x.element_size() for x in {id(x): x for x in tensors}.values())
