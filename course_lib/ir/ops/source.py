"""Rows for where values come from, and for graphs inside a node.

%w = constant dense<[1.0, 2.0]> : f32[2]
%i = iota() {shape = [4], axis = 0, dtype = "i64"} : i64[4]      // 0 1 2 3
%y = fused(%x) {kind = "elementwise", body = graph @relu_add(...) {...}} : f32[4]

Next room: `scan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, Iter, LoopForm, cast
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.registry import Op, flops, no_flops, normal_axis, register
from course_lib.ir.types import TensorType, dtype, type_of


def _never(*args: object) -> np.ndarray:
    raise AssertionError("inputs have no meaning of their own: the caller gives their values")


register(
    Op(
        name="input",
        kind="source",
        arity=0,
        doc="a value that the caller gives",
        infer=_never,  # type: ignore[arg-type]
        evaluate=_never,
        flops=no_flops,
    )
)

register(
    Op(
        name="constant",
        kind="source",
        arity=0,
        doc="a value known at compile time, such as a weight",
        attrs={"value": Attr("array")},
        infer=lambda types, attrs: type_of(attrs["value"]),
        evaluate=lambda arrays, attrs: attrs["value"],
        flops=no_flops,
    )
)


def _iota_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    normal_axis(attrs["axis"], len(attrs["shape"]), "iota")
    if attrs["dtype"] == "bool":
        raise ValueError("iota counts: it needs a number type, got bool")
    return TensorType(dtype(attrs["dtype"]), attrs["shape"])


def _iota(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    shape, axis = tuple(attrs["shape"]), normal_axis(attrs["axis"], len(attrs["shape"]), "iota")
    along = np.arange(shape[axis]).astype(dtype(attrs["dtype"]).numpy)
    return np.broadcast_to(along.reshape([-1] + [1] * (len(shape) - axis - 1)), shape).copy()


def _iota_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    domain = tuple((f"i{d}", n) for d, n in enumerate(out.dims))
    along = Affine.var(f"i{normal_axis(attrs['axis'], out.rank, 'iota')}")
    write = tuple(Affine.var(v) for v, _ in domain)
    return [LoopForm(domain, write, lambda load: cast(Iter(along), out.dtype))]


register(
    Op(
        name="iota",
        kind="source",
        arity=0,
        doc="0, 1, 2, ... along one axis",
        attrs={"shape": Attr("sizes"), "axis": Attr("axis", 0), "dtype": Attr("dtype", "i64")},
        infer=_iota_type,
        evaluate=_iota,
        loops=_iota_loops,
        flops=no_flops,
    )
)


def _fused_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    body = attrs["body"]
    wanted = [n.type for n in body.inputs]
    if list(types) != wanted:
        raise ValueError(f"fused: the body takes {wanted}, got operands {list(types)}")
    if len(body.outputs) != 1:
        raise ValueError(f"fused: the body must have one output, it has {len(body.outputs)}")
    return body.outputs[0].type


def _fused(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    return run(attrs["body"], list(arrays))[0]


def _fused_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return sum(flops(node) for node in attrs["body"].ops)


register(
    Op(
        name="fused",
        kind="control",
        arity=(0, None),
        doc="a group of ops that becomes one kernel; `body` is the group as a graph",
        attrs={"body": Attr("graph"), "kind": Attr("string", "elementwise")},
        infer=_fused_type,
        evaluate=_fused,
        flops=_fused_flops,
    )
)
