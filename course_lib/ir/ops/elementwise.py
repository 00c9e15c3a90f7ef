"""Rows for elementwise ops: one result element from one element of each operand.

    %0 = add(%x, %b) : f32[8,4]      // x: f32[8,4], b: f32[4]; shapes broadcast as in numpy
    ==>  out[i0, i1] = x[i0, i1] + b[i1]

Every scalar function of `scalar.py` is such an op; `select` and `cast` are added here. Broadcasting
costs nothing: a size that is 1 in the operand gives the index 0. Next room: `reduction.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm, call, cast
from course_lib.ir.registry import Op, register
from course_lib.ir.scalar import SCALARS, Scalar, convert
from course_lib.ir.types import Dim, TensorType, bool_, dtype


def broadcast(shapes: Sequence[tuple[Dim, ...]], what: str) -> tuple[Dim, ...]:
    """The common shape under numpy's rule: align at the right, a 1 stretches."""
    if len(set(shapes)) == 1:
        return shapes[0]
    rank = max((len(s) for s in shapes), default=0)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        wide = [d for d in dict.fromkeys(sizes) if d != 1] or [1]
        if len(wide) > 1:
            raise ValueError(
                f"{what}: shapes {' and '.join(map(str, shapes))} do not broadcast: "
                f"axis {axis} has sizes {wide[0]} and {wide[1]}"
            )
        result.append(wide[0])
    return tuple(result)


def broadcast_index(shape: tuple[Dim, ...], point: Sequence[Affine]) -> tuple[Affine, ...]:
    """Where an operand of this shape is read for the result element at `point`."""
    inner = point[len(point) - len(shape) :]
    return tuple(Affine() if size == 1 else i for size, i in zip(shape, inner, strict=True))


def same_dtype(types: Sequence[TensorType], what: str) -> None:
    if len({t.dtype for t in types}) > 1:
        names = ", ".join(str(t.dtype) for t in types)
        raise ValueError(f"{what}: operands must have one element type, got {names}; use cast")


def point(out: TensorType) -> tuple[tuple[tuple[str, int], ...], tuple[Affine, ...]]:
    """One loop for each axis of the result, and the index that they form together."""
    domain = tuple((f"i{axis}", size) for axis, size in enumerate(out.dims))
    return domain, tuple(Affine.var(var) for var, _ in domain)


def row(scalar: Scalar) -> Op:
    def infer(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        same_dtype(types, scalar.name)
        if types[0].dtype.kind not in scalar.accepts:
            wanted = " or ".join(scalar.accepts)
            raise ValueError(f"{scalar.name} works on {wanted} tensors, got {types[0]}")
        shape = broadcast([t.shape for t in types], scalar.name)
        if shape == types[0].shape and scalar.result != "bool":
            return types[0]
        return TensorType(bool_ if scalar.result == "bool" else types[0].dtype, shape)

    def evaluate(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        result = np.asarray(scalar.numpy(*arrays))
        return result.astype(np.bool_ if scalar.result == "bool" else arrays[0].dtype, copy=False)

    def loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
        domain, at = point(out)
        return [
            LoopForm(
                domain,
                at,
                lambda load: call(
                    scalar.name,
                    *(load(k, *broadcast_index(t.shape, at)) for k, t in enumerate(ins)),
                ),
            )
        ]

    return Op(
        name=scalar.name,
        kind="elementwise",
        arity=scalar.arity,
        doc=scalar.doc,
        infer=infer,
        evaluate=evaluate,
        loops=loops,
        flops=lambda out, ins, attrs: out.numel * scalar.flops,
    )


for _scalar in SCALARS.values():
    register(row(_scalar))


def _select_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    condition, *values = types
    if condition.dtype != bool_:
        raise ValueError(f"select: the condition must be bool, got {condition}")
    same_dtype(values, "select")
    return TensorType(values[0].dtype, broadcast([t.shape for t in types], "select"))


def _select_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain, at = point(out)

    def body(load):
        c, a, b = (load(k, *broadcast_index(t.shape, at)) for k, t in enumerate(ins))
        return call("select", c, a, b)

    return [LoopForm(domain, at, body)]


register(
    Op(
        name="select",
        kind="elementwise",
        arity=3,
        doc="a where the condition holds, else b",
        infer=_select_type,
        evaluate=lambda arrays, attrs: np.where(*arrays),
        loops=_select_loops,
        flops=lambda out, ins, attrs: 0,
    )
)


def _cast_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain, at = point(out)
    return [LoopForm(domain, at, lambda load: cast(load(0, *at), out.dtype))]


def _cast(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    with np.errstate(invalid="ignore", over="ignore"):
        return convert(arrays[0], dtype(attrs["dtype"]))


register(
    Op(
        name="cast",
        kind="elementwise",
        arity=1,
        doc="the same numbers as another element type; to integers: truncated, saturated, NaN 0",
        attrs={"dtype": Attr("dtype")},
        infer=lambda types, attrs: TensorType(dtype(attrs["dtype"]), types[0].shape),
        evaluate=_cast,
        loops=_cast_loops,
        flops=lambda out, ins, attrs: 0,
    )
)
