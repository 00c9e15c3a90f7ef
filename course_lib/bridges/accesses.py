"""Which elements of its arrays some C++ touches, in the order of the program.

    seen = accesses(call, {"x": x, "out": out}, (3, 4), most=1000)
    seen.trace                    for the cache simulator; each array begins at the start of a line
    seen.of("out", writes=True)   ->  [0, 1, 2]

The C++ has the arrays of recorded.h in place of pointers, and a function that takes the data of
each array, their first bytes, their sizes, the numbers, and the room for what is written down, as
`traced` in lessons/u07/product.cpp does. Next room: `course_lib/cost/cache.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.cost.trace import LINE, Trace

HEADER = Path(__file__).with_name("recorded.h").read_text()
WRITE = 1  # in the last bit of an access


@dataclass(frozen=True)
class Accesses:
    """The accesses of a call, in order: one outside of an array ends it early."""

    trace: Trace
    writes: np.ndarray  # of the accesses, which are writes
    count: int  # of the accesses, those beyond the room for them included
    outside: tuple[str, int, int] | None  # the array, the index, and how many elements there are

    def of(self, name: str, writes: bool | None = None) -> np.ndarray:
        """The accesses of one array, as places in it: all, or the writes, or the reads."""
        place = self.trace.places[name]
        at = self.trace.addresses
        chosen = (at >= place.start) & (at < place.stop)
        if writes is not None:
            chosen &= self.writes == writes
        return (at[chosen] - place.start) // 4


def accesses(call: Callable[..., Any], arrays: Mapping[str, np.ndarray], numbers: Iterable[int],
             most: int) -> Accesses:  # fmt: skip
    """What a call touches of its arrays, which are changed in place: at most so many accesses."""
    ends = np.cumsum([0, *(-(-a.nbytes // LINE) * LINE for a in arrays.values())])
    starts, sizes = ends[:-1].astype(np.int64), np.array([a.size for a in arrays.values()])
    to, outside = np.zeros(most, np.uint32), np.zeros(2, np.int64)
    count = call(*arrays.values(), starts.copy(), sizes, *numbers, to, most, outside).value
    at = to[: max(0, min(count, most))].astype(np.int64)
    places = {name: range(start, start + array.nbytes) for (name, array), start in
              zip(arrays.items(), starts.tolist(), strict=True)}  # fmt: skip
    which, index = outside.tolist()
    name = [*arrays][which - 1] if 0 < which <= len(arrays) else ""
    beyond = (name, index, arrays[name].size) if name else None
    return Accesses(Trace(at & ~WRITE, places), (at & WRITE).astype(bool), count, beyond)
