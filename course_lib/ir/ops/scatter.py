"""Rows for scatter: movement that writes where data says.

    %0 = scatter_elements(%x, %i, %u) {axis = 0, reduction = "add"} : f32[4]
    ==>  out[i0] = x[i0];  for i0:  out[i[i0]] += u[i0]

Where two indices are equal, the later update counts, or is combined with what the earlier one left:
the loop over the updates carries a dependence that only the data shows, and stays in order. An
index that is negative counts from the end; one outside the axis is an error at every level. Next
room: `sorting.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.ops.elementwise import point, same_dtype
from course_lib.ir.ops.gather import check_indices, check_reach, counted, wrapped
from course_lib.ir.registry import Op, normal_axis, register
from course_lib.ir.types import TensorType, product

REDUCTIONS = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}
_REDUCTION = Attr("string", "none", among=("none", *REDUCTIONS))


def _flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return 0 if attrs["reduction"] == "none" else ins[2].numel


def _scatter(name: str, doc: str, **fields) -> None:
    register(Op(name=name, kind="movement", doc=doc, arity=3, flops=_flops, **fields))


def _forms(out: TensorType, updates: TensorType, attrs: Attrs, place) -> list[LoopForm]:
    """A copy of x, then the updates. `place(load, at)` is where the update from `at` goes."""
    everywhere, here = point(out)
    domain, at = point(updates)
    combine = "" if attrs["reduction"] == "none" else attrs["reduction"]
    copy = LoopForm(everywhere, here, lambda load: load(0, *here))
    return [copy, LoopForm(domain, (), lambda load: load(2, *at), combine=combine,
                           place=lambda load: place(load, at))]  # fmt: skip


def _write(x: np.ndarray, where: tuple[np.ndarray, ...], updates: np.ndarray, how: str):
    """A copy of x with the updates written, or combined with what is there."""
    result = x.copy()
    if how == "none":
        result[where] = updates
    else:
        REDUCTIONS[how](result, where, updates)
    return result


def _check(types: Sequence[TensorType], what: str) -> None:
    x, indices, updates = types
    same_dtype([x, updates], what)
    check_indices(indices, what)


def _scatter_elements_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices, updates = types
    _check(types, "scatter_elements")
    axis = normal_axis(attrs["axis"], x.rank, "scatter_elements")
    if indices.shape != updates.shape:
        raise ValueError(
            f"scatter_elements: needs one update for each index, got indices {indices} and "
            f"updates {updates}"
        )
    check_reach(x, indices, axis, "scatter_elements")
    return x


def _scatter_elements(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    x, indices, updates = arrays
    axis = normal_axis(attrs["axis"], x.ndim, "scatter_elements")
    where: list[Any] = list(np.indices(indices.shape))
    where[axis] = counted(indices, x.shape[axis])
    return _write(x, tuple(where), updates, attrs["reduction"])


def _scatter_elements_loops(out, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    axis = normal_axis(attrs["axis"], out.rank, "scatter_elements")

    def place(load, at: tuple[Affine, ...]):
        picked = wrapped(load(1, *at), out.dims[axis])
        return (*at[:axis], picked, *at[axis + 1 :])

    return _forms(out, ins[2], attrs, place)


_scatter(
    "scatter_elements",
    "x with one element replaced for each index along an axis (the reverse of gather_elements)",
    attrs={"axis": Attr("axis", 0), "reduction": _REDUCTION},
    infer=_scatter_elements_type,
    evaluate=_scatter_elements,
    loops=_scatter_elements_loops,
)


def _scatter_nd_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices, updates = types
    _check(types, "scatter_nd")
    depth = indices.shape[-1] if indices.rank else 0
    if not isinstance(depth, int) or not 1 <= depth <= x.rank:
        raise ValueError(f"scatter_nd: the last axis of {indices} must index 1 to {x.rank} axes")
    wanted = (*indices.shape[:-1], *x.shape[depth:])
    if updates.shape != wanted:
        raise ValueError(f"scatter_nd: updates must have shape {list(wanted)}, got {updates}")
    if product(x.shape[:depth]) == 0 and product(indices.shape) != 0:
        raise ValueError(f"scatter_nd: {x} holds nothing that {indices} could replace")
    return x


def _scatter_nd(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    x, indices, updates = arrays
    coordinates = zip(np.moveaxis(indices, -1, 0), x.shape, strict=False)
    where = tuple(counted(i, size) for i, size in coordinates)
    return _write(x, where, updates, attrs["reduction"])


def _scatter_nd_loops(out, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    *batch, depth = ins[1].dims

    def place(load, at: tuple[Affine, ...]):
        which, inside = at[: len(batch)], at[len(batch) :]
        coordinates = (load(1, *which, Affine((), axis)) for axis in range(depth))
        return (*map(wrapped, coordinates, out.dims[:depth]), *inside)

    return _forms(out, ins[2], attrs, place)


_scatter(
    "scatter_nd",
    "x with slices replaced: the last axis of the indices holds the coordinates of one slice",
    attrs={"reduction": _REDUCTION},
    infer=_scatter_nd_type,
    evaluate=_scatter_nd,
    loops=_scatter_nd_loops,
)
