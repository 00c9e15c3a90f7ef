"""The row for sorting, which has no loop form: the CPU target calls `evaluate`, as real compilers
call a library.

    %0 = argsort(%x) {axis = 0, descending = true, first = 2} : i64[2]     // x: f32[4]
    x = [3, 9, 1, 9]   ==>   [1, 3]: of equal elements the first comes first

Of a few places out of many, only those are sorted. Next room: `sampling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.registry import Op, no_flops, normal_axis, register
from course_lib.ir.types import TensorType, i64

SHARE = 16  # elements of which one stands for all, while the first few of a long row are found


def _infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,), first = types, attrs["first"]
    axis = normal_axis(attrs["axis"], x.rank, "argsort")
    size = x.shape[axis]
    if first is None:
        return TensorType(i64, x.shape)
    if not isinstance(size, int) or first > size:
        raise ValueError(f"argsort: axis {axis} of {x} has no {first} elements to put first")
    return TensorType(i64, (*x.shape[:axis], first, *x.shape[axis + 1 :]))


def _argsort(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    """Along the last axis, as all that follows."""
    axis, descending = attrs["axis"], attrs["descending"]
    x = arrays[0].swapaxes(axis, -1)
    size = x.shape[-1]
    count = size if attrs["first"] is None else attrs["first"]
    places = None
    if 0 < count < size and x.size:
        places = _first(x.reshape(-1, size), count, descending)
    if places is None:
        places = _order(x, descending)[..., :count]
    return places.reshape(*x.shape[:-1], count).swapaxes(axis, -1)


def _order(x: np.ndarray, descending: bool) -> np.ndarray:
    """Stable in both directions: of equal elements the first comes first. NaN is the largest."""
    if not descending:
        return np.argsort(x, axis=-1, kind="stable")
    order = np.argsort(x[..., ::-1], axis=-1, kind="stable")
    return x.shape[-1] - 1 - order[..., ::-1]


def _first(x: np.ndarray, count: int, descending: bool, share: int = SHARE) -> np.ndarray | None:
    """The first `count` places of each row, in order; None if there is NaN, which compares to
    nothing.

    A partition finds the last of them, and what comes after it is out. Of a long row, only the best
    of every `share` elements are partitioned: `count` of the row are as good as the edge that this
    gives, so that all that is looked for stays in, and little else.
    """
    rows, size = x.shape
    best = _best(x, share, descending) if size >= 4 * share * count else x
    left_out = x[:, size // share * share :]
    if x.dtype.kind == "f" and (np.isnan(best).any() or np.isnan(left_out).any()):
        return None
    last = best.shape[-1] - count if descending else count - 1
    edge = np.partition(best, last, axis=-1)[:, last : last + 1]
    chosen = x >= edge if descending else x <= edge
    places = np.flatnonzero(chosen)
    if best is not x and places.size > 2 * rows * count:
        return _first(x, count, descending, share=size)  # many equal ones: no shares
    if best is not x and places.size > rows * count:
        return _sorted_rows(x, places, count, descending)
    if places.size > rows * count:  # of those that equal the last, as many as there is room for
        equal = x == edge
        room = count - (chosen & ~equal).sum(-1, keepdims=True)
        places = np.flatnonzero(chosen & ~(equal & (np.cumsum(equal, -1) > room)))
    order = _order(x.reshape(-1)[places].reshape(rows, count), descending)
    return places[order + np.arange(0, places.size, count)[:, None]] % size


def _best(x: np.ndarray, share: int, descending: bool) -> np.ndarray:
    """The best one of `share` elements, a power of two, which stand equally far apart; what is left
    at the end of a row is left out. NaN wins."""
    better = np.maximum if descending else np.minimum
    best = x[:, : x.shape[1] // share * share]
    while share > 1:
        half = best.shape[1] // 2
        best, share = better(best[:, :half], best[:, half:]), share // 2
    return best


def _sorted_rows(x: np.ndarray, places: np.ndarray, count: int, descending: bool) -> np.ndarray:
    """The first `count` of the given places, at least as many in each row, in all of x."""
    rows, size = x.shape
    order = _order(x.reshape(-1)[places], descending)
    row = places // size
    order = order[np.argsort(row[order], kind="stable")]
    begin = np.searchsorted(row, np.arange(rows))
    return places[order[begin[:, None] + np.arange(count)]] % size


register(
    Op(
        name="argsort",
        kind="movement",
        doc="the order that sorts x along an axis, or its `first` places; equal elements keep "
        "their order",
        flops=no_flops,
        arity=1,
        attrs={
            "axis": Attr("axis"),
            "descending": Attr("bool", False),
            "first": Attr("int", None, least=0),
        },
        infer=_infer,
        evaluate=_argsort,
    )
)
