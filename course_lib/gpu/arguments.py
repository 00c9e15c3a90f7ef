"""Arguments of a kernel in words, as the command line takes them.

    argument("x.npy")                an array
    argument("zeros:f32:1024")       zeros; "empty:f32:1024" is memory that nothing was written to
    argument("i32:1024")             a number
    argument("recorded:f32:1024")    what the recorded kernels were run on

Next room: `count/pages.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.files import readable
from course_lib.gpu.ptx.types import TYPES
from course_lib.gpu.recordings import indices, numbers
from course_lib.gpu.simt.machine import Empty

FORMS = (
    "FILE.npy, zeros:f32:COUNT, empty:f32:COUNT, recorded:f32:COUNT, or a number as i32:VALUE (any "
    "type: i8 to i64, u8 to u64, f16, f32, f64)"
)
MOST_BYTES = 1 << 32


def argument(words: str) -> Any:
    """An array, `Empty` or a number. ValueError in words for anything else."""
    if words.endswith(".npy"):
        return _loaded(words)
    what, *rest = words.split(":")
    if what in ("zeros", "empty", "recorded") and len(rest) == 2:
        type, count = _type(rest[0], words), _count(rest[1], words)
        if count * type.itemsize > MOST_BYTES:
            raise ValueError(f"{words}: more than {MOST_BYTES >> 30} GB")
        if what == "empty":
            return Empty(count * type.itemsize)
        return np.zeros(count, type) if what == "zeros" else recorded(type, count)
    if len(rest) == 1:
        return _number(_type(what, words), rest[0], words)
    raise ValueError(f"{words!r} is no argument: {FORMS}")


def recorded(type: np.dtype, count: int) -> np.ndarray:
    """The inputs of the recorded kernels, in this type: places for i32, else numbers below 1."""
    return indices(count) if type == np.int32 else numbers(count).astype(type)


def _loaded(path: str) -> np.ndarray:
    readable(path)
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is no .npy file: {error}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds no array of numbers")
    return array


def _type(name: str, words: str) -> np.dtype:
    found = TYPES.get(f"s{name[1:]}" if name.startswith("i") else name)
    if found is None or found.kind not in "suf" or name in ("bf16", "tf32", "f16x2", "bf16x2"):
        raise ValueError(f"{words!r} is no argument, there is no type {name!r}: {FORMS}")
    return found.numpy


def _count(text: str, words: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{words!r}: how many is a whole number, not {text!r}")
    return int(text)


def _number(type: np.dtype, text: str, words: str) -> np.generic:
    try:
        value = float(text) if type.kind == "f" else int(text, 0)
        return np.array([value]).astype(type)[0] if type.kind == "f" else type.type(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{words!r}: {text!r} is no number of this type") from None
