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
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from course_lib.ir.expr import Affine, LoopForm, call
from course_lib.ir.ops import REQUIRED, Attrs, Op, register
from course_lib.ir.rows.elementwise import broadcast, broadcast_index, same_dtype
from course_lib.ir.scalar import accumulator, identity
from course_lib.ir.types import Dim, DType, TensorType
from course_lib.ir.windows import positions

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


# ── windows: what convolution and pooling share ──


@dataclass(frozen=True)
class Window:
    """How a window slides over the spatial axes. One entry per spatial axis everywhere."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    dilations: tuple[int, ...]

    @staticmethod
    def of(kernel: Sequence[Dim], attrs: Attrs, what: str) -> Window:
        rank = len(kernel)
        strides = tuple(attrs["strides"] or [1] * rank)
        pads = tuple(attrs["pads"] or [0] * (2 * rank))
        dilations = tuple(attrs["dilations"] or [1] * rank)
        for name, given, wanted in (
            ("strides", strides, rank),
            ("pads", pads, 2 * rank),
            ("dilations", dilations, rank),
        ):
            if len(given) != wanted:
                raise ValueError(f"{what}: {name} needs {wanted} numbers, got {list(given)}")
        if min((*strides, *dilations), default=1) < 1 or min(pads, default=0) < 0:
            raise ValueError(f"{what}: strides and dilations start at 1, pads at 0")
        sizes = tuple(int(k) for k in kernel)  # type: ignore[arg-type]
        return Window(sizes, strides, pads[:rank], pads[rank:], dilations)

    @property
    def padded(self) -> bool:
        return any(self.low) or any(self.high)

    def out(self, spatial: Sequence[Dim], what: str) -> tuple[Dim, ...]:
        """Result sizes: how many positions the window has along each axis."""
        sizes: list[Dim] = []
        for axis, size in enumerate(spatial):
            if not isinstance(size, int):
                raise ValueError(f"{what}: the spatial size {size} must be a number, not a symbol")
            low, high, dilation = self.low[axis], self.high[axis], self.dilations[axis]
            count = positions(size, self.kernel[axis], self.strides[axis], dilation, low, high)
            if count < 1:
                reach = dilation * (self.kernel[axis] - 1) + 1
                raise ValueError(
                    f"{what}: a window of {reach} does not fit into {size} "
                    f"(padding {low} + {high}) along spatial axis {axis}"
                )
            sizes.append(count)
        return tuple(sizes)

    def read(self, axis: int) -> Affine:
        """The input coordinate along a spatial axis, for output `o<axis>` and window `k<axis>`."""
        return V(f"o{axis}") * self.strides[axis] + V(f"k{axis}") * self.dilations[axis]

    def view(self, x: np.ndarray, fill: float | int | bool) -> np.ndarray:
        """All windows: [n, c, *out, *kernel], padded with `fill`; a view, no copy of windows."""
        widths = [(0, 0), (0, 0), *zip(self.low, self.high, strict=True)]
        x = np.pad(x, widths, constant_values=fill) if self.padded else x
        axes = tuple(range(2, x.ndim))
        reach = tuple(d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel, strict=True))
        windows = sliding_window_view(x, reach, axes)  # type: ignore[call-overload]
        steps = [slice(None), slice(None)]
        steps += [slice(None, None, s) for s in self.strides]
        steps += [slice(None, None, d) for d in self.dilations]
        return windows[tuple(steps)]

    @property
    def loops(self) -> tuple[tuple[str, int], ...]:
        return tuple((f"k{axis}", size) for axis, size in enumerate(self.kernel))


WINDOW_ATTRS = {"strides": None, "pads": None, "dilations": None}


def without_padding(attrs: Attrs) -> dict:
    return {**attrs, "pads": None}


def padded(x, window: Window, value: float):
    """`x` with the window's padding made explicit (a node)."""
    from course_lib.ir.build import apply

    if not window.padded:
        return x
    low, high = (0, 0, *window.low), (0, 0, *window.high)
    return apply("pad", x, low=low, high=high, value=value)


# ── convolution ──


def _conv_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
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


def _conv_decompose(operands, attrs: Attrs):
    from course_lib.ir.build import apply

    x, w = operands
    window = Window.of(w.type.dims[2:], attrs, "conv")
    return apply("conv", padded(x, window, 0), w, **without_padding(attrs))


def _conv_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return 2 * out.numel * math.prod(ins[1].dims[1:])


register(
    Op(
        name="conv",
        kind="contraction",
        arity=2,
        doc="convolution of x[n,c,...] with w[oc,c/groups,...] (cross-correlation, as in torch)",
        attrs={**WINDOW_ATTRS, "groups": 1},
        infer=_conv_type,
        evaluate=_conv,
        loops=_conv_loops,
        decompose=_conv_decompose,
        flops=_conv_flops,
    )
)


# ── pooling ──


def _pool_type(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    (x,) = types
    window = Window.of(attrs["kernel"], attrs, "pool")
    if x.rank != 2 + len(window.kernel):
        raise ValueError(f"pool: a window {list(window.kernel)} needs x[n,c,spatial...], got {x}")
    return x.with_shape((*x.shape[:2], *window.out(x.shape[2:], "pool")))


def _pool_loops(combine: str):
    def loops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> list[LoopForm]:
        window = Window.of(attrs["kernel"], attrs, "pool")
        assert not window.padded, "decompose makes padding explicit before lowering"
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


def _pool(name: str, function, combine: str, doc: str) -> Op:
    def evaluate(arrays: Sequence[np.ndarray], attrs: Attrs) -> np.ndarray:
        (x,) = arrays
        window, dtype = Window.of(attrs["kernel"], attrs, name), DType.of(x.dtype)
        wide = x.astype(accumulator(dtype).numpy, copy=False)
        windows = window.view(wide, identity(combine, dtype))
        axes = tuple(range(-len(window.kernel), 0))
        return function(windows, axes, initial=identity(combine, dtype)).astype(x.dtype)

    def decompose(operands, attrs: Attrs):
        from course_lib.ir.build import apply

        (x,) = operands
        window = Window.of(attrs["kernel"], attrs, name)
        border = identity(combine, x.type.dtype)
        return apply(name, padded(x, window, border), **without_padding(attrs))

    return Op(
        name=name,
        kind="contraction",
        arity=1,
        doc=doc,
        attrs={"kernel": REQUIRED, **WINDOW_ATTRS},
        infer=_pool_type,
        evaluate=evaluate,
        loops=_pool_loops(combine),
        decompose=decompose,
        flops=lambda out, ins, attrs: out.numel * math.prod(attrs["kernel"]),
    )


register(_pool("max_pool", np.max, "max", "the largest element of each window"))
register(_pool("sum_pool", np.sum, "add", "the sum of each window"))
