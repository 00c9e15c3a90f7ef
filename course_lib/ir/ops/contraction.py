"""Rows for contractions: multiply and accumulate, or combine, over windows or inner axes.

    %0 = matmul(%a, %b) : f32[8,16]              // a: f32[8,4], b: f32[4,16]
    ==>  out[m, n] = 0;  for k in 0..4:  out[m, n] += a[m, k] * b[k, n]

    %1 = conv(%x, %w) {strides = [2, 2], pads = [1, 1, 1, 1]} : f32[1,64,56,56]

Images are [n, c, h, w], weights [oc, ic/groups, kh, kw]; `pads` lists all low sides, then all high
ones. The loop forms are those *without* padding: with padding, an op decomposes into `pad` and
itself, so that every index stays inside its buffer. Next room: `movement.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.expr import Affine, LoopForm, call
from course_lib.ir.graph.node import Node
from course_lib.ir.ops.elementwise import broadcast, broadcast_index, same_dtype
from course_lib.ir.ops.layout import (
    FILTER,
    IMAGE,
    Coordinate,
    Layout,
    loops_over,
    rearranged,
    relaid,
)
from course_lib.ir.ops.window import WINDOW_ATTRS, Window, padded, without_padding
from course_lib.ir.registry import Attrs, Op, register
from course_lib.ir.types import TensorType

V = Affine.var


# ── matmul ──


def _matmul_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    a, b = types
    same_dtype(types, "matmul")
    if a.rank < 2 or b.rank < 2:
        raise ValueError(f"matmul: both operands need at least two axes, got {a} and {b}")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"matmul: inner sizes differ: {a} has k = {a.shape[-1]}, {b} has k = {b.shape[-2]}"
        )
    batch = broadcast([a.shape[:-2], b.shape[:-2]], "matmul")
    return TensorType(a.dtype, (*batch, a.shape[-2], b.shape[-1]))


def _matmul_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    a, b = ins
    batch = tuple((f"b{axis}", size) for axis, size in enumerate(out.dims[:-2]))
    at = tuple(V(v) for v, _ in batch)
    read_a = (*broadcast_index(a.shape[:-2], at), V("m"), V("k"))
    read_b = (*broadcast_index(b.shape[:-2], at), V("k"), V("n"))
    return [
        LoopForm(
            domain=(*batch, ("m", out.dims[-2]), ("n", out.dims[-1])),
            write=(*at, V("m"), V("n")),
            body=lambda load: call("mul", load(0, *read_a), load(1, *read_b)),
            reduce=(("k", a.dims[-1]),),
            combine="add",
        )
    ]


register(
    Op(
        name="matmul",
        kind="contraction",
        arity=2,
        doc="matrix product of the last two axes; the axes before them broadcast",
        infer=_matmul_type,
        evaluate=lambda arrays, attrs: np.matmul(*arrays),
        loops=_matmul_loops,
        flops=lambda out, ins, attrs: 2 * out.numel * ins[0].dims[-1],
    )
)


# ── convolution ──


def _conv_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    if attrs["layouts"]:
        x, w, out = conv_layouts(types, attrs)
        plain = [relaid(types[0], x, IMAGE, "conv"), relaid(types[1], w, FILTER, "conv")]
        return relaid(_conv_type(plain, in_plain_layouts(attrs)), IMAGE, out, "conv")
    x, w = types
    same_dtype(types, "conv")
    groups = attrs["groups"]
    if x.rank < 3 or x.rank != w.rank:
        raise ValueError(f"conv: needs x[n,c,spatial...] and w[oc,ic,kernel...], got {x} and {w}")
    if x.shape[1] != w.shape[1] * groups:
        raise ValueError(
            f"conv: {x} has {x.shape[1]} channels, the weights {w} with {groups} groups "
            f"read {w.shape[1] * groups}"
        )
    if isinstance(w.shape[0], int) and w.shape[0] % groups:
        raise ValueError(f"conv: {w.shape[0]} output channels do not divide into {groups} groups")
    window = Window.of(w.shape[2:], attrs, "conv")
    return TensorType(x.dtype, (x.shape[0], w.shape[0], *window.out(x.shape[2:], "conv")))


def _conv(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    """im2col: every window becomes a column, then one matrix product for each group."""
    if attrs["layouts"]:
        x, w, out = attrs["layouts"]
        plain = [rearranged(arrays[0], x, IMAGE), rearranged(arrays[1], w, FILTER)]
        return rearranged(_conv(plain, in_plain_layouts(attrs)), IMAGE, out)
    x, w = arrays
    groups = attrs["groups"]
    windows = Window.of(w.shape[2:], attrs, "conv").view(x, 0)
    rank = x.ndim - 2
    n, out = x.shape[0], windows.shape[2 : 2 + rank]
    # [n, c, *out, *kernel] -> [n, *out, c, *kernel], so that a group's column is contiguous
    order = (0, *range(2, 2 + rank), 1, *range(2 + rank, 2 + 2 * rank))
    size = math.prod(w.shape[1:])
    columns = windows.transpose(order).reshape(n, math.prod(out), groups, size)
    weights = w.reshape(groups, w.shape[0] // groups, size)
    parts = [columns[:, :, g] @ weights[g].T for g in range(groups)]
    return np.concatenate(parts, axis=-1).swapaxes(1, 2).reshape(n, w.shape[0], *out)


def _conv_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    if attrs["layouts"]:
        return [_conv_in_layouts(out, ins, attrs)]
    w = ins[1]
    window = Window.of(w.dims[2:], attrs, "conv")
    assert not window.padded, "decompose makes padding explicit before lowering"
    groups, in_group, out_group = attrs["groups"], w.dims[1], w.dims[0] // attrs["groups"]
    spatial = tuple((f"o{axis}", size) for axis, size in enumerate(out.dims[2:]))
    grouped = (("g", groups),) if groups > 1 else ()
    group = V("g") if groups > 1 else Affine()
    oc, ic = group * out_group + "oc", group * in_group + "ic"
    kernel = tuple(V(v) for v, _ in window.loops)
    reads = tuple(window.read(axis) for axis in range(len(spatial)))
    return [
        LoopForm(
            domain=(("n", out.dims[0]), *grouped, ("oc", out_group), *spatial),
            write=(V("n"), oc, *(V(v) for v, _ in spatial)),
            body=lambda load: call(
                "mul", load(0, V("n"), ic, *reads), load(1, oc, V("ic"), *kernel)
            ),
            reduce=(("ic", in_group), *window.loops),
            combine="add",
        )
    ]


def conv_layouts(types: Sequence[TensorType], attrs: Attrs) -> tuple[str, str, str]:
    """The layouts of a convolution's operands and result; ValueError if it cannot run in them."""
    if len(attrs["layouts"]) != 3:
        raise ValueError(f"conv: layouts are those of x, w and the result, got {attrs['layouts']}")
    x, w, out = attrs["layouts"]
    image, filters, result = Layout.of(x), Layout.of(w), Layout.of(out)
    for layout, axes in ((image, IMAGE), (filters, FILTER), (result, IMAGE)):
        if sorted(layout.axes) != sorted(axes):
            raise ValueError(f"conv: {layout} does not have the axes {axes}")
    groups, sizes = attrs["groups"], filters.sizes(types[1], "conv")
    depthwise = groups == sizes["o"] and sizes["i"] == 1
    pairs = [(result.block("c"), filters.block("o"), "the result and the filters")]
    if depthwise:
        pairs.append((image.block("c"), result.block("c"), "a depthwise operand and its result"))
    elif groups > 1:
        raise ValueError(f"conv: {groups} groups of several channels run in nchw only, not in {x}")
    else:
        pairs.append((image.block("c"), filters.block("i"), "the operand and the filters"))
    for a, b, what in pairs:
        if 1 not in (a, b) and a != b:
            raise ValueError(
                f"conv: {what} have channels in blocks of {a} and {b}: {x}, {w}, {out}"
            )
    return x, w, out


def plain_types(conv: Node) -> tuple[TensorType, TensorType]:
    """What the result [n, c, h, w] and the filters [oc, ic, kh, kw] of a convolution would be in
    the plain layouts."""
    out, w = conv.type, conv.inputs[1].type
    if not conv.attrs["layouts"]:
        return out, w
    _, in_filters, in_out = conv.attrs["layouts"]
    return relaid(out, in_out, IMAGE), relaid(w, in_filters, FILTER)


def in_plain_layouts(attrs: Attrs) -> dict:
    return {**attrs, "layouts": None}


def _conv_in_layouts(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> LoopForm:
    """Loops over the result in the order of its layout, over a window in that of the filters.

    If the filters are larger than the image, the channels come first: so a block of filters stays
    in the cache while all pixels pass, instead of all filters for each row of pixels.
    """
    x, w, y = (Layout.of(layout) for layout in attrs["layouts"])
    sizes, filters = y.sizes(out, "conv"), w.sizes(ins[1], "conv")
    window = Window.of([filters["h"], filters["w"]], attrs, "conv")
    assert not window.padded, "decompose makes padding explicit before lowering"
    depthwise = attrs["groups"] > 1
    o = Coordinate.over("oc", max(y.block("c"), w.block("o")))
    i = Coordinate.over("ic", 1 if depthwise else max(x.block("c"), w.block("i")))
    n, oh, ow, kh, kw = (Coordinate(V(v)) for v in ("n", "o0", "o1", "k0", "k1"))
    result = {"n": n, "c": o, "h": oh, "w": ow}
    inside = {"i": i, "h": kh, "w": kw}
    source = {"n": n, "c": o if depthwise else i}
    source |= {"h": Coordinate(window.read(0)), "w": Coordinate(window.read(1))}
    order = Layout(IMAGE, y.blocks) if ins[1].nbytes > ins[0].nbytes else y
    return LoopForm(
        domain=loops_over(order, result, sizes),
        write=y.at(result),
        body=lambda load: call("mul", load(0, *x.at(source)), load(1, *w.at({"o": o, **inside}))),
        reduce=loops_over(w, inside, filters),
        combine="add",
    )


def _conv_decompose(operands, attrs: Attrs):
    """Padding made explicit; without padding, what it is in plain layouts."""
    from course_lib.ir.graph.build import relayout
    from course_lib.ir.graph.node import apply

    x, w = operands
    layouts = attrs["layouts"] or (IMAGE, FILTER, IMAGE)
    kernel = w.type.dims[2:]
    if attrs["layouts"]:
        sizes = Layout.of(layouts[1]).sizes(w.type, "conv")
        kernel = (sizes["h"], sizes["w"])
    window = Window.of(kernel, attrs, "conv")
    if window.padded or not attrs["layouts"]:
        return apply("conv", padded(x, window, 0, layouts[0]), w, **without_padding(attrs))
    plain = [relayout(x, layouts[0], IMAGE), relayout(w, layouts[1], FILTER)]
    return relayout(apply("conv", *plain, **in_plain_layouts(attrs)), IMAGE, layouts[2])


def _conv_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    """A multiplication and an addition for each number of the filter that makes a channel."""
    w = relaid(ins[1], attrs["layouts"][1], FILTER) if attrs["layouts"] else ins[1]
    return 2 * out.numel * math.prod(w.dims[1:])


register(
    Op(
        name="conv",
        kind="contraction",
        arity=2,
        doc="convolution of x[n,c,...] with w[oc,c/groups,...] (cross-correlation, as in torch)",
        attrs={**WINDOW_ATTRS, "groups": 1, "layouts": None},
        infer=_conv_type,
        evaluate=_conv,
        loops=_conv_loops,
        decompose=_conv_decompose,
        flops=_conv_flops,
    )
)
