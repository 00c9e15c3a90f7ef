"""Memory for arrays: bytes that begin where a cache line does, as vector instructions like them.

    aligned_copy(x)          # the same numbers at an address that is a multiple of 64

Next room: `types.py`, what the compiler knows about an array before it has one.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


def aligned_bytes(size: int) -> np.ndarray:
    """New bytes that begin at a multiple of 64."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -address(raw) % ALIGNMENT
    return raw[start : start + size]


def aligned_empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """A new array, its elements not yet set. Every call of a model makes some, so this is quick."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    return np.ndarray(shape, dtype, aligned_bytes(size))  # type: ignore[arg-type]


def address(array: np.ndarray) -> int:
    """Where the bytes of an array begin that lie row after row. `array.ctypes.data` says the same
    and takes longer."""
    if array.nbytes and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    return array.ctypes.data


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy, row after row."""
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def is_aligned(array: np.ndarray) -> bool:
    """Does it begin at a multiple of 64 and lie row after row?"""
    return array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0


def as_array(value: Any) -> np.ndarray:
    """A numpy array from an array, a list or a torch tensor (which may require gradients)."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a {type(value).__name__} cannot be made into an array: {error}"
        ) from None
