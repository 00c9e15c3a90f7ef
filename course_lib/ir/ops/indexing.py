"""Rows for indexing that writes, and for sorting: ops without a loop form.

    %0 = scatter_elements(%x, %i, %u) {axis = 0} : f32[4]     // x[i[k]] = u[k], in this order

Where two indices are equal the later write counts, so the iterations depend on each other in a way
that only the data shows: no loop nest with affine indices describes that. The CPU target calls
`evaluate` for these, as real compilers call a library. Next room: `source.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.ops.elementwise import same_dtype
from course_lib.ir.ops.gather import counted
from course_lib.ir.registry import Op, no_flops, normal_axis, register
from course_lib.ir.types import TensorType, i64

REDUCTIONS = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}
_REDUCTION = Attr("string", "none", among=("none", *REDUCTIONS))


def _library(name: str, doc: str, **fields) -> None:
    register(Op(name=name, kind="movement", doc=doc, flops=no_flops, **fields))


def _write(x: np.ndarray, where: tuple[np.ndarray, ...], updates: np.ndarray, how: str):
    """A copy of x with the updates written, or combined with what is there."""
    result = x.copy()
    if how == "none":
        result[where] = updates
    else:
        REDUCTIONS[how](result, where, updates)
    return result


def _check(types: Sequence[TensorType], attrs: Attrs, what: str) -> None:
    x, indices, updates = types
    same_dtype([x, updates], what)
    if indices.dtype.kind not in ("int", "uint"):
        raise ValueError(f"{what}: indices must be integers, got {indices}")


def _scatter_elements_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices, updates = types
    _check(types, attrs, "scatter_elements")
    normal_axis(attrs["axis"], x.rank, "scatter_elements")
    if indices.shape != updates.shape or indices.rank != x.rank:
        raise ValueError(
            f"scatter_elements: needs one update for each index and the rank of {x}, "
            f"got indices {indices} and updates {updates}"
        )
    return x


def _scatter_elements(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    x, indices, updates = arrays
    axis = normal_axis(attrs["axis"], x.ndim, "scatter_elements")
    where: list[Any] = list(np.indices(indices.shape))
    where[axis] = counted(indices, x.shape[axis])
    return _write(x, tuple(where), updates, attrs["reduction"])


_library(
    "scatter_elements",
    "x with one element replaced for each index along an axis (the reverse of gather_elements)",
    arity=3,
    attrs={"axis": Attr("axis", 0), "reduction": _REDUCTION},
    infer=_scatter_elements_type,
    evaluate=_scatter_elements,
)


def _scatter_nd_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices, updates = types
    _check(types, attrs, "scatter_nd")
    depth = indices.shape[-1] if indices.rank else 0
    if not isinstance(depth, int) or not 1 <= depth <= x.rank:
        raise ValueError(f"scatter_nd: the last axis of {indices} must index 1 to {x.rank} axes")
    wanted = (*indices.shape[:-1], *x.shape[depth:])
    if updates.shape != wanted:
        raise ValueError(f"scatter_nd: updates must have shape {list(wanted)}, got {updates}")
    return x


def _scatter_nd(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    x, indices, updates = arrays
    coordinates = zip(np.moveaxis(indices, -1, 0), x.shape, strict=False)
    where = tuple(counted(i, size) for i, size in coordinates)
    return _write(x, where, updates, attrs["reduction"])


_library(
    "scatter_nd",
    "x with slices replaced: the last axis of the indices holds the coordinates of one slice",
    arity=3,
    attrs={"reduction": _REDUCTION},
    infer=_scatter_nd_type,
    evaluate=_scatter_nd,
)


def _argsort(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    """Stable in both directions: of equal elements the first comes first."""
    (x,) = arrays
    axis = attrs["axis"]
    if not attrs["descending"]:
        return np.argsort(x, axis=axis, kind="stable")
    order = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    return x.shape[axis] - 1 - order


def _argsort_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    normal_axis(attrs["axis"], types[0].rank, "argsort")
    return TensorType(i64, types[0].shape)


_library(
    "argsort",
    "the order that sorts x along an axis; equal elements keep their order",
    arity=1,
    attrs={"axis": Attr("axis"), "descending": Attr("bool", False)},
    infer=_argsort_type,
    evaluate=_argsort,
)
