"""Rows for gather: movement whose index is itself data.

    %0 = gather(%x, %i) {axis = 0} : f32[3,8]     // x: f32[50,8], i: i64[3]
    ==>  out[i0, i1] = x[i[i0], i1]

The loop form reads an element at an index that another load gives. A negative index counts from the
end; one that is outside the axis is an error at every level. Next room: `scatter.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import LoopForm, call, cast, literal
from course_lib.ir.ops.elementwise import point
from course_lib.ir.registry import Op, no_flops, normal_axis, register
from course_lib.ir.types import Sym, TensorType, i64, product


def wrapped(index, size: int):
    """A negative index counts from the end (an expression)."""
    index = cast(index, i64)
    from_end = call("add", index, literal(size, i64))
    return call("select", call("lt", index, literal(0, i64)), from_end, index)


def counted(indices: np.ndarray, size: int) -> np.ndarray:
    """The same in numpy; IndexError for one outside -size .. size-1. Wide first: an i8 cannot hold
    the sum, a u64 cannot be negative."""
    indices = indices.astype(np.int64)
    outside = indices[(indices < -size) | (indices >= size)]
    if outside.size:
        raise IndexError(f"index {outside[0]} is outside {-size} .. {size - 1}")
    return np.where(indices < 0, indices + size, indices)


def check_indices(t: TensorType, what: str) -> None:
    if t.dtype.kind not in ("int", "uint"):
        raise ValueError(f"{what}: indices must be integers, got {t}")


def check_reach(x: TensorType, indices: TensorType, axis: int, what: str) -> None:
    """Indices along an axis of x, one for each element of their own shape: do the others fit?"""
    if x.rank != indices.rank:
        raise ValueError(f"{what}: {x} and {indices} must have the same rank")
    for a, (have, asked) in enumerate(zip(x.shape, indices.shape, strict=True)):
        if a == axis:
            outside = have == 0 and asked != 0
        elif isinstance(have, Sym) or isinstance(asked, Sym):
            outside = have != asked
        else:
            outside = asked > have
        if outside:
            raise ValueError(f"{what}: {indices} reaches beyond {x} along axis {a}")


def _gather_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices = types
    check_indices(indices, "gather")
    axis = normal_axis(attrs["axis"], x.rank, "gather")
    if x.shape[axis] == 0 and product(indices.shape) != 0:
        raise ValueError(f"gather: axis {axis} of {x} holds nothing to pick")
    return x.with_shape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _gather_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    x, indices = ins
    axis = normal_axis(attrs["axis"], x.rank, "gather")
    domain, at = point(out)
    before, where, after = at[:axis], at[axis : axis + indices.rank], at[axis + indices.rank :]

    def body(load):
        return load(0, *before, wrapped(load(1, *where), x.dims[axis]), *after)

    return [LoopForm(domain, at, body)]


register(
    Op(
        name="gather",
        kind="movement",
        flops=no_flops,
        doc="slices of x along an axis, picked by integer indices; outside the axis is an error",
        arity=2,
        attrs={"axis": Attr("axis", 0)},
        infer=_gather_type,
        evaluate=lambda arrays, attrs: np.take(
            arrays[0], counted(arrays[1], arrays[0].shape[attrs["axis"]]), axis=attrs["axis"]
        ),
        loops=_gather_loops,
    )
)


def _gather_elements_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, indices = types
    check_indices(indices, "gather_elements")
    axis = normal_axis(attrs["axis"], x.rank, "gather_elements")
    check_reach(x, indices, axis, "gather_elements")
    return x.with_shape(indices.shape)


def _gather_elements(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    x, indices = arrays
    axis = normal_axis(attrs["axis"], x.ndim, "gather_elements")
    inner = tuple(slice(0, n) if a != axis else slice(None) for a, n in enumerate(indices.shape))
    return np.take_along_axis(x[inner], counted(indices, x.shape[axis]), axis)


def _gather_elements_loops(out, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    x, _ = ins
    axis = normal_axis(attrs["axis"], x.rank, "gather_elements")
    domain, at = point(out)

    def body(load):
        picked = wrapped(load(1, *at), x.dims[axis])
        return load(0, *(picked if a == axis else i for a, i in enumerate(at)))

    return [LoopForm(domain, at, body)]


register(
    Op(
        name="gather_elements",
        kind="movement",
        flops=no_flops,
        doc="one element of x for each index, along an axis; outside it is an error",
        arity=2,
        attrs={"axis": Attr("axis", 0)},
        infer=_gather_elements_type,
        evaluate=_gather_elements,
        loops=_gather_elements_loops,
    )
)
