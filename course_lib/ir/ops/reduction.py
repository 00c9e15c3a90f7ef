"""Rows for reductions: many elements combined into one along some axes.

%0 = reduce_sum(%x) {axes = [1], keepdims = false} : f32[8]      // x: f32[8,4]
==>  out[i0] = 0;  for r1 in 0..4:  out[i0] += x[i0, r1]

Next room: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.registry import Op, normal_axes, normal_axis, register
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import DType, TensorType


def _infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (t,) = types
    axes = normal_axes(attrs["axes"], t.rank, "reduction")
    if attrs["keepdims"]:
        return t.with_shape(tuple(1 if a in axes else d for a, d in enumerate(t.shape)))
    return t.with_shape(tuple(d for a, d in enumerate(t.shape) if a not in axes))


def _loops(combine: str):
    def loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
        (t,) = ins
        axes = normal_axes(attrs["axes"], t.rank, "reduction")
        kept = [a for a in range(t.rank) if a not in axes]
        read = tuple(Affine.var(f"r{a}" if a in axes else f"i{a}") for a in range(t.rank))
        where = range(t.rank) if attrs["keepdims"] else kept
        write = tuple(Affine() if a in axes else Affine.var(f"i{a}") for a in where)
        return [
            LoopForm(
                domain=tuple((f"i{a}", t.dims[a]) for a in kept),
                write=write,
                body=lambda load: load(0, *read),
                reduce=tuple((f"r{a}", t.dims[a]) for a in axes),
                combine=combine,
            )
        ]

    return loops


def _row(name: str, function, combine: str, doc: str) -> Op:
    def evaluate(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        (x,) = arrays
        axes, dtype = normal_axes(attrs["axes"], x.ndim, name), DType.of(x.dtype)
        wide = x.astype(accumulator(dtype).numpy, copy=False)
        result = function(wide, axes, keepdims=attrs["keepdims"], initial=identity(combine, dtype))
        return np.asarray(result).astype(x.dtype)

    return Op(
        name=name,
        kind="reduction",
        arity=1,
        doc=doc,
        attrs={"axes": Attr("axes", None), "keepdims": Attr("bool", False)},
        infer=_infer,
        evaluate=evaluate,
        loops=_loops(combine),
        flops=lambda out, ins, attrs: ins[0].numel,
    )


register(_row("reduce_sum", np.sum, "add", "the sum along axes (None: all)"))
register(_row("reduce_prod", np.prod, "mul", "the product along axes (None: all)"))
register(_row("reduce_max", np.max, "max", "the largest along axes (None: all)"))
register(_row("reduce_min", np.min, "min", "the smallest along axes (None: all)"))


def _cumsum_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    normal_axis(attrs["axis"], types[0].rank, "cumsum")
    return types[0]


def _cumsum(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    (x,) = arrays
    axis = normal_axis(attrs["axis"], x.ndim, "cumsum")
    x = np.flip(x, axis) if attrs["reverse"] else x
    if attrs["exclusive"]:  # a zero enters in front, the last one leaves
        x = np.insert(np.delete(x, -1, axis), 0, 0, axis) if x.shape[axis] else x
    total = np.cumsum(x, axis, accumulator(DType.of(x.dtype)).numpy).astype(x.dtype)
    return np.flip(total, axis).copy() if attrs["reverse"] else total


def _cumsum_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """A sum that goes along the axis and leaves what it is by then at each place."""
    axis = normal_axis(attrs["axis"], out.rank, "cumsum")
    r = Affine.var("r")
    step = r * -1 + (out.dims[axis] - 1) if attrs["reverse"] else r
    at = tuple(step if a == axis else Affine.var(f"i{a}") for a in range(out.rank))
    return [
        LoopForm(
            domain=tuple((f"i{a}", n) for a, n in enumerate(out.dims) if a != axis),
            write=at,
            body=lambda load: load(0, *at),
            reduce=(("r", out.dims[axis]),),
            combine="add",
            running="before" if attrs["exclusive"] else "after",
        )
    ]


register(
    Op(
        name="cumsum",
        kind="reduction",
        arity=1,
        doc="running sums along an axis",
        attrs={
            "axis": Attr("axis"),
            "exclusive": Attr("bool", False),
            "reverse": Attr("bool", False),
        },
        infer=_cumsum_type,
        evaluate=_cumsum,
        loops=_cumsum_loops,
        flops=lambda out, ins, attrs: out.numel,
    )
)
