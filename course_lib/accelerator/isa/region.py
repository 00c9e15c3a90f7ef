"""Which addresses an instruction touches: a start, and a count and a stride for each dimension.

    Region("acts", 0, (2, 3), (16, 1))   ->   0 1 2, 16 17 18

One description serves everything that has to do with addresses: reading and writing (a view of the
memory, nothing is copied), bounds, banks, hazards and bytes counted. The same form drives the
address generators of real chips (Gemmini's `mvin`, NVDLA's surfaces). Next room: `state.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Region(NamedTuple):
    """`counts` and `strides` in elements of the memory: bytes; of accs and params, int32 words."""

    memory: str
    start: int
    counts: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def end(self) -> int:
        """One behind the last element. Strides are never negative."""
        last = self.start
        for count, stride in zip(self.counts, self.strides, strict=True):
            last = last + (count - 1) * stride  # not +=, which would change an array
        return last + 1

    def view(self, array: np.ndarray) -> np.ndarray:
        """The elements in a flat array, in the shape of `counts`. Bounds were checked before."""
        size = array.itemsize
        strides = tuple([stride * size for stride in self.strides])
        return np.ndarray(self.counts, array.dtype, array.data, self.start * size, strides)


def packed(memory: str, start: int, *counts: int) -> Region:
    """A region without gaps, the last dimension fastest."""
    strides, stride = [], 1
    for count in reversed(counts):
        strides.append(stride)
        stride = stride * count
    return Region(memory, start, counts, tuple(reversed(strides)))
