"""Rows for contractions: multiply and accumulate, or combine, over windows or inner axes.

    %0 = matmul(%a, %b) : f32[8,16]              // a: f32[8,4], b: f32[4,16]
    ==>  out[m, n] = 0;  for k in 0..4:  out[m, n] += a[m, k] * b[k, n]

    %1 = conv(%x, %w) {strides = [2, 2], pads = [1, 1, 1, 1]} : f32[1,64,56,56]

Images are [n, c, h, w], filters [oc, c/groups, kh, kw]; `pads` lists all low sides, then all high
ones. The loop forms are those *without* padding: with padding, an op decomposes into `pad` and
itself, so that every index stays inside its buffer.

    %2 = matmul(%p, %q) {sums = "i32"} : i32[8,16]      // p: i8[8,4], q: i8[4,16]

Products of i8 are summed in i32 where `sums` says so; sums that leave their type wrap around, as in
hardware. Next room: `pooling.py`.

Reading path, 5 of 12; next: `passes/fusion/fuse.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from course_lib.ir.attributes import Attr, Attrs
from course_lib.ir.expr import Affine, Expr, LoopForm, call, cast
from course_lib.ir.graph.node import Node, apply
from course_lib.ir.ops.elementwise import broadcast, broadcast_index, same_dtype
from course_lib.ir.ops.window import WINDOW_ATTRS, Window, padded, positions_of, without_padding
from course_lib.ir.registry import Op, register
from course_lib.ir.types import DType, TensorType, dtype

V = Affine.var
ROWS = 1 << 24  # elements: of the windows that a convolution writes out at a time
SUMS = Attr("dtype", None)  # what sums of integers are kept in; None: the operands' type


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
    wide = _sum_type(a.dtype, attrs, "matmul")
    return TensorType(wide, (*batch, a.shape[-2], b.shape[-1]))


def _matmul(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    a, b = arrays
    wide = _sum_type(DType.of(a.dtype), attrs, "matmul").numpy
    return _as_sums(np.matmul(*_operands(a, b, a.shape[-1], wide)), wide)


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
            body=lambda load: product(load(0, *read_a), load(1, *read_b), out),
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
        attrs={"sums": SUMS},
        infer=_matmul_type,
        evaluate=_matmul,
        loops=_matmul_loops,
        flops=lambda out, ins, attrs: 2 * out.numel * ins[0].dims[-1],
    )
)


# ── convolution ──


def _conv_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    x, w = types
    same_dtype(types, "conv")
    groups = attrs["groups"]
    if groups < 1:
        raise ValueError(f"conv: groups start at 1, got {groups}")
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
    wide = _sum_type(x.dtype, attrs, "conv")
    return TensorType(wide, (x.shape[0], w.shape[0], *window.out(x.shape[2:], "conv")))


def _conv(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
    """im2col: every window becomes a row, then one matrix product for each group. So many rows are
    written out at a time that they take at most `ROWS` elements, however large the image is."""
    x, w = arrays
    wide = _sum_type(DType.of(x.dtype), attrs, "conv").numpy
    x, w = _operands(x, w, math.prod(w.shape[1:]), wide)
    groups, spatial, size = attrs["groups"], x.ndim - 2, math.prod(w.shape[1:])
    windows = Window.of(w.shape[2:], attrs, "conv").view(x, 0)  # [n, c, *out, *kernel]
    windows = np.moveaxis(windows, 1, 1 + spatial)  # [n, *out, c, *kernel]
    places = windows.shape[: 1 + spatial]  # [n, *out]
    filters = w.reshape(groups, len(w) // groups, size)
    sums = np.empty((math.prod(places), len(w)), np.result_type(x, w))
    step = max(1, ROWS // max(1, groups * size))
    for start in range(0, len(sums), step):
        some = np.arange(start, min(start + step, len(sums)))
        rows = windows[np.unravel_index(some, places)] if step < len(sums) else windows
        rows = rows.reshape(len(some), groups, size)
        parts = [rows[:, g] @ filters[g].T for g in range(groups)]  # [rows, oc/groups]
        sums[start : start + step] = np.concatenate(parts, axis=-1)
    return np.moveaxis(_as_sums(sums, wide).reshape(*places, len(w)), -1, 1)


def _conv_loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
    """Group g reads its own `c/groups` channels and writes its own `oc/groups`."""
    n, oc, *sizes = out.dims
    _, ic, *kernel = ins[1].dims
    groups = attrs["groups"]
    group = V("g") if groups > 1 else Affine()  # one group needs no loop
    grouped = tuple((v, groups) for v in group.vars)
    filter, channel = group * (oc // groups) + "oc", group * ic + "ic"
    window, positions = Window.of(kernel, attrs, "conv"), positions_of(sizes)
    source = (V("n"), channel, *window.reads())
    weight = (filter, V("ic"), *(V(k) for k, _ in window.loops))
    return [
        LoopForm(
            domain=(("n", n), *grouped, ("oc", oc // groups), *positions),
            write=(V("n"), filter, *(V(o) for o, _ in positions)),
            body=lambda load: product(load(0, *source), load(1, *weight), out),
            reduce=(("ic", ic), *window.loops),
            combine="add",
        )
    ]


def _conv_decompose(operands: Sequence[Node], attrs: Attrs) -> Node:
    """Padding made explicit."""
    x, w = operands
    window = Window.of(w.type.dims[2:], attrs, "conv")
    return apply("conv", padded(x, window, 0), w, **without_padding(attrs))


CONV = register(
    Op(
        name="conv",
        kind="contraction",
        arity=2,
        doc="convolution of x[n,c,...] with w[oc,c/groups,...] (cross-correlation, as in torch)",
        attrs={**WINDOW_ATTRS, "groups": Attr("int", 1, least=1), "sums": SUMS},
        infer=_conv_type,
        evaluate=_conv,
        loops=_conv_loops,
        decompose=_conv_decompose,
        # a multiplication and an addition for each number of the filter that makes a channel
        flops=lambda out, ins, attrs: 2 * out.numel * math.prod(ins[1].dims[1:]),
    )
)


# ── sums ──


def _sum_type(operand: DType, attrs: Attrs, what: str) -> DType:
    """The element type of the sums, and so of the result."""
    wide = dtype(attrs["sums"] or operand.name)
    if wide == operand:
        return wide
    if operand.kind not in ("int", "uint") or wide.kind != "int" or wide.size <= operand.size:
        raise ValueError(f"{what}: sums of {operand} cannot be kept in {wide}, but integers can be "
                         "summed in wider signed ones")  # fmt: skip
    return wide


def _operands(a: np.ndarray, b: np.ndarray, terms: int, wide: np.dtype) -> list[np.ndarray]:
    """The operands in the type in which numpy multiplies them: integers in the floats that hold
    every sum of so many terms exactly, if there are such, because only floats have a fast product.
    """
    if wide.kind not in "iu":
        return [a, b]
    largest = [max(int(x.max(initial=0)), -int(x.min(initial=0))) for x in (a, b)]
    bound = largest[0] * largest[1] * terms
    exact = [np.dtype(t) for t, bits in ((np.float32, 24), (np.float64, 53)) if bound < 2**bits]
    return [x.astype(exact[0] if exact else wide) for x in (a, b)]


def _as_sums(y: np.ndarray, wide: np.dtype) -> np.ndarray:
    """Whole numbers, perhaps as floats, in the type of the sums: they wrap around."""
    return y.astype(np.int64).astype(wide) if y.dtype != wide else y


def product(x: Expr, y: Expr, out: TensorType) -> Expr:
    """What a sum of the result adds at one point."""
    return call("mul", cast(x, out.dtype), cast(y, out.dtype))
