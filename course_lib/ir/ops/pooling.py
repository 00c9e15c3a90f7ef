"""Rows for pooling: the largest element, or the sum, of each window of an image.

    %0 = max_pool(%x) {kernel = [2, 2], strides = [2, 2]} : f32[1,64,28,28]
    ==>  out[n, c, o0, o1] = max over k0, k1 of x[n, c, 2*o0 + k0, 2*o1 + k1]

Next room: `layout.py`, then `in_layout.py`: the same for images that lie otherwise in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.window import WINDOW_ATTRS, Window, padded, positions_of, without_padding
from course_lib.ir.registry import Op, register
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import DType, TensorType

V = Affine.var


def pool_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """The result of a pooling of x[n, c, spatial...]; ValueError if the window does not fit."""
    (x,) = types
    window = Window.of(attrs["kernel"], attrs, "pool")
    if x.rank != 2 + len(window.kernel):
        raise ValueError(f"pool: a window {list(window.kernel)} needs x[n,c,spatial...], got {x}")
    return x.with_shape((*x.shape[:2], *window.out(x.shape[2:], "pool")))


def _pool(
    function: Callable[..., np.ndarray], combine: str, arrays: Sequence[np.ndarray], attrs: Attrs
) -> np.ndarray:
    (x,) = arrays
    window, dtype = Window.of(attrs["kernel"], attrs, "pool"), DType.of(x.dtype)
    start = identity(combine, dtype)
    windows = window.view(x.astype(accumulator(dtype).numpy, copy=False), start)
    inside = tuple(range(-len(window.kernel), 0))
    return function(windows, inside, initial=start).astype(x.dtype)


def _pool_loops(
    combine: str, out: TensorType, ins: Sequence[TensorType], attrs: Attrs
) -> list[LoopForm]:
    n, c, *sizes = out.dims
    window, positions = Window.of(attrs["kernel"], attrs, "pool"), positions_of(sizes)
    return [
        LoopForm(
            domain=(("n", n), ("c", c), *positions),
            write=(V("n"), V("c"), *(V(o) for o, _ in positions)),
            body=lambda load: load(0, V("n"), V("c"), *window.reads()),
            reduce=window.loops,
            combine=combine,
        )
    ]


def _pool_decompose(name: str, combine: str, operands: Sequence[Node], attrs: Attrs) -> Node:
    """Padding made explicit, with what changes no result: -inf for a maximum, 0 for a sum."""
    (x,) = operands
    window = Window.of(attrs["kernel"], attrs, name)
    border = identity(combine, x.type.dtype)
    return apply(name, padded(x, window, border), **without_padding(attrs))


def _row(name: str, function: Callable[..., np.ndarray], combine: str, doc: str) -> Op:
    return Op(
        name=name,
        kind="contraction",
        arity=1,
        doc=doc,
        attrs={"kernel": Attr("ints", least=1), **WINDOW_ATTRS},
        infer=pool_type,
        evaluate=partial(_pool, function, combine),
        loops=partial(_pool_loops, combine),
        decompose=partial(_pool_decompose, name, combine),
        flops=lambda out, ins, attrs: out.numel * math.prod(attrs["kernel"]),
    )


MAX_POOL = register(_row("max_pool", np.max, "max", "the largest element of each window"))
SUM_POOL = register(_row("sum_pool", np.sum, "add", "the sum of each window"))
