"""Rows for pooling: the largest element, or the sum, of each window of an image.

    %0 = max_pool(%x) {kernel = [2, 2], strides = [2, 2]} : f32[1,64,28,28]
    ==>  out[n, c, o0, o1] = max over k0, k1 of x[n, c, 2*o0 + k0, 2*o1 + k1]

With `layout`, operand and result lie in that layout. Next room: `movement.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.expr import Affine, LoopForm
from course_lib.ir.ops.layout import IMAGE, Coordinate, Layout, loops_over, rearranged, relaid
from course_lib.ir.ops.window import WINDOW_ATTRS, Window, padded, without_padding
from course_lib.ir.registry import REQUIRED, Attrs, Op, register
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import DType, TensorType

V = Affine.var


def pool_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """The result of a pooling without or with a `layout`."""
    layout = attrs.get("layout", IMAGE)
    if layout != IMAGE:
        plain = relaid(types[0], layout, IMAGE, "pool")
        return relaid(pool_type([plain], {**attrs, "layout": IMAGE}), IMAGE, layout, "pool")
    (x,) = types
    window = Window.of(attrs["kernel"], attrs, "pool")
    if x.rank != 2 + len(window.kernel):
        raise ValueError(f"pool: a window {list(window.kernel)} needs x[n,c,spatial...], got {x}")
    return x.with_shape((*x.shape[:2], *window.out(x.shape[2:], "pool")))


def _pool_loops(combine: str):
    def loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
        window = Window.of(attrs["kernel"], attrs, "pool")
        assert not window.padded, "decompose makes padding explicit before lowering"
        if attrs["layout"] != IMAGE:
            return [_in_layout(Layout.of(attrs["layout"]), out, window, combine)]
        spatial = tuple((f"o{axis}", size) for axis, size in enumerate(out.dims[2:]))
        reads = tuple(window.read(axis) for axis in range(len(spatial)))
        return [
            LoopForm(
                domain=(("n", out.dims[0]), ("c", out.dims[1]), *spatial),
                write=(V("n"), V("c"), *(V(v) for v, _ in spatial)),
                body=lambda load: load(0, V("n"), V("c"), *reads),
                reduce=window.loops,
                combine=combine,
            )
        ]

    return loops


def _in_layout(layout: Layout, out: TensorType, window: Window, combine: str) -> LoopForm:
    n, c = Coordinate(V("n")), Coordinate.over("c", layout.block("c"))
    write = {"n": n, "c": c, "h": Coordinate(V("o0")), "w": Coordinate(V("o1"))}
    read = {**write, "h": Coordinate(window.read(0)), "w": Coordinate(window.read(1))}
    return LoopForm(
        domain=loops_over(layout, write, layout.sizes(out, "pool")),
        write=layout.at(write),
        body=lambda load: load(0, *layout.at(read)),
        reduce=window.loops,
        combine=combine,
    )


def _pool(name: str, function, combine: str, doc: str) -> Op:
    def evaluate(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        if attrs["layout"] != IMAGE:
            plain = rearranged(arrays[0], attrs["layout"], IMAGE)
            pooled = evaluate([plain], {**attrs, "layout": IMAGE})
            return rearranged(pooled, IMAGE, attrs["layout"])
        (x,) = arrays
        window, dtype = Window.of(attrs["kernel"], attrs, name), DType.of(x.dtype)
        wide = x.astype(accumulator(dtype).numpy, copy=False)
        windows = window.view(wide, identity(combine, dtype))
        axes = tuple(range(-len(window.kernel), 0))
        return function(windows, axes, initial=identity(combine, dtype)).astype(x.dtype)

    def decompose(operands, attrs: Attrs):
        """Padding made explicit; without padding, what it is in the plain layout."""
        from course_lib.ir.graph.build import relayout
        from course_lib.ir.graph.node import apply

        (x,), layout = operands, attrs["layout"]
        window = Window.of(attrs["kernel"], attrs, name)
        border = identity(combine, x.type.dtype)
        if window.padded or layout == IMAGE:
            return apply(name, padded(x, window, border, layout), **without_padding(attrs))
        plain = apply(name, relayout(x, layout, IMAGE), **{**attrs, "layout": IMAGE})
        return relayout(plain, IMAGE, layout)

    return Op(
        name=name,
        kind="contraction",
        arity=1,
        doc=doc,
        attrs={"kernel": REQUIRED, **WINDOW_ATTRS, "layout": IMAGE},
        infer=pool_type,
        evaluate=evaluate,
        loops=_pool_loops(combine),
        decompose=decompose,
        flops=lambda out, ins, attrs: out.numel * math.prod(attrs["kernel"]),
    )


register(_pool("max_pool", np.max, "max", "the largest element of each window"))
register(_pool("sum_pool", np.sum, "add", "the sum of each window"))
