"""The weights whose numbers are in our code: are they what they were when it was compiled?

    known = Known(weights, gone)     gone(_) is called when the first of them is no more
    known.same(weights)              nobody has written to them since, nor moved them
    known.changed(weights)           which of them somebody has

PyTorch raises `_version` with each change in place; `tensor.data = other` moves a tensor and leaves
its version. We hold on to the memory, so that nothing else can ever be at its address, and not on
the tensors: a model that nobody needs any more goes, and takes its code with it.

Next room: `record.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from torch import Tensor

VERSION = attrgetter("_version")
ADDRESS = Tensor.data_ptr


class Known:
    """Some tensors, as they were."""

    def __init__(self, tensors: Sequence[Tensor], gone: Callable[[Any], object]) -> None:
        self.versions = list(map(VERSION, tensors))
        self.addresses = list(map(ADDRESS, tensors))
        self.memory = [tensor.detach() for tensor in tensors]
        self.alive = [weakref.ref(tensor, gone) for tensor in tensors]

    def same(self, tensors: Sequence[Tensor]) -> bool:
        """In every call, for some hundred weights: what they cost is the memory that they touch."""
        return (
            list(map(VERSION, tensors)) == self.versions
            and list(map(ADDRESS, tensors)) == self.addresses
        )

    def changed(self, tensors: Sequence[Tensor]) -> list[int]:
        """Which of them, by their number."""
        now = zip(map(VERSION, tensors), map(ADDRESS, tensors), strict=True)
        was = zip(self.versions, self.addresses, strict=True)
        return [k for k, (a, b) in enumerate(zip(now, was, strict=True)) if a != b]


def picker(positions: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """What picks the arguments at these positions."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda args: tuple(args[k] for k in positions)
